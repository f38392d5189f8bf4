"""Are the numerators unbiased when the source risk is known? The Gaussian world at n = 8,000.

The true p_0(Y=1 | W, Z) is given as the known source risk, so what is left is the error of the fits
of m(G), h(G) and p_1.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments.replicates import Config
from experiments.simulation import Lines, Order, Plan, Simulation, run_simulation
from experiments.summary import Row

__all__ = ["plan", "run"]

METRICS = ("accuracy", "brier")
SUBSETS = ((), (0,), (1,), (2,))
LARGEST_ERROR = 1 / 3  # of a standard deviation: coverage of a 90% interval then drops to .88


def plan(*, quick: bool) -> Plan:
    """Configurations and how many replicates each gets."""
    size, count = (1000, 4) if quick else (8000, 200)
    settings = {"learner": "fast"} if quick else {}
    same: dict[str, Any] = {"world": "known_risk", "rows": (size, size), "settings": settings}
    same |= {"parts": ("outcome",), "subsets": SUBSETS}
    return [(Config(metric=metric, **same), count) for metric in METRICS]


def run(order: Order) -> Path:
    """Run what is missing, write the table and the page; returns the page's path."""
    return run_simulation(Simulation("true_risk", plan(quick=order.quick), _view), order)


def _view(rows: list[Row], lines: Lines, folder: Path) -> dict[str, Any]:  # noqa: ARG001
    shown = [r for r in rows if r.quantity.split()[1] in ("denominator", "numerator")]
    metrics = {metric: [r for r in shown if r.metric == metric] for metric in METRICS}
    return {
        "size": shown[0].rows_source,
        "replicates": min(r.replicates for r in shown),
        "metrics": metrics,
        "largest": LARGEST_ERROR,
    }
