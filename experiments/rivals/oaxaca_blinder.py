"""Oaxaca-Blinder: coefficients times means, from econometrics.

`logit E[loss | W, Z]` is a linear model in each domain. The covariate importance of Z_i is its
source coefficient times the change of its mean, the outcome importance its target mean times the
change of its coefficient. The covariate part says what a change of means *would* do, not whether it
is the shift that took place.
"""

from __future__ import annotations

from dataclasses import dataclass

from experiments.rivals import linear
from experiments.rivals.importances import Importances, Method, Part
from experiments.rivals.linear import NumericMatrix
from whygap.domains import DOMAINS, ByDomain
from whygap.estimate import Estimate
from whygap.settings import Settings
from whygap.tables.design import Design


@dataclass(frozen=True, slots=True, eq=False)
class _Pieces:
    matrix: NumericMatrix
    means: ByDomain[list[Estimate]]
    slopes: ByDomain[list[Estimate]]


def covariate_importance(design: Design, settings: Settings) -> Importances:
    """Source coefficient times difference in means, per player."""
    pieces = _pieces(design)
    terms = [
        slope * (after - before)
        for slope, before, after in zip(pieces.slopes.source, *pieces.means, strict=True)
    ]
    return _importances(design, settings, pieces.matrix, terms, "covariate")


def outcome_importance(design: Design, settings: Settings) -> Importances:
    """Target mean times difference in coefficients, per player."""
    pieces = _pieces(design)
    terms = [
        mean * (after - before)
        for mean, before, after in zip(pieces.means.target, *pieces.slopes, strict=True)
    ]
    return _importances(design, settings, pieces.matrix, terms, "outcome")


def _pieces(design: Design) -> _Pieces:
    matrix, sample, loss = linear.numeric_matrix(design), design.sample(), linear.unit_loss(design)
    slopes, means = [], []
    for d in DOMAINS:
        block = matrix.values[d]
        fit = linear.logistic(linear.with_intercept(block), loss[d], sample.weights[d])
        slopes.append(linear.one_sided(sample, d, fit.coefficients, fit.influence)[1:])
        means.append(linear.domain_means(sample, d, block))
    return _Pieces(matrix, ByDomain(*means), ByDomain(*slopes))


def _importances(
    design: Design, settings: Settings, matrix: NumericMatrix, terms: list[Estimate], part: Part
) -> Importances:
    """Terms of a player's columns, added up; a player that never varies has none."""
    method = Method(
        name="oaxaca_blinder",
        part=part,
        unit="change of the logit of the expected loss",
        assumptions="The logit of the expected loss is linear in the variables, in each domain.",
        misleads="Shifts that leave means alone are not seen; the outcome part depends on where a "
        "variable's zero lies and on which level of a category is left out.",
    )
    estimates = {}
    for player in design.players:
        own = [terms[j] for j in matrix.where(player.columns)]
        estimates[player.name] = sum(own[1:], own[0]) if own else Estimate(0.0, 0.0)
    return method.from_estimates(estimates, settings.level)
