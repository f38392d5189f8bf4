"""Coverage for every kind of metric: 90% intervals of parts, points and groups in one world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from scipy import stats

from experiments.pages import number, signed, table
from experiments.quantities import SCORE
from experiments.record import engine_of
from experiments.replicates import Config
from experiments.simulation import Lines, Order, Plan, Simulation, run_simulation
from experiments.summary import Row

__all__ = ["METRICS", "by_chance", "outside", "plan", "run", "verdict"]

METRICS = {
    "binary": ("auc", "f1", "recall", "precision", "brier"),
    "regression": ("mse", "mae", "r2"),
    "multiclass": ("accuracy", "log_loss"),
}
KINDS = {"aggregate": "Parts", "points": "Points", "where": "Who is hit"}
BARRED = ("aggregate ", "points ")  # what the bar is set for
SIZES = {2000: 375, 8000: 50}  # rows by replicates; the bar is set at the first, with 200 or more
LEARNERS: tuple[dict[str, str], ...] = ({}, {"learner": "fast"})
BAR = (0.86, 0.94)  # what 90% intervals are asked to cover
COLUMNS = (("W1", 0.0), ("Z1", 0.5), ("Z2", 0.0), ("Z3", 0.0))
SCORES = {"binary": ((SCORE, 0.5),), "regression": ((SCORE, 0.0),)}


def plan(*, quick: bool) -> Plan:
    """Configurations and how many replicates each gets."""
    if quick:
        fast = LEARNERS[1]
        return [(_config(task, names[0], 500, fast), 3) for task, names in METRICS.items()]
    asked = [(task, metric) for task, names in METRICS.items() for metric in names]
    steps = [
        (_config(*pair, rows, learner), count)
        for rows, count in SIZES.items()
        for learner in LEARNERS
        for pair in asked
    ]
    rows, count = next(iter(SIZES.items()))
    turned = [(_reversed(*pair, rows, how), count) for how in LEARNERS for pair in asked]
    first = len(asked)  # what the bar is set for comes first, in either order
    return steps[:first] + turned[:first] + steps[first:] + turned[first:]


def _config(task: str, metric: str, rows: int, learner: dict[str, str]) -> Config:
    return Config(
        world="latent",
        rows=(rows, rows),
        metric=metric,
        settings=dict(learner),
        parts=("points",),
        options={"task": task},
        cuts=dict(COLUMNS + SCORES.get(task, ())),
    )


def _reversed(task: str, metric: str, rows: int, learner: dict[str, str]) -> Config:
    """The outcome first: nobody in particular is hit then."""
    options = {"task": task, "order": "outcome first"}
    return replace(_config(task, metric, rows, learner), options=options, cuts={})


def run(order: Order) -> Path:
    """Run what is missing, write tables and the page; returns the page's path."""
    steps = plan(quick=order.quick)
    study = Simulation("metrics", steps, partial(_view, steps))
    return run_simulation(study, order)


def _view(steps: Plan, rows: list[Row], lines: Lines, folder: Path) -> dict[str, Any]:  # noqa: ARG001
    made = {label: engine_of(of[0]) for label, of in lines.items()}
    barred = [row for row in rows if row.quantity.startswith(BARRED)]
    return {
        "bar": BAR,
        "verdict": verdict(steps, rows, made),
        "outside": outside(steps, barred),
        "missing": sum(map(_misses, barred)),
        "cells": len(barred),
        "by_chance": number(sum(map(by_chance, barred)), 0),
    }


def verdict(steps: Plan, rows: Sequence[Row], made: Mapping[str, int]) -> str:
    """Per configuration and question: the range of coverage and the largest bias.

    `made` says by configuration which engine made its replicates.
    """
    body = []
    for config, _ in steps:
        here = [row for row in rows if row.config == config.label]
        if here:
            cells = [_cell([r for r in here if r.quantity.startswith(f"{k} ")]) for k in KINDS]
            learner = config.settings.get("learner", "defaults")
            count = max(row.replicates for row in here)
            first = config.options.get("order", "covariates first").removesuffix(" first")
            named = [config.metric, config.options["task"], first, learner, f"{config.rows[0]:,}"]
            body.append([*named, made[config.label], count, *cells])
    head = ["metric", "outcome", "first", "learner", "rows each", "engine", "R"]
    return table([*head, *(title.lower() for title in KINDS.values())], body, text=5)


def outside(steps: Plan, rows: Sequence[Row]) -> str:
    """Every cell that misses the bar, the worst first."""
    configs = {config.label: config for config, _ in steps}
    body = []
    for row in sorted(filter(_misses, rows), key=lambda r: -abs(r.coverage - sum(BAR) / 2)):
        config = configs[row.config]
        learner = config.settings.get("learner", "defaults")
        told = [row.metric, config.options.get("order", "covariates first"), learner, row.quantity]
        figures = [row.replicates, number(row.coverage, 3), signed(_off(row))]
        ratio = number(row.standard_error / row.sd, 2)
        body.append([*told, *figures, ratio])
    head = ["metric", "order", "learner", "quantity", "R", "covers", "bias", "error / sd"]
    return table(head, body, text=4)


def by_chance(row: Row) -> float:
    """How likely a right interval's coverage misses the bar with so many draws."""
    count = row.replicates
    law = stats.binom(count, sum(BAR) / 2)
    inside = [k for k in range(count + 1) if BAR[0] <= k / count <= BAR[1]]
    return 1.0 - float(law.pmf(inside).sum())


def _off(row: Row) -> float:
    """The median's distance from the truth in standard errors: one far draw hides no bias."""
    return (row.median - row.truth) / row.standard_error


def _misses(row: Row) -> bool:
    return not BAR[0] <= row.coverage <= BAR[1]


def _cell(rows: Sequence[Row]) -> str:
    """`.87 to .93; bias -0.21`; then how many miss the bar."""
    if not rows:
        return "–"
    lowest, highest = (pick(r.coverage for r in rows) for pick in (min, max))
    bias = max(map(_off, rows), key=abs)
    missed = sum(map(_misses, rows))
    text = f"{number(lowest, 2)} to {number(highest, 2)}; bias {signed(bias)}"
    return f"{text}; **{missed} of {len(rows)} miss**" if missed else text
