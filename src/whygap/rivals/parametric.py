"""A logistic model on both domains with domain interactions: shared by two rivals."""

from __future__ import annotations

import numpy as np

from whygap.domains import Array, ByDomain, IntArray
from whygap.estimate import Estimate
from whygap.rivals.linear import logistic, pooled_coefficients, with_intercept
from whygap.rivals.matrix import NumericMatrix, numeric_matrix
from whygap.tables.design import Design

__all__ = ["interaction_strengths"]


def interaction_strengths(design: Design, response: ByDomain[Array]) -> dict[str, Estimate]:
    """Per player the coefficient of domain times Z, for one pooled standard deviation of Z.

    The model is `logit E[response] = 1 + D + W + Z + D Z`. A player of several columns gets the
    root of the summed squares of its coefficients.
    """
    matrix = numeric_matrix(design)
    covariates = matrix.where(design.covariates)
    sample = design.sample()
    fit = logistic(
        _interacted(matrix, covariates),
        np.concatenate(list(response)),
        np.concatenate(list(sample.weights)),
    )
    estimates = pooled_coefficients(sample, fit)[-len(covariates) :]
    spread = matrix.pooled_sd()[covariates]
    scaled = [estimate * float(sd) for estimate, sd in zip(estimates, spread, strict=True)]
    owner = matrix.owner[covariates]
    return {
        player.name: _norm([e for e, o in zip(scaled, owner, strict=True) if o in player.columns])
        for player in design.players
    }


def _interacted(matrix: NumericMatrix, covariates: IntArray) -> Array:
    pooled = np.vstack(list(matrix.values))
    domain = np.repeat([0.0, 1.0], [len(block) for block in matrix.values])[:, None]
    return with_intercept(np.column_stack([domain, pooled, domain * pooled[:, covariates]]))


def _norm(parts: list[Estimate]) -> Estimate:
    """The coefficient itself, or the length of several (delta method)."""
    if len(parts) <= 1:
        return parts[0] if parts else Estimate(0.0, 0.0)
    length = float(np.sqrt(sum(part.value**2 for part in parts)))
    if length == 0:
        return sum(parts[1:], parts[0])
    total = parts[0] * (parts[0].value / length)
    for part in parts[1:]:
        total = total + part * (part.value / length)
    return total
