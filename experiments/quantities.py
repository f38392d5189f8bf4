"""Points, groups and budgets under the names of a replicate's line: estimates, and their truths.

Groups that an analysis shows are bins of its own rows. Here a group is fixed, the rows of a column
above a cut that is chosen beforehand, so that every draw estimates the same number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from experiments.worlds.answers import Above, Answers, BudgetTruth
from whygap.domains import ByDomain
from whygap.estimate import Estimate
from whygap.estimate.combine import median_of
from whygap.nuisances.cross_fit import CrossFit
from whygap.results import Points, Recoverable
from whygap.running.analysis import Analysis, Details
from whygap.tables.design import Column

if TYPE_CHECKING:
    from experiments.worlds.world import World

__all__ = ["CULPRITS", "SCORE", "culprit_estimates", "culprit_truths"]

CULPRITS = ("points", "recoverable")
SCORE = "score"  # names the model's own prediction among the columns that are cut
NOTHING = 1e-9  # a smaller budget is 0: its estimate has no normal law, and no interval to judge


def culprit_estimates(
    analysis: Analysis, details: Details, cuts: Mapping[str, float]
) -> dict[str, Estimate]:
    """By name, everything that was asked for."""
    found = {f"where {name}": e for name, e in _groups(analysis, cuts)}
    found |= dict(_points(details.points))
    found |= dict(_budgets(details.recoverable)) if details.recoverable else {}
    return found


def _points(points: Mapping[str, Points]) -> Iterator[tuple[str, Estimate]]:
    for part, shares in points.items():
        for name, estimate in shares.items():
            yield f"points {part} {name}", estimate


def _groups(analysis: Analysis, cuts: Mapping[str, float]) -> Iterator[tuple[str, Estimate]]:
    for name, cut in cuts.items():
        group = _above(analysis.design.columns, name, cut)
        yield (
            f"{name} above {cut:g}",
            median_of([_contribution(crossfit, group) for crossfit in analysis.crossfits]),
        )


def _contribution(crossfit: CrossFit, group: Above) -> Estimate:
    design = crossfit.design
    inside = design.features.zip(design.prediction, group.mask)
    return crossfit.walk.outcome.contribution(inside)


def _above(columns: Sequence[Column], name: str, cut: float) -> Above:
    names = [column.name for column in columns]
    return Above(cut, None if name == SCORE else names.index(name))


def _budgets(recoverable: Recoverable) -> Iterator[tuple[str, Estimate]]:
    yield "recoverable on_target_mix (total)", recoverable.reweighted.total
    for where, budget in (("here", recoverable), ("at_home", recoverable.source)):
        yield f"recoverable {where} (total)", budget.total
        if budget.recalibration is not None:
            yield f"recoverable {where} (recalibration)", budget.recalibration
        for name, estimate in (budget.variables or {}).items():
            yield f"recoverable {where} {name}", estimate


def culprit_truths(
    world: World, wanted: Sequence[str], cuts: Mapping[str, float]
) -> dict[str, float]:
    """What the estimates of these names estimate; budgets that are 0 are left out.

    Left out, too, is how a budget splits by variable where the rows are real: the score and some
    columns nearly tell the row, and what one more column adds is a fact of these rows that no draw
    of them can show.
    """
    from experiments.worlds.atoms import Atoms
    from experiments.worlds.by_name import answers_of

    answers = answers_of(world)
    columns = _columns_of(world)
    found = {
        f"where {name} above {cut:g}": answers.group(_above(columns, name, cut)).contribution
        for name, cut in cuts.items()
    }
    if "points" in wanted:
        points = answers.points()
        for part, shares in (("baseline", points.baseline), ("covariate", points.covariate)):
            found |= {f"points {part} {name}": value for name, value in shares.items()}
    if "recoverable" in wanted:
        budgets = _true_budgets(answers)
        shown = [k for k in budgets if k.endswith(")") or not isinstance(world, Atoms)]
        found |= {name: budgets[name] for name in shown}
    return found


def _columns_of(world: World) -> tuple[Column, ...]:
    """As a drawn design has them."""
    return world.draw(ByDomain(2, 2), np.random.default_rng(0)).columns


def _true_budgets(answers: Answers) -> dict[str, float]:
    truth = answers.recoverable()
    found = _true_budget("here", truth.here) | _true_budget("at_home", truth.at_home)
    if truth.on_target_mix > NOTHING:
        found["recoverable on_target_mix (total)"] = truth.on_target_mix
    return found


def _true_budget(where: str, budget: BudgetTruth) -> dict[str, float]:
    if budget.total < NOTHING:
        return {}
    return {
        f"recoverable {where} (total)": budget.total,
        f"recoverable {where} (recalibration)": budget.recalibration,
        **{f"recoverable {where} {name}": value for name, value in budget.variables.items()},
    }
