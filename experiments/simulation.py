"""A study made of replicates: run what is missing, then tables, figure and page from what is there.

A study's folder holds `replicates.jsonl` (growing) or `replicates.jsonl.gz` (packed when all
planned replicates are there), `truths.json`, `summary.csv`, figures and the page. A plan is never
needed in full: the page says how many replicates each line rests on.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.engine import REPLICATE, WORLDS, code_digest
from experiments.provenance import provenance
from experiments.replicates import Config, Line, read_lines, run_missing
from experiments.summary import Row, summarise, to_csv
from experiments.worlds.by_name import make_world, truths
from whygap.storage.files import write_bytes, write_whole

__all__ = ["Plan", "Simulation", "engines", "kept_lines", "run_simulation", "study_folder"]

Plan = list[tuple[Config, int]]
Report = Callable[[str], None]


@dataclass(frozen=True)
class Simulation:
    """What makes one study of replicates differ from another.

    Attributes:
        name: of the study, its folder and its page.
        plan: configurations and their numbers of replicates.
        words: the page's text, from the rows, the lines by configuration, and the folder, into
            which it may draw figures.
        command: how to run it again.
        borrowed: folders of other studies whose replicates serve too.
    """

    name: str
    plan: Plan
    words: Callable[[list[Row], dict[str, list[Line]], Path], str]
    command: str
    borrowed: tuple[Path, ...] = ()


def study_folder(output: Path, name: str, quick: bool) -> Path:
    """Quick sizes get a folder of their own, so that they never mix with kept results."""
    folder = output / (f"{name}-quick" if quick else name)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def run_simulation(study: Simulation, folder: Path, jobs: int, report: Report) -> Path:
    """Run missing replicates (none with jobs=0), summarise, write the page; returns its path."""
    known = _known_truths(folder)
    _pack(folder)
    rows: list[Row] = []
    lines_by_config: dict[str, list[Line]] = {}
    for config, count in study.plan:
        lines = _lines(config, count, (folder, *study.borrowed), jobs, report)
        if not lines:
            continue
        if config.label not in known or _is_from_file(config):
            report(f"{config.label}: computing the truth")
            known[config.label] = config_truths(config)
        _warn_of_other_engines(config, lines, folder, report)
        lines_by_config[config.label] = lines
        rows += summarise(config, lines, known[config.label])
    _keep_truths(folder, known)
    write_whole(folder / "summary.csv", to_csv(rows))
    text = study.words(rows, lines_by_config, folder)
    page = text.rstrip() + "\n\n" + provenance(study.command, _cost(lines_by_config.values()))
    return write_whole(folder / f"{study.name}.md", page)


def _is_from_file(config: Config) -> bool:
    """Whether the world may have changed without a change of code."""
    return "file" in config.options


def config_truths(config: Config) -> dict[str, float]:
    """True values of a configuration's world."""
    world = make_world(config.world, config.metric, config.options)
    return truths(world, config.parts, config.subsets)


def _lines(
    config: Config, count: int, folders: tuple[Path, ...], jobs: int, report: Report
) -> list[Line]:
    """The lines of the study's own (first) folder and of the borrowed ones; new ones are packed."""
    kept = [line for folder in folders for line in _packed(folder)]
    packed = {line["seed"]: line for line in kept if line["config"] == config.label}
    missing = [seed for seed in range(count) if seed not in packed] if jobs else []
    loose = folders[0] / "replicates.jsonl"
    fresh = run_missing(config, missing, loose, jobs=max(jobs, 1), report=report)
    _pack(folders[0])
    both = packed | {line["seed"]: line for line in fresh}
    return [both[seed] for seed in sorted(both)]


def kept_lines(folder: Path) -> dict[str, list[Line]]:
    """Every packed replicate of a study, by configuration."""
    found: dict[str, list[Line]] = {}
    for line in _packed(folder):
        found.setdefault(line["config"], []).append(line)
    return found


def _packed(folder: Path) -> list[Line]:
    path = folder / "replicates.jsonl.gz"
    if not path.exists():
        return []
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(text) for text in file]


def _pack(folder: Path) -> None:
    """All lines, of any configuration, in one small file: the same bytes for the same lines."""
    loose = folder / "replicates.jsonl"
    found = {(line["config"], line["seed"]): line for line in _packed(folder)}
    if not loose.exists():
        return
    found |= {(line["config"], line["seed"]): line for line in read_lines(loose)}
    text = "".join(json.dumps(found[key], sort_keys=True) + "\n" for key in sorted(found))
    packed = gzip.compress(text.encode(), compresslevel=9, mtime=0)
    write_bytes(folder / "replicates.jsonl.gz", packed)
    loose.unlink()


def _known_truths(folder: Path) -> dict[str, dict[str, float]]:
    """Truths by configuration; none where the worlds' code has changed since."""
    path = folder / "truths.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return dict(kept["truths"]) if kept.get("worlds") == code_digest(WORLDS) else {}


def _keep_truths(folder: Path, known: dict[str, dict[str, float]]) -> None:
    kept = {"worlds": code_digest(WORLDS), "truths": known}
    write_whole(folder / "truths.json", json.dumps(kept, indent=1, sort_keys=True) + "\n")


def _cost(groups: Iterable[list[Line]]) -> str:
    lines = [line for group in groups for line in group]
    hours = sum(line["cpu_seconds"] for line in lines) / 3600
    return (
        f"The page rests on {len(lines)} replicates that took {hours:.2f} CPU hours in all. "
        f"{engines(lines)} Replicates are kept in `replicates.jsonl.gz`, the table behind the "
        "page in `summary.csv`; running the command again only adds what is missing."
    )


def _warn_of_other_engines(config: Config, lines: list[Line], folder: Path, report: Report) -> None:
    others = sum(line.get("engine") != code_digest(REPLICATE) for line in lines)
    if others:
        report(
            f"{config.label}: {others} of {len(lines)} kept replicates were made by another state "
            f"of the engine; delete '{folder / 'replicates.jsonl.gz'}' to run them anew"
        )


def engines(lines: Sequence[Mapping[str, Any]]) -> str:
    """Which state of the code made which replicates."""
    states: dict[str, Counter[str]] = {}
    for line in lines:
        states.setdefault(line.get("engine", "not recorded"), Counter())[line["config"]] += 1
    if len(states) == 1:
        return f"State of the engine: {next(iter(states))}."
    told = "; ".join(
        f"{state}{' (the present one)' if state == code_digest(REPLICATE) else ''}: "
        + ", ".join(f"{config} ({count})" for config, count in sorted(counts.items()))
        for state, counts in states.items()
    )
    return f"**Several states of the engine made them.** {told}."
