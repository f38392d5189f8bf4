"""Tables that share only a region: do all parts cover, what is left behind and new ground too?

The region is drawn by the data, so there are two truths: that of the region found, which is what
the intervals are for, and that of the region as it would be drawn with infinitely many rows.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.analysis import draw, terms_of
from experiments.pages import coverage_cell, number, table
from experiments.record import made_by
from experiments.replicates import Config, Line, as_row
from experiments.simulation import Lines, Order, Plan, Simulation, config_truths, run_simulation
from experiments.summary import Row
from experiments.worlds.partly_shared import PartlySharedWorld
from whygap.domains import Array
from whygap.estimate import Estimate
from whygap.learning.primitives import Fits
from whygap.nuisances.support import Edges
from whygap.progress import Silent
from whygap.running.analysis import Analysis

__all__ = ["PARTS", "plan", "replicate", "run"]

PARTS = ("left_behind", "baseline", "covariate", "outcome", "new_ground")
METRICS = ("accuracy",)
REPLICATES = 200
FIRST = 1000  # seeds below were for choosing how the region is drawn
SIZES = ((1000, 800), (4000, 3200))  # small tables, and tables that show where the edge is


def plan(*, quick: bool) -> Plan:
    """`support="auto"` has to find out by itself that there is a region."""
    count, sizes = (8, SIZES[:1]) if quick else (REPLICATES, SIZES)
    settings = {"learner": "fast", "support": "auto"}
    return [
        (Config("partly_shared", rows, metric, settings, parts=()), count)
        for metric in METRICS
        for rows in sizes
    ]


def run(order: Order) -> Path:
    """Run what is missing, write the table and the page; returns its path."""
    steps = plan(quick=order.quick)
    view = partial(_view, steps)
    return run_simulation(Simulation("partial_overlap", steps, view, (), replicate, truths), order)


def truths(config: Config) -> dict[str, float]:
    """Of the true region; "found" ones are moved there, see `replicate`."""
    known = config_truths(config)
    return known | {f"found {name}": known[f"aggregate {name}"] for name in PARTS}


def replicate(config: Config, seed: int) -> Line:
    """Every part, as it is and against the truth of the region found.

    That truth differs from draw to draw. A "found" estimate is moved by the difference of the true
    region's part to the found one's, so that one truth serves all draws.
    """
    started = time.process_time()
    world = PartlySharedWorld(config.metric, **config.options)
    design = draw(world, config.rows, FIRST + seed)
    settings = config.settings_of(FIRST + seed)
    analysis = Analysis.begin(design, settings, Silent())
    found = terms_of(analysis.decomposition())
    estimates = {f"aggregate {name}": estimate for name, estimate in found.items()}
    if "left_behind" in found:
        estimates |= _against_the_found(analysis, world)
    return {
        "config": config.label,
        "seed": seed,
        **made_by(settings),
        "cpu_seconds": round(time.process_time() - started, 2),
        "defined": {},
        "estimates": {name: as_row(e, config.level) for name, e in estimates.items()},
    }


def _against_the_found(analysis: Analysis, world: PartlySharedWorld) -> dict[str, Estimate]:
    assert analysis.region is not None
    holds = partial(_holds, analysis.region.edges, analysis.whole[0].ratio_wz)
    there, here = world.corners_within(holds), world.corners()
    parts = terms_of(analysis.decomposition())
    return {
        f"found {name}": parts[name] + (getattr(here, name) - getattr(there, name))
        for name in PARTS
    }


def _holds(edges: Edges, ratio: Fits, rows: Array) -> NDArray[np.bool_]:
    """Whether fresh rows lie in the region, dealt to the folds' models in turn."""
    inputs = ratio.features.dictionary.inputs(rows)
    sets = ratio.features.blocks.complements()
    inside = np.zeros(len(rows), dtype=bool)
    for k, blocks in enumerate(sets):
        mine = np.arange(k, len(rows), len(sets))
        inside[mine] = edges.hold(ratio.models[blocks].predict(inputs.rows(mine)))
    return inside


def _view(steps: Plan, rows: list[Row], lines: Lines, folder: Path) -> dict[str, Any]:  # noqa: ARG001
    grids = []
    for config, _ in steps:
        by_name = {row.quantity: row for row in rows if row.config == config.label}
        found = lines.get(config.label, [])
        grids.append(
            {
                "title": "{}, {:,} + {:,} rows".format(config.metric.capitalize(), *config.rows),
                "table": _table(by_name),
                "region": sum("aggregate new_ground" in line["estimates"] for line in found),
                "count": len(found),
                "off": max(map(_off, found), default=0.0),
            }
        )
    return {"grids": grids}


def _table(rows: dict[str, Row]) -> str:
    """Each part against both truths; the gap needs no region."""

    def cell(name: str) -> str:
        return coverage_cell(rows[name]) if name in rows else "–"

    lines = [
        (name, number(rows[f"aggregate {name}"].truth, 4), cell(found), cell(f"aggregate {name}"))
        for name in ("gap", *PARTS)
        if f"aggregate {name}" in rows
        for found in ["aggregate gap" if name == "gap" else f"found {name}"]
    ]
    return table(["quantity", "truth (true region)", "region found", "true region"], lines)


def _off(line: dict[str, Any]) -> float:
    """How far the parts' sum is from the gap; kept numbers have seven digits."""
    found = line["estimates"]
    total = sum(found[f"aggregate {name}"][0] for name in PARTS if f"aggregate {name}" in found)
    return abs(float(total - found["aggregate gap"][0]))
