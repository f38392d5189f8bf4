"""Tables that share only a region: do all parts cover, what is left behind and new ground too?"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from experiments.pages import planned_columns
from experiments.replicates import Config
from experiments.simulation import Lines, Order, Plan, Simulation, run_simulation
from experiments.summary import Row

__all__ = ["PARTS", "plan", "run"]

PARTS = ("left_behind", "baseline", "covariate", "outcome", "new_ground")
METRICS = ("accuracy",)
REPLICATES = 200
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
    return run_simulation(Simulation("partial_overlap", steps, partial(_view, steps)), order)


def _view(steps: Plan, rows: list[Row], lines: Lines, folder: Path) -> dict[str, Any]:  # noqa: ARG001
    grids = []
    for step in steps:
        here = [row for row in rows if row.config == step[0].label]
        columns = planned_columns([step], here, lambda c: f"n={c.rows[0]:,}+{c.rows[1]:,}")
        found = lines.get(step[0].label, [])
        region = sum("aggregate new_ground" in line["estimates"] for line in found)
        names = [f"aggregate {name}" for name in ("gap", *PARTS)]
        title = f"{step[0].metric.capitalize()}, {step[0].rows[0]:,} + {step[0].rows[1]:,} rows"
        grids.append({"title": title, "rows": here, "columns": columns,
                      "names": names, "region": region, "count": len(found),
                      "off": max(map(_off, found), default=0.0)})  # fmt: skip
    return {"grids": grids}


def _off(line: dict[str, Any]) -> float:
    """How far the parts' sum is from the gap; kept numbers have seven digits."""
    found = line["estimates"]
    total = sum(found[f"aggregate {name}"][0] for name in PARTS if f"aggregate {name}" in found)
    return abs(float(total - found["aggregate gap"][0]))
