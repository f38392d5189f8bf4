"""Shapley shares: do their intervals cover, are their ranks right, can two be told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.replicates import Config, Line
from experiments.simulation import Lines, Order, Plan, Simulation, run_simulation
from experiments.summary import Row

__all__ = ["plan", "run"]

TITLES = {
    "gaussian": "The paper's coverage world (three players)",
    "comparison_a": "Comparison world (a): a near tie of two players, covariate part",
    "comparison_b": "Comparison world (b): five players, outcome part",
}
FIRST_SEEDS = 20  # the order itself is counted in as many seeds as the paper draws


def plan(*, quick: bool) -> Plan:
    """Configurations and how many replicates each gets; the Gaussian ones are coverage's."""
    rows, count = (1000, 6) if quick else (4000, 200)
    settings = {"learner": "fast"} if quick else {}
    same: dict[str, Any] = {"rows": (rows, rows), "settings": settings}
    steps = [
        (Config(world="comparison_a", parts=("covariate",), **same), count),
        (Config(world="comparison_b", parts=("outcome",), **same), count),
    ]
    return steps if quick else [(Config(**same), count), *steps]


def run(order: Order) -> Path:
    """Run what is missing (coverage's replicates serve too), write tables and page."""
    study = Simulation("shares", plan(quick=order.quick), _view, borrowed=("coverage",))
    return run_simulation(study, order)


def _view(rows: list[Row], lines: Lines, folder: Path) -> dict[str, Any]:  # noqa: ARG001
    return {"worlds": [_world(world, rows, lines) for world in TITLES]}


def _world(world: str, rows: list[Row], lines: Lines) -> dict[str, Any]:
    here = [r for r in rows if r.world == world and _is_share(r.quantity)]
    if not here:
        return {"title": TITLES[world], "rows": []}
    label, size, count = here[0].config, here[0].rows_source, here[0].replicates
    parts = dict.fromkeys(r.quantity.split()[0] for r in here)
    return {
        "title": TITLES[world],
        "rows": here,
        "quantities": [r.quantity for r in here],
        "columns": [(f"n={size:,} (R={count})", label)],
        "parts": [_ranks(part, here, lines[label]) for part in parts],
    }


def _is_share(quantity: str) -> bool:
    return any(f" {kind} " in f"{quantity} " for kind in ("share", "difference", "value {}"))


def _ranks(part: str, rows: Sequence[Row], lines: Sequence[Line]) -> dict[str, Any]:
    """Where rank intervals hold all true ranks, and where the order itself is right."""
    shares = [r for r in rows if r.quantity.startswith(f"{part} share")]
    order = [r.quantity.split()[-1] for r in sorted(shares, key=lambda r: -r.truth)]
    best = order[: min(2, len(order) - 1)]
    shown = [line for line in lines if line["defined"][part] and part in line["ranks"]]
    first = [line for line in shown if line["seed"] < FIRST_SEEDS]
    return {
        "name": part,
        "held": [_ranks_hold(line["ranks"][part], order) for line in shown],
        "best": best,
        "first": [_estimated_order(line, part, order)[: len(best)] == best for line in first],
    }


def _ranks_hold(ranks: Mapping[str, Sequence[int]], order: Sequence[str]) -> bool:
    return all(ranks[name][0] <= k <= ranks[name][1] for k, name in enumerate(order, start=1))


def _estimated_order(line: Line, part: str, names: Sequence[str]) -> list[str]:
    value = {name: line["estimates"][f"{part} share {name}"][0] for name in names}
    return sorted(value, key=lambda name: -value[name])
