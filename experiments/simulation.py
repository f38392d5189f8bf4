"""An experiment made of replicates: run what is missing, then tables and page from what is there.

Its folder holds `replicates.jsonl` (growing) or `replicates.jsonl.gz` (packed), `truths.json`,
`summary.csv`, figures and the page. A plan is never needed in full: the page says how many
replicates each line rests on.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.pages import write_page
from experiments.record import engine_of, engines, newest, of_one_engine
from experiments.replicates import Config, Line, read_lines, replicate, run_missing
from experiments.summary import Row, summarise, to_csv
from experiments.worlds import VERSION
from experiments.worlds.by_name import make_world, truths
from whygap._version import ENGINE
from whygap.results.files import write_bytes, write_whole

__all__ = [
    "Lines",
    "Order",
    "Plan",
    "Simulation",
    "all_lines",
    "config_truths",
    "pack",
    "run_simulation",
]

Plan = list[tuple[Config, int]]
Lines = Mapping[str, list[Line]]


@dataclass(frozen=True)
class Order:
    """What the command line asked for.

    Attributes:
        output: folder of all results.
        data: folder of the tables that are not shipped.
        quick: a small size, for a first look.
        jobs: parallel workers; 0 runs nothing and writes pages from what is kept.
        anew: run again what only an older engine ran.
        report: told how far it is.
    """

    output: Path
    data: Path | None = None
    quick: bool = False
    jobs: int = 1
    anew: bool = False
    report: Callable[[str], None] = lambda _: None

    def folder(self, name: str) -> Path:
        """Quick sizes get a folder of their own, so that they never mix with kept results."""
        folder = self.output / (f"{name}-quick" if self.quick else name)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def command(self, name: str) -> str:
        """How to run it again."""
        return f"python -m experiments {name}" + (" --quick" if self.quick else "")


@dataclass(frozen=True)
class Simulation:
    """What makes one experiment of replicates differ from another.

    Attributes:
        name: of the experiment, its folder and its page.
        plan: configurations and their numbers of replicates.
        view: what the page's template shows, from the rows, the lines by configuration, and the
            folder, into which it may draw figures.
        borrowed: other experiments whose replicates serve too.
        job: what a replicate does.
        truths: what is true of a configuration; that of its world unless given.
    """

    name: str
    plan: Plan
    view: Callable[[list[Row], Lines, Path], dict[str, Any]]
    borrowed: tuple[str, ...] = ()
    job: Callable[[Config, int], Line] = replicate
    truths: Callable[[Config], dict[str, float]] | None = None


def run_simulation(study: Simulation, order: Order) -> Path:
    """Run missing replicates, summarise, write the page; returns its path."""
    folder = order.folder(study.name)
    known = _known_truths(folder)
    rows: list[Row] = []
    lines: dict[str, list[Line]] = {}
    for config, count in study.plan:
        folders = [folder, *map(order.folder, study.borrowed)]
        found = _lines(config, count, folders, order, study.job)
        if not found:
            continue
        if config.label not in known or _was_built_here(config):
            order.report(f"{config.label}: computing the truth")
            known[config.label] = (study.truths or config_truths)(config)
        lines[config.label] = found
        rows += summarise(config, found, known[config.label])
    _keep_truths(folder, known)
    write_whole(folder / "summary.csv", to_csv(rows))
    path = folder / f"{study.name}.md"
    view = study.view(rows, lines, folder)
    return write_page(path, order.command(study.name), _cost(lines), **view)


def _was_built_here(config: Config) -> bool:
    """Whether the world is a file, which may have changed since its truth was kept."""
    return Path(config.options.get("file", "")).is_file()


def config_truths(config: Config) -> dict[str, float]:
    """True values of a configuration's world."""
    world = make_world(config.world, config.metric, config.options)
    return truths(world, config.parts, config.subsets, config.cuts)


def _lines(
    config: Config,
    count: int,
    folders: list[Path],
    order: Order,
    job: Callable[[Config, int], Line],
) -> list[Line]:
    """Lines of the own (first) folder and of borrowed ones, after running what is missing."""
    kept = [ln for f in folders for ln in all_lines(f) if ln["config"] == config.label]
    done = {ln["seed"] for ln in kept if not order.anew or engine_of(ln) == ENGINE}
    missing = [seed for seed in range(count) if seed not in done] if order.jobs else []
    if missing:
        path = folders[0] / "replicates.jsonl"
        how: dict[str, Any] = {"jobs": order.jobs, "anew": order.anew, "report": order.report}
        kept += run_missing(config, missing, path, job=job, **how)
    pack(folders[0])
    return newest(of_one_engine(kept, count))


def all_lines(folder: Path) -> list[Line]:
    """Packed and loose ones, of every engine."""
    path = folder / "replicates.jsonl.gz"
    packed: list[Line] = []
    if path.exists():
        with gzip.open(path, "rt", encoding="utf-8") as file:
            packed = [json.loads(text) for text in file]
    return packed + read_lines(folder / "replicates.jsonl")


def pack(folder: Path) -> None:
    """All lines, of any configuration, in one small file: the same bytes for the same lines."""
    loose = folder / "replicates.jsonl"
    if not loose.exists():
        return
    found = {(ln["config"], ln["seed"], engine_of(ln)): ln for ln in all_lines(folder)}
    text = "".join(json.dumps(found[key], sort_keys=True) + "\n" for key in sorted(found))
    packed = gzip.compress(text.encode(), compresslevel=9, mtime=0)
    write_bytes(folder / "replicates.jsonl.gz", packed)
    loose.unlink()


def _known_truths(folder: Path) -> dict[str, dict[str, float]]:
    """Truths by configuration; none where the worlds have changed since."""
    path = folder / "truths.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return dict(kept["truths"]) if kept.get("worlds") == VERSION else {}


def _keep_truths(folder: Path, known: dict[str, dict[str, float]]) -> None:
    kept = {"worlds": VERSION, "truths": known}
    write_whole(folder / "truths.json", json.dumps(kept, indent=1, sort_keys=True) + "\n")


def _cost(lines: Lines) -> str:
    everything = [line for group in lines.values() for line in group]
    hours = sum(line["cpu_seconds"] for line in everything) / 3600
    return (
        f"The page rests on {len(everything)} replicates that took {hours:.2f} CPU hours in all. "
        f"{engines(everything)} Replicates are kept in `replicates.jsonl.gz`, the table behind the "
        "page in `summary.csv`; running the command again only adds what is missing."
    )
