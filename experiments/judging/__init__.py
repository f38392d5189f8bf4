"""Three worlds of real rows that judge, and nothing else.

Nothing is tuned here: no rule, constant or default of the package was or may be chosen by looking
at these worlds. A change is tried in the development worlds (coverage, untuned, semisynthetic,
culprits) until it is settled; then this experiment is run, once per engine, and what it shows is
what is published. If a world here ever serves to choose something, say so, and make a new one.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from experiments.pages import planned_columns
from experiments.replicates import Config
from experiments.semisynthetic import POOLS, Pool, build_pools, section, step
from experiments.simulation import Lines, Order, Plan, Simulation, run_simulation
from experiments.summary import Row

__all__ = ["KNOWN", "plan", "run"]

LARGE = (3000, 6000)  # as in the insurance world
SMALL = ((500, 500), (1000, 1000))  # the aggregate parts alone
KNOWN = (
    Pool(
        "louisiana",
        "accuracy",
        LARGE,
        ("DIS", "never", "ESR_employed", "race_black", "DREM"),
        "KS and LA rows of the 2024 public-coverage table, W = sex and race_white",
    ),
    Pool(
        "admission",
        "accuracy",
        LARGE,
        ("number_inpatient", "number_emergency", "dx_ckd", "insulin", "disch_home"),
        "hospital encounters that were no emergency, and those that were; outcome any readmission, "
        "W = sex and race_black",
    ),
    Pool(
        "workers",
        "accuracy",
        LARGE,
        ("marital", "class_of_worker", "industry", "hispanic", "disability"),
        "OH and NY workers, wage above 60,000, categories of up to 20 levels and minutes of "
        "commuting missing for those who work at home; W = sex and English (five levels)",
    ),
)


def plan(*, quick: bool, folder: Path = POOLS) -> Plan:
    """Values of single variables at the insurance world's sizes; aggregate parts at small ones."""
    if quick:
        return [step(KNOWN[0], folder, 3, (1000, 1000), learner="fast")]
    large = [step(pool, folder, 200, pool.rows) for pool in KNOWN]
    small = [step(pool, folder, 200, rows, parts=()) for pool in KNOWN for rows in SMALL]
    return large + small


def run(order: Order) -> Path:
    """Build missing pools, run what is missing, write tables and the page."""
    from experiments.judging.tables import world

    pools = order.output / "artefacts" / "pools"
    for path in build_pools(pools, KNOWN, partial(world, order.data)) if order.jobs else ():
        order.report(f"built {path}")
    steps = plan(quick=order.quick, folder=pools)
    return run_simulation(Simulation("judging", steps, partial(_view, steps)), order)


def _view(steps: Plan, rows: list[Row], lines: Lines, folder: Path) -> dict[str, Any]:  # noqa: ARG001
    there = {row.config for row in rows}
    ran = [s for s in steps if not s[0].parts and s[0].label in there]
    return {
        "worlds": [section(pool, [r for r in rows if r.rows_source == LARGE[0]]) for pool in KNOWN],
        "aggregate": [r for r in rows if r.quantity.startswith("aggregate ")],
        "parts": list(dict.fromkeys(r.quantity for r in rows if "aggregate " in r.quantity)),
        "columns": planned_columns(ran, rows, _title),
    }


def _title(config: Config) -> str:
    return f"{config.options['name']}, n={config.rows[0]:,}+{config.rows[1]:,}"
