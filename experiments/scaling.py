"""What an analysis costs: time, memory and interval width against rows, players and subsets."""

from __future__ import annotations

import json
import math
import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, astuple, dataclass, fields
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from experiments.analysis import analyse
from experiments.pages import write_page
from experiments.record import engine_of, made_by
from experiments.simulation import Order
from experiments.summary import comma_separated
from experiments.worlds.gaussian import GaussianWorld
from whygap._version import ENGINE
from whygap.domains import ByDomain
from whygap.results.files import write_whole
from whygap.settings import Settings

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
class Cost(Size):
    """What it took, and the width of the first share's 90% interval (NaN where undefined)."""

    cpu_seconds: float = math.nan
    peak_megabytes: float = math.nan
    width: float = math.nan
    engine: int = ENGINE


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
    started = time.process_time()
    found = analyse(design, _settings(size, seed), ("outcome",), None, 0.9)
    seconds = time.process_time() - started
    share = found.estimates.get("outcome share Z1") if found.defined["outcome"] else None
    low, high = share.interval(0.9) if share else (math.nan, math.nan)
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    unit = 1024.0 if sys.platform != "darwin" else 1024.0**2
    return Cost(**asdict(size), cpu_seconds=seconds, peak_megabytes=kilobytes / unit,
                width=high - low)  # fmt: skip


def _settings(size: Size, seed: int = 0) -> Settings:
    return Settings(learner=size.learner, subsets=size.subsets, seed=seed, progress=False)


def run(order: Order) -> Path:
    """Measure what is missing, one at a time, write the table and the page; returns its path."""
    folder = order.folder("scaling")
    found = {
        name: [cost for size in sizes if (cost := _once(size, folder / "costs.jsonl", order))]
        for name, sizes in (QUICK if order.quick else GRIDS).items()
    }
    head = ["grid", *(field.name for field in fields(Cost))]
    lines = [[name, *astuple(cost)] for name, costs in found.items() for cost in costs]
    write_whole(folder / "costs.csv", comma_separated(head, lines, digits=4))
    _draw(found, folder)
    seconds = sum(cost.cpu_seconds for costs in found.values() for cost in costs)
    made = sorted({cost.engine for costs in found.values() for cost in costs})
    note = (
        f"In all {seconds / 60:.1f} CPU minutes of analysis. Made by engine "
        f"{', '.join(map(str, made))}. Costs are kept in `costs.jsonl`; the table behind the page "
        "is `costs.csv`."
    )
    return write_page(folder / "scaling.md", order.command("scaling"), note, grids=found)


def _once(size: Size, kept: Path, order: Order) -> Cost | None:
    """The cost that the newest engine was measured at, or a new one from a process of its own."""
    lines = [json.loads(text) for text in kept.read_text().splitlines()] if kept.exists() else []
    same = [line for line in lines if line.items() >= asdict(size).items()]
    last = max(reversed(same), key=engine_of, default=None)  # of equals, the last one measured
    if order.jobs and (last is None or (order.anew and engine_of(last) < ENGINE)):
        order.report(size.words)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
            last = asdict(fresh.submit(measure, size).result()) | made_by(_settings(size))
        write_whole(kept, "".join(json.dumps(line) + "\n" for line in [*lines, last]))
    if last is None:
        return None
    known = {f.name: last[f.name] for f in fields(Cost)}
    return Cost(**known | {"engine": engine_of(last)})


def _draw(found: dict[str, list[Cost]], folder: Path) -> None:
    from experiments.figures import Curve, cost_figure, save_figure

    curves = [
        Curve(AXES[name], tuple(float(getattr(cost, name)) for cost in costs), tuple(costs))
        for name, costs in found.items()
        if name in AXES
    ]
    save_figure(cost_figure(curves), folder / "scaling.svg")
