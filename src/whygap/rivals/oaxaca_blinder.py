"""Oaxaca-Blinder: coefficients times means, from econometrics.

Two uses. For the comparison with the shares, `logit E[loss | W, Z]` is a linear model in each
domain; the covariate importance of Z_i is its source coefficient times the change of its mean, the
outcome importance its target mean times the change of its coefficient. For the plain metric,
`two_fold` and `three_fold` split the whole gap with least squares, as wages are split.

Assumes: the (transformed) expected loss is linear in the variables, the same everywhere.
Misleads: it cannot see a shift that leaves means alone; what a variable gets depends on where its
zero lies (and which level of a category is left out): centre a variable and its outcome importance
is gone. The covariate part says what a change of means *would* do, not whether it is the shift
that took place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from whygap.domains import ByDomain
from whygap.errors import SettingsError, did_you_mean
from whygap.estimate import Estimate, Sample
from whygap.rivals.importances import Importances, from_estimates
from whygap.rivals.linear import (
    domain_coefficients,
    domain_means,
    least_squares,
    logistic,
    pooled_coefficients,
    with_intercept,
)
from whygap.rivals.matrix import NumericMatrix, numeric_matrix
from whygap.rivals.parametric_acc import unit_loss
from whygap.settings import Settings
from whygap.tables.design import Design

__all__ = [
    "ThreeFold",
    "TwoFold",
    "covariate_importance",
    "outcome_importance",
    "three_fold",
    "two_fold",
]

ASSUMPTIONS = "The logit of the expected loss is linear in the variables, in each domain."
MISLEADS = (
    "Shifts that leave means alone are not seen; the outcome part depends on where a variable's "
    "zero lies and on which level of a category is left out."
)
REFERENCES = ("source", "target", "pooled", "neumark", "cotton", "reimers")
Reference = Literal["source", "target", "pooled", "neumark", "cotton", "reimers"]


@dataclass(frozen=True, slots=True)
class TwoFold:
    """gap = explained (by means) + unexplained (by coefficients)."""

    gap: Estimate
    explained: Estimate
    unexplained: Estimate


@dataclass(frozen=True, slots=True)
class ThreeFold:
    """gap = endowments (means) + coefficients + interaction of both."""

    gap: Estimate
    endowments: Estimate
    coefficients: Estimate
    interaction: Estimate


@dataclass(frozen=True, slots=True, eq=False)
class _Pieces:
    """Means and coefficients of both domains; the intercept comes first."""

    means: ByDomain[list[Estimate]]
    slopes: ByDomain[list[Estimate]]
    matrix: NumericMatrix
    sample: Sample


def covariate_importance(design: Design, settings: Settings) -> Importances:
    """Source coefficient times difference in means, per player."""
    pieces = _pieces(design, link="logit")
    terms = [
        slope * (after - before)
        for slope, before, after in zip(
            pieces.slopes.source, pieces.means.source, pieces.means.target, strict=True
        )
    ]
    return _importances(design, settings, pieces.matrix, terms, "covariate")


def outcome_importance(design: Design, settings: Settings) -> Importances:
    """Target mean times difference in coefficients, per player."""
    pieces = _pieces(design, link="logit")
    terms = [
        mean * (after - before)
        for mean, before, after in zip(
            pieces.means.target, pieces.slopes.source, pieces.slopes.target, strict=True
        )
    ]
    return _importances(design, settings, pieces.matrix, terms, "outcome")


def two_fold(design: Design, reference: Reference = "source") -> TwoFold:
    """The metric's gap, split once, with least squares on every variable.

    Args:
        design: both domains.
        reference: whose coefficients price the change of means: "source", "target", "pooled"
            (both domains and a domain indicator), "neumark" (both, without), "cotton" (weighted
            by size) or "reimers" (the plain average).
    """
    pieces = _pieces(design, link="identity")
    price = _reference_slopes(design, pieces, reference)
    explained = _sum(
        [
            slope * (after - before)
            for slope, before, after in zip(
                price, pieces.means.source, pieces.means.target, strict=True
            )
        ]
    )
    gap = _gap(design, pieces.sample)
    return TwoFold(gap=gap, explained=explained, unexplained=gap - explained)


def three_fold(design: Design) -> ThreeFold:
    """The metric's gap, split three ways, with least squares on every variable."""
    pieces = _pieces(design, link="identity")
    rows = list(zip(*pieces.means, *pieces.slopes, strict=True))
    endowments = _sum([b0 * (m1 - m0) for m0, m1, b0, _ in rows])
    coefficients = _sum([m0 * (b1 - b0) for m0, _, b0, b1 in rows])
    interaction = _sum([(m1 - m0) * (b1 - b0) for m0, m1, b0, b1 in rows])
    gap = _gap(design, pieces.sample)
    return ThreeFold(gap, endowments, coefficients, interaction)


def _pieces(design: Design, *, link: Literal["identity", "logit"]) -> _Pieces:
    matrix = numeric_matrix(design)
    sample = design.sample()
    blocks = matrix.values.map(with_intercept)
    response = design.loss if link == "identity" else unit_loss(design)
    fit = least_squares if link == "identity" else logistic
    slopes = [
        domain_coefficients(sample, d, fit(blocks[d], response[d], sample.weights[d]))
        for d in ("source", "target")
    ]
    means = [domain_means(sample, d, blocks[d]) for d in ("source", "target")]
    return _Pieces(ByDomain(*means), ByDomain(*slopes), matrix, sample)


def _reference_slopes(design: Design, pieces: _Pieces, reference: str) -> list[Estimate]:
    if reference not in REFERENCES:
        raise SettingsError(
            f"The reference must be one of {', '.join(map(repr, REFERENCES))}",
            got=repr(reference),
            hint=did_you_mean(reference, REFERENCES),
        )
    if reference in ("source", "target"):
        return pieces.slopes.source if reference == "source" else pieces.slopes.target
    if reference in ("pooled", "neumark"):
        return _pooled_slopes(design, pieces, with_domain=reference == "pooled")
    n = design.rows
    share = n.target / (n.source + n.target) if reference == "cotton" else 0.5
    return [
        before * (1 - share) + after * share for before, after in zip(*pieces.slopes, strict=True)
    ]


def _pooled_slopes(design: Design, pieces: _Pieces, *, with_domain: bool) -> list[Estimate]:
    block = with_intercept(np.vstack(list(pieces.matrix.values)))
    if with_domain:
        block = np.column_stack([block, np.repeat([0.0, 1.0], list(design.rows))])
    weights = np.concatenate(list(pieces.sample.weights))
    fit = least_squares(block, np.concatenate(list(design.loss)), weights)
    return pooled_coefficients(pieces.sample, fit)[: len(pieces.matrix.names) + 1]


def _gap(design: Design, sample: Sample) -> Estimate:
    """Target mean minus source mean of the metric."""
    loss = design.loss
    return Estimate.from_contributions(sample, source=-loss.source, target=loss.target)


def _sum(terms: Sequence[Estimate]) -> Estimate:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _importances(
    design: Design,
    settings: Settings,
    matrix: NumericMatrix,
    terms: list[Estimate],
    part: Literal["covariate", "outcome"],
) -> Importances:
    estimates = {
        player.name: _sum([terms[j + 1] for j in matrix.where(player.columns)] or [terms[0] * 0.0])
        for player in design.players
    }
    return from_estimates(
        "oaxaca_blinder",
        part,
        estimates,
        level=settings.level,
        unit="change of the logit of the expected loss",
        assumptions=ASSUMPTIONS,
        misleads=MISLEADS,
    )
