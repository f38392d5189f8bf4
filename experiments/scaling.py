"""What an analysis costs: time, memory and interval width against rows, players and subsets."""

from __future__ import annotations

import csv
import io
import json
import math
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from experiments.analysis import analyse
from experiments.engine import code_digest
from experiments.figures import Curve, cost_figure
from experiments.markdown import number, table
from experiments.provenance import provenance
from experiments.simulation import study_folder
from whygap.domains import ByDomain
from whygap.render.plot import save_figure
from whygap.settings import Settings
from whygap.simulate.gaussian import GaussianWorld
from whygap.storage.files import write_whole

__all__ = ["Cost", "Size", "measure", "run"]


@dataclass(frozen=True, slots=True)
class Size:
    """One analysis of the outcome part: rows in each domain, players, subsets, learner."""

    rows: int
    players: int
    subsets: int
    learner: str = "fast"

    @property
    def words(self) -> str:
        """For the progress messages."""
        return (
            f"{self.rows:,} rows in each domain, {self.players} players, {self.subsets} subsets, "
            f"learner {self.learner}"
        )


@dataclass(frozen=True, slots=True)
class Cost:
    """What it took, and the width of the first share's 90% interval (NaN where undefined)."""

    rows: int
    players: int
    subsets: int
    learner: str
    cpu_seconds: float
    peak_megabytes: float
    width: float
    engine: str


GRIDS: dict[str, tuple[Size, ...]] = {
    "rows": tuple(Size(rows, 8, 64) for rows in (500, 1000, 2000, 4000, 8000, 16000)),
    "players": tuple(Size(2000, players, 4 * players) for players in (4, 8, 12, 16, 24)),
    "subsets": tuple(Size(2000, 12, subsets) for subsets in (24, 48, 96, 192)),
    "learner": tuple(Size(2000, 6, 64, learner) for learner in ("fast", "boosted", "auto")),
}
AXES = {"rows": "rows in each domain", "players": "players", "subsets": "subsets"}
QUICK = {"rows": (Size(400, 4, 16), Size(800, 4, 16))}


def measure(size: Size, seed: int = 0) -> Cost:
    """Run one analysis in this process; meant for a process of its own."""
    shift = np.linspace(0.8, 0.0, size.players)
    slopes = np.linspace(1.0, 0.2, size.players) / math.sqrt(size.players)
    world = GaussianWorld(
        means=ByDomain((0.0,) * (size.players + 1), (0.0, *shift.tolist())),
        logits=ByDomain((0.3, *slopes.tolist()), (0.3, *slopes[::-1].tolist())),
        sd=1.5,
    )
    design = world.draw(ByDomain(size.rows, size.rows), np.random.default_rng(seed))
    settings = Settings(learner=size.learner, subsets=size.subsets, seed=seed, progress=False)
    started = time.process_time()
    found = analyse(design, settings, ("outcome",), None, 0.9)
    seconds = time.process_time() - started
    share = found.estimates.get("outcome share Z1") if found.defined["outcome"] else None
    low, high = share.interval(0.9) if share else (math.nan, math.nan)
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    unit = 1024.0 if sys.platform != "darwin" else 1024.0**2
    return Cost(
        size.rows,
        size.players,
        size.subsets,
        size.learner,
        seconds,
        kilobytes / unit,
        high - low,
        code_digest(),
    )


def run(
    output: Path,
    data: Path | None = None,  # noqa: ARG001 - every study has the same signature
    quick: bool = False,
    jobs: int = 1,  # noqa: ARG001 - costs are measured one at a time
    report: Callable[[str], None] = lambda _: None,
) -> Path:
    """Measure what is missing, write the table and the page; returns its path."""
    folder = study_folder(output, "scaling", quick)
    kept = folder / "costs.jsonl"
    grids = QUICK if quick else GRIDS
    found: dict[str, list[Cost]] = {}
    for name, sizes in grids.items():
        found[name] = []
        for size in sizes:
            report(size.words)
            found[name].append(_once(size, kept))
    write_whole(folder / "costs.csv", _csv(found))
    lines = [_curve(name, costs) for name, costs in found.items() if name in AXES]
    save_figure(cost_figure(lines), folder / "scaling.svg")
    command = "whygap study scaling" + (" --quick" if quick else "")
    sections = [_section(name, costs) for name, costs in found.items()]
    page = "\n\n".join([_INTRODUCTION, *sections, provenance(command, _note(found))])
    return write_whole(folder / "scaling.md", page)


def _once(size: Size, kept: Path) -> Cost:
    """A cost that this engine was measured at before, or a new one from a process of its own."""
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    wanted = asdict(size) | {"engine": code_digest()}
    for cost in (Cost(**json.loads(line)) for line in lines):
        if asdict(cost).items() >= wanted.items():
            return cost
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
        cost = fresh.submit(measure, size).result()
    write_whole(kept, "\n".join([*lines, json.dumps(asdict(cost))]) + "\n")
    return cost


def _curve(name: str, costs: list[Cost]) -> Curve:
    return Curve(
        AXES[name],
        tuple(float(asdict(cost)[name]) for cost in costs),
        tuple(cost.cpu_seconds for cost in costs),
        tuple(cost.peak_megabytes for cost in costs),
        tuple(cost.width for cost in costs),
    )


def _note(found: dict[str, list[Cost]]) -> str:
    seconds = sum(cost.cpu_seconds for costs in found.values() for cost in costs)
    return (
        f"In all {seconds / 60:.1f} CPU minutes of analysis. State of the engine: {code_digest()}. "
        "Costs are kept in `costs.jsonl` and measured anew when the engine changes; the table "
        "behind the page is `costs.csv`."
    )


def _section(name: str, costs: list[Cost]) -> str:
    head = ["rows per domain", "players", "subsets", "learner", "CPU s", "peak MB", "width of Z1"]
    lines = [
        [
            f"{c.rows:,}",
            str(c.players),
            str(c.subsets),
            c.learner,
            f"{c.cpu_seconds:.1f}",
            f"{c.peak_megabytes:.0f}",
            number(c.width),
        ]
        for c in costs
    ]
    return f"## Against {name}\n\n{table(head, lines)}"


def _csv(found: dict[str, list[Cost]]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["grid", *(asdict(next(iter(found.values()))[0]))])
    for name, costs in found.items():
        for cost in costs:
            cells = asdict(cost).values()
            writer.writerow([name, *(f"{c:.4g}" if isinstance(c, float) else c for c in cells)])
    return buffer.getvalue()


_INTRODUCTION = """# What an analysis costs

Aggregate parts and the outcome shares of a Gaussian world, one process and one thread each; CPU
seconds of the analysis, peak memory of the whole process (Python and its packages included,
about 150 MB), and the width of the 90% interval of the first share (a dash where the shares were
undefined). Up to 6 players all subsets are valued. Where nothing else is said, the learner is
`fast`.

![CPU time, memory and interval width against rows, players and subsets](scaling.svg)"""
