"""Coverage, bias and width of 90% intervals in the paper's own world (Fig. 3 and its appendix)."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from experiments.pages import planned_columns
from experiments.replicates import Config
from experiments.simulation import Lines, Order, Plan, Simulation, run_simulation
from experiments.summary import Row

__all__ = ["plan", "run"]

METRICS = ("accuracy", "brier")
SIZES = (500, 1000, 2000, 4000, 8000, 16000)
REPLICATES = 200  # a binomial 95% band of .86 to .94 around .90
VARIANT_SIZE = 2000
LEARNERS = ("fast", "boosted")
AS_PUBLISHED = {"published": "fast"}  # the paper's own learners would take days
VARIANTS: dict[str, dict[str, str]] = {
    "as published": AS_PUBLISHED,
    **{f"learner {name}": {"learner": name} for name in LEARNERS},
}
# Kept replicates of engine 9, whose settings are gone; they are shown, and not run again
KEPT: dict[str, dict[str, Any]] = {
    "no source-risk term": {"risk_uncertainty": False},
    "no twins": {"twins": False},
    "neither (as in the paper)": {"risk_uncertainty": False, "twins": False},
}
KEPT_AS_PUBLISHED = KEPT["neither (as in the paper)"]
PUBLISHED_SIZES = (500, 1000, 4000)  # beside VARIANT_SIZE, for the figure of both
PARTS = ("covariate", "outcome")
SINGLES = ("{Z1}", "{Z2}", "{Z3}")
PANELS = {
    "Aggregate": [f"aggregate {name}" for name in ("gap", "baseline", "covariate", "outcome")],
    "Covariate values": [f"covariate value {s}" for s in SINGLES],
    "Outcome values": [f"outcome value {s}" for s in SINGLES],
    "Outcome shares": [f"outcome share Z{k}" for k in (1, 2, 3)],
}
EXPLAINED = [f"{part} value {s}" for part in PARTS for s in SINGLES]
IN_THE_VARIANTS = [f"{p} {k} {s}" for p in PARTS for k in ("numerator", "value") for s in SINGLES]
IN_THE_VARIANTS += [f"{part} share Z{k}" for part in PARTS for k in (1, 2, 3)]


def plan(*, quick: bool) -> Plan:
    """Configurations and how many replicates each gets."""
    if quick:
        return [(_config(rows, "accuracy", learner="fast"), 12) for rows in (500, 2000)]
    default = [_config(rows, metric) for metric in METRICS for rows in SIZES]
    others = [_config(VARIANT_SIZE, "accuracy", **settings) for settings in VARIANTS.values()]
    others += [_config(rows, "accuracy", **AS_PUBLISHED) for rows in PUBLISHED_SIZES]
    kept = [_config(VARIANT_SIZE, "accuracy", **settings) for settings in KEPT.values()]
    kept += [_config(rows, "accuracy", **KEPT_AS_PUBLISHED) for rows in PUBLISHED_SIZES]
    return [(c, REPLICATES) for c in default + others] + [(c, 0) for c in kept]


def _config(rows: int, metric: str, published: str = "", **settings: Any) -> Config:
    return Config(rows=(rows, rows), metric=metric, settings=settings, published=published)


def run(order: Order) -> Path:
    """Run what is missing, write tables, figures and the page; returns the page's path."""
    steps = plan(quick=order.quick)
    return run_simulation(Simulation("coverage", steps, partial(_view, steps)), order)


def _view(steps: Plan, rows: list[Row], lines: Lines, folder: Path) -> dict[str, Any]:  # noqa: ARG001
    main = steps[0][0].choices
    metrics = []
    for name in dict.fromkeys(config.metric for config, _ in steps):
        planned = [s for s in steps if s[0].metric == name and s[0].choices == main]
        metrics.append(_metric(name, planned, rows, folder))
    undefined = dict.fromkeys(
        (f"{r.metric}, n = {r.rows_source:,}, {r.settings}", r.quantity.split()[0], r.undefined,
         r.replicates)
        for r in rows
        if " value {Z1}" in r.quantity
    )  # fmt: skip
    variants = None
    if any(s[0].choices != main for s in steps):
        drawn = _beside_published(steps, rows, folder)
        variants = _variants(steps, rows) | {"drawn": drawn}
    return {"metrics": metrics, "variants": variants, "undefined": list(undefined)}


def _metric(name: str, planned: Plan, rows: list[Row], folder: Path) -> dict[str, Any]:
    """One metric's tables; draws its figure."""
    here = _rows_of(planned, rows)
    if here:
        from experiments.figures import coverage_figure, save_figure

        save_figure(coverage_figure(here, PANELS), folder / f"coverage_{name}.svg")
    kinds = (" denominator", " numerator {Z", " value {Z", " share")
    shown = [
        r.quantity
        for r in here
        if r.quantity.startswith("aggregate")
        or (any(kind in r.quantity for kind in kinds) and "," not in r.quantity)
    ]
    columns = planned_columns(planned, here, lambda config: f"n={config.rows[0]:,}")
    return {"name": name, "rows": here, "quantities": shown, "columns": columns}


def _variants(steps: Plan, rows: list[Row]) -> dict[str, Any]:
    """The method as published, and other learners."""
    chosen = VARIANTS | KEPT
    names = {_config(VARIANT_SIZE, "accuracy", **s).label: name for name, s in chosen.items()}
    same = [s for s in steps if s[0].metric == "accuracy" and s[0].rows[0] == VARIANT_SIZE]
    here = _rows_of(same, rows)
    columns = planned_columns(same, here, lambda config: names.get(config.label, "as above"))
    return {
        "size": VARIANT_SIZE, "rows": here, "quantities": IN_THE_VARIANTS, "columns": columns
    }  # fmt: skip


def _beside_published(steps: Plan, rows: list[Row], folder: Path) -> bool:
    """Draw coverage of single variables' values against rows, ours and published, if there."""
    from experiments.figures import beside_figure, save_figure

    ours, theirs, kept = (
        [row for row in _rows_of([s for s in steps if s[0].choices == chosen], rows)
         if row.metric == "accuracy" and row.quantity in EXPLAINED]
        for chosen in ({}, AS_PUBLISHED, KEPT_AS_PUBLISHED)
    )  # fmt: skip
    theirs = theirs or kept
    if ours and theirs:
        curves = {"whygap": ours, "intervals as published": theirs}
        save_figure(beside_figure(curves), folder / "coverage_published.svg")
    return bool(ours and theirs)


def _rows_of(planned: Plan, rows: list[Row]) -> list[Row]:
    labels = {config.label for config, _ in planned}
    return [row for row in rows if row.config in labels]
