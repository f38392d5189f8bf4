"""Coverage of points, groups and budgets: 90% intervals in four worlds with known truth."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from experiments.pages import number, planned_columns, signed, table
from experiments.pools import is_current, save_pool
from experiments.quantities import CULPRITS, SCORE
from experiments.replicates import Config, Line
from experiments.simulation import Lines, Order, Plan, Simulation, run_simulation
from experiments.summary import Row

__all__ = ["KINDS", "WORLDS", "plan", "run", "verdict"]

SIZES = (500, 1000, 2000, 8000)
REPLICATES = 200  # as many as coverage takes to be judged
KINDS = MappingProxyType(
    {"points": "Points", "where": "Who is hit", "recoverable": "What can be won back"}
)
BAR = (0.86, 0.94)  # what 90% intervals are asked to cover
LARGEST_BIAS = 0.3  # in standard deviations of the estimate, likewise
POOL = Path("evidence") / "culprits" / "employment_few_levels.npz"
POOL_OF = "employment, W = sex and race (White or other), age in four bands, scores in tenths"


@dataclass(frozen=True)
class Followed:
    """A world, how it is run, and the groups whose contributions are followed.

    Cuts lie where both domains have rows on either side; a category is cut between two codes.
    """

    world: str
    words: str
    cuts: tuple[tuple[str, float], ...]
    target_share: float = 1.0
    settings: tuple[tuple[str, Any], ...] = ()
    options: tuple[tuple[str, str], ...] = ()


TWELVE = ("W1", "W2", *(f"Z{k}" for k in range(1, 11)))
WORLDS = (
    Followed(
        "correlated",
        "twelve correlated normal columns, a product that the model does not know; 160 subsets",
        (*((name, 0.0) for name in TWELVE), (SCORE, 0.5)),
        settings=(("subsets", 160),),
    ),
    Followed(
        "untuned",
        "nobody tuned to it: a category, an interaction, fewer target than source rows",
        (("W", 0.5), ("Z1", 1.5), ("Z2", 0.5), ("Z3", -0.5), (SCORE, 0.5)),
        target_share=0.6,
    ),
    Followed(
        "gaussian",
        "the paper's; the model is the source risk, so nothing can be won at home",
        (("W", 1.0), ("Z1", 1.0), ("Z2", -1.0), ("Z3", 1.0), (SCORE, 0.5)),
    ),
    Followed(
        "pool",
        "rows of the shipped employment tables, few levels, scores in tenths",
        (("sex", 0.5), ("race", 0.5), ("age", 1.5), ("marital_status", 1.5),
         ("any_difficulty", 0.5), ("mobility", 1.5), (SCORE, 0.45)),
        options=(("file", str(POOL)), ("name", "employment")),
    ),
)  # fmt: skip


def plan(*, quick: bool) -> Plan:
    """Configurations and how many replicates each gets."""
    if quick:
        return [(_config(world, 500, learner="fast"), 3) for world in WORLDS[1:]]
    return [(_config(world, rows), REPLICATES) for world in WORLDS for rows in SIZES]


def _config(followed: Followed, rows: int, **learner: str) -> Config:
    return Config(
        world=followed.world,
        rows=(rows, round(rows * followed.target_share)),
        settings={**dict(followed.settings), **learner},
        parts=CULPRITS,
        options=dict(followed.options),
        cuts=dict(followed.cuts),
    )


def run(order: Order) -> Path:
    """Run what is missing, write tables and the page; returns the page's path."""
    if order.jobs and not is_current(POOL, POOL_OF):
        from experiments.worlds.few_levels import employment_of_few_levels

        save_pool(employment_of_few_levels(), POOL, POOL_OF)
    steps = plan(quick=order.quick)
    return run_simulation(Simulation("culprits", steps, partial(_view, steps)), order)


def _view(steps: Plan, rows: list[Row], lines: Lines, folder: Path) -> dict[str, Any]:  # noqa: ARG001
    return {
        "bar": BAR,
        "largest_bias": LARGEST_BIAS,
        "verdict": verdict(steps, rows, lines),
        "worlds": [_world(followed, steps, rows) for followed in WORLDS],
    }


def _world(followed: Followed, steps: Plan, rows: list[Row]) -> dict[str, Any]:
    """One world's tables: a grid per kind of question and learner."""
    here = [row for row in rows if row.world == followed.world]
    ran = {row.config for row in here}
    mine = [step for step in steps if step[0].label in ran]
    grids = [
        {"title": f"{title}, {learner}", "rows": here, "quantities": _named(here, kind), "columns":
         planned_columns(columns, here, lambda c: f"n={c.rows[0]:,}+{c.rows[1]:,}")}
        for kind, title in KINDS.items()
        for learner, columns in _by_learner(mine).items()
    ]  # fmt: skip
    return {"name": followed.world, "words": followed.words, "grids": grids}


def _by_learner(steps: Plan) -> dict[str, Plan]:
    found: dict[str, Plan] = {}
    for step in steps:
        found.setdefault(_learner(step[0]), []).append(step)
    return found


def _learner(config: Config) -> str:
    return f"learner {config.settings['learner']}" if "learner" in config.settings else "defaults"


def _named(rows: Iterable[Row], kind: str) -> list[str]:
    return [row.quantity for row in rows if row.quantity.startswith(f"{kind} ")]


def verdict(steps: Plan, rows: Sequence[Row], lines: Lines) -> str:
    """Per configuration and question: the range of coverage and the largest bias."""
    body = []
    for config, _ in steps:
        here = [row for row in rows if row.config == config.label]
        if here:
            sizes = f"{config.rows[0]:,}+{config.rows[1]:,}"
            left = _effective(lines[config.label])
            cells = [_cell([r for r in here if r.quantity.startswith(f"{k} ")]) for k in KINDS]
            count = max(row.replicates for row in here)
            body.append([config.world, _learner(config), sizes, count, left, *cells])
    head = ["world", "learner", "rows", "R", "effective source rows"]
    return table([*head, *(title.lower() for title in KINDS.values())], body, text=3)


def _effective(lines: Sequence[Line]) -> str:
    """Median number of source rows left after weighting to the target's (W, Z)."""
    left = [line["effective_rows"]["pi_wz"] for line in lines if "effective_rows" in line]
    return f"{statistics.median(left):.0f}" if left else "–"


def _cell(rows: Sequence[Row]) -> str:
    """`.87 to .93; bias -0.21`; then how many miss the bar, and of these how many cover less."""
    if not rows:
        return "–"
    lowest, highest = (pick(r.coverage for r in rows) for pick in (min, max))
    bias = max((r.bias_over_sd for r in rows), key=abs)
    missed = sum(not _holds(row) for row in rows)
    text = f"{number(lowest, 2)} to {number(highest, 2)}; bias {signed(bias)}"
    less = sum(row.coverage < BAR[0] for row in rows) or "none"
    return f"{text}; **{missed} of {len(rows)} miss**, {less} by covering less" if missed else text


def _holds(row: Row) -> bool:
    return BAR[0] <= row.coverage <= BAR[1] and abs(row.bias_over_sd) <= LARGEST_BIAS
