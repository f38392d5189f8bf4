"""Least squares and logistic regression with influence values, in numpy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from whygap.domains import Array, ByDomain, Domain
from whygap.errors import FitError
from whygap.estimate import Estimate, Sample

__all__ = [
    "Fit",
    "domain_coefficients",
    "domain_means",
    "least_squares",
    "logistic",
    "pooled_coefficients",
    "with_intercept",
]

RIDGE = 1e-6
"""Penalty per row on standardised slopes of a logistic fit: keeps separated levels finite."""


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Coefficients and, per row, their influence: `fit - truth` is about the weighted row mean."""

    coefficients: Array
    influence: Array


def with_intercept(matrix: Array) -> Array:
    """A column of ones in front."""
    return np.column_stack([np.ones(len(matrix)), matrix])


def least_squares(matrix: Array, response: Array, weights: Array) -> Fit:
    """Weighted least squares; collinear columns share their coefficient (minimum norm)."""
    root = np.sqrt(weights)
    solution = np.linalg.lstsq(matrix * root[:, None], response * root, rcond=None)[0]
    coefficients = np.asarray(solution, dtype=np.float64)
    curvature = (matrix * weights[:, None]).T @ matrix / len(matrix)
    residual = response - matrix @ coefficients
    inverse = np.linalg.pinv(curvature, hermitian=True)
    return Fit(coefficients, (matrix * residual[:, None]) @ inverse)


def logistic(matrix: Array, response: Array, weights: Array, ridge: float = RIDGE) -> Fit:
    """Logistic regression by Newton steps; the response may be any value in [0, 1].

    The first column is the intercept and is not penalised.
    """
    scale = np.where(np.ptp(matrix, axis=0) > 0, matrix.std(axis=0), 1.0)
    scaled = matrix / scale
    penalty = np.full(matrix.shape[1], ridge)
    penalty[0] = 0.0
    beta = np.zeros(matrix.shape[1])
    for _ in range(100):
        mean = special.expit(scaled @ beta)
        score = scaled.T @ (weights * (response - mean)) / len(scaled) - penalty * beta
        curvature = _curvature(scaled, weights * mean * (1 - mean), penalty)
        step = np.linalg.solve(curvature, score)
        beta = beta + step * min(1.0, 5.0 / max(float(np.abs(step).max()), 1e-12))
        if np.abs(step).max() < 1e-10:
            break
    else:
        raise FitError(
            "A logistic regression did not converge in 100 steps",
            hint="Some columns may separate the outcome; group rare levels.",
        )
    mean = special.expit(scaled @ beta)
    inverse = np.linalg.inv(_curvature(scaled, weights * mean * (1 - mean), penalty))
    influence = (scaled * (response - mean)[:, None]) @ inverse
    return Fit(beta / scale, influence / scale)


def _curvature(matrix: Array, weights: Array, penalty: Array) -> Array:
    information = (matrix * weights[:, None]).T @ matrix / len(matrix)
    return np.asarray(information + np.diag(penalty + 1e-12))


def domain_coefficients(sample: Sample, domain: Domain, fit: Fit) -> list[Estimate]:
    """Coefficients fitted on one domain's rows, as estimates."""
    return [
        _one_sided(sample, domain, float(value), fit.influence[:, j])
        for j, value in enumerate(fit.coefficients)
    ]


def domain_means(sample: Sample, domain: Domain, matrix: Array) -> list[Estimate]:
    """Column means of one domain, as estimates."""
    means = sample.weights[domain] @ matrix / len(matrix)
    return [_one_sided(sample, domain, float(mean), matrix[:, j]) for j, mean in enumerate(means)]


def pooled_coefficients(sample: Sample, fit: Fit) -> list[Estimate]:
    """Coefficients fitted on the stacked rows (source first), as estimates."""
    rows = ByDomain(len(sample.weights.source), len(sample.weights.target))
    total = rows.source + rows.target
    shares = rows.map(lambda n: n / total)
    source, target = fit.influence[: rows.source], fit.influence[rows.source :]
    return [
        Estimate.of(
            float(value),
            sample.influence(ByDomain(shares.source * source[:, j], shares.target * target[:, j])),
            sample,
        )
        for j, value in enumerate(fit.coefficients)
    ]


def _one_sided(sample: Sample, domain: Domain, value: float, contribution: Array) -> Estimate:
    empty = sample.weights.map(np.zeros_like)
    pair = (
        ByDomain(contribution, empty.target)
        if domain == "source"
        else ByDomain(empty.source, contribution)
    )
    return Estimate.of(value, sample.influence(pair), sample)
