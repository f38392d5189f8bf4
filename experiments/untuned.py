"""A world nobody tuned to, and three worlds with nothing to find."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from experiments.pages import planned_columns, table
from experiments.replicates import Config, Line
from experiments.simulation import Lines, Order, Plan, Simulation, run_simulation
from experiments.summary import Row

__all__ = ["null_table", "plan", "run"]

NULLS = ("identical", "baseline_only", "recalibrated")
NEAR = 0.1  # a recalibration that explains this much less or more than everything is near it


def plan(*, quick: bool) -> Plan:
    """Configurations and how many replicates each gets."""
    if quick:
        nulls = [(_null(kind, 800, learner="fast"), 6) for kind in NULLS]
        return [(_untuned(1000, learner="fast"), 6), *nulls]
    return [(_untuned(2000), 200), *((_null(kind, 2000), 200) for kind in NULLS)]


def _untuned(rows: int, **settings: Any) -> Config:
    return Config(world="untuned", rows=(rows, rows * 3 // 5), settings=settings)


def _null(kind: str, rows: int, **settings: Any) -> Config:
    sizes, options = (rows, rows * 3 // 5), {"kind": kind}
    return Config(world="null", rows=sizes, settings=settings, subsets=((),), options=options)


def run(order: Order) -> Path:
    """Run what is missing, write tables and the page; returns the page's path."""
    steps = plan(quick=order.quick)
    return run_simulation(Simulation("untuned", steps, partial(_view, steps)), order)


def _view(steps: Plan, rows: list[Row], lines: Lines, folder: Path) -> dict[str, Any]:  # noqa: ARG001
    here = [r for r in rows if r.world == "untuned"]
    return {
        "rows": here,
        "quantities": [r.quantity for r in here if "," not in r.quantity],
        "columns": planned_columns(steps[:1], here, lambda c: f"n={c.rows[0]:,}+{c.rows[1]:,}"),
        "nulls": null_table(lines, steps),
    }


def null_table(lines: Lines, steps: Plan | None = None) -> str:
    """How often the null worlds were seen to be null."""
    body = []
    for config, _ in steps or plan(quick=False):
        if config.world != "null":
            continue
        kind, found = config.options["kind"], lines.get(config.label, [])
        cells = [
            _share([not line["defined"][part] for line in found])
            for part in ("covariate", "outcome")
        ]
        near = _share(_recalibration(found)) if kind == "recalibrated" else "–"
        sizes = f"{config.rows[0]:,}+{config.rows[1]:,}"
        body.append([kind.replace("_", " "), sizes, *cells, near, len(found)])
    head = ["world", "rows", "covariate undefined", "outcome undefined", "v_Y(empty) near 1", "R"]
    return table(head, body)


def _recalibration(lines: Sequence[Line]) -> list[bool]:
    """Shown, and within 0.1 of 1 or with 1 inside the interval."""
    found = []
    for line in lines:
        value, _, low, high, _ = line["estimates"].get("outcome value {}", [0, 0, 0, 0, 0])
        shown = line["defined"]["outcome"]
        found.append(shown and (abs(value - 1) < NEAR or low <= 1 <= high))
    return found


def _share(flags: list[bool]) -> str:
    if not flags:
        return "not run"
    return f"{sum(flags)} of {len(flags)} ({sum(flags) / len(flags):.0%})"
