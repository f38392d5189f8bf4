"""Penalised least squares and logistic regression on ready-made basis columns.

Each function fits one model; the penalty is a vector, one entry per basis column, per unit weight.
The intercept is never penalised.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, special

from whygap.domains import Array

__all__ = ["least_squares", "logistic", "logit_clipped"]

_MOST_STEPS = 40
_TOLERANCE = 1e-7
_LARGEST_LOGIT = 30.0


def least_squares(basis: Array, target: Array, weight: Array, penalty: Array) -> Array:
    """Coefficients, intercept first, of weighted ridge regression."""
    total = weight.sum()
    centre = (weight @ basis) / total
    level = float(weight @ target) / total
    shifted = basis - centre
    weighted = shifted * weight[:, None]
    gram = shifted.T @ weighted
    gram[np.diag_indices_from(gram)] += penalty * total + 1e-10 * total
    slopes = _solve(gram, weighted.T @ (target - level))
    return np.concatenate([[level - centre @ slopes], slopes])


def logistic(basis: Array, target: Array, weight: Array, penalty: Array) -> Array:
    """Coefficients, intercept first, of penalised (quasi-)binomial regression; targets in [0, 1].

    Newton steps with a Hessian that is renewed only while it still pays, and halved steps
    whenever the penalised likelihood would fall.
    """
    total = weight.sum()
    ridge = np.concatenate([[0.0], penalty * total + 1e-10 * total])
    design = np.column_stack([np.ones(len(basis)), basis])
    mean = np.clip(float(weight @ target) / total, 1e-6, 1 - 1e-6)
    coefficients = np.zeros(design.shape[1])
    coefficients[0] = special.logit(mean)
    logit = np.full(len(target), coefficients[0])
    value = _objective(logit, target, weight, coefficients, ridge)
    factor = None
    for step in range(_MOST_STEPS):
        fitted = special.expit(logit)
        gradient = design.T @ (weight * (target - fitted)) - ridge * coefficients
        if np.abs(gradient).max() <= _TOLERANCE * total:
            break
        if factor is None or step < 4 or step % 4 == 0:
            curvature = np.maximum(weight * fitted * (1 - fitted), 1e-8 * weight)
            hessian = design.T @ (design * curvature[:, None])
            hessian[np.diag_indices_from(hessian)] += ridge + 1e-10 * total
            factor = _factor(hessian)
        move = linalg.cho_solve(factor, gradient, check_finite=False)
        direction = design @ move
        size = 1.0
        while size > 1e-4:
            trial = _objective(
                logit + size * direction, target, weight, coefficients + size * move, ridge
            )
            if trial <= value + 1e-12 * abs(value):
                break
            size /= 2
        gained = value - trial
        coefficients = coefficients + size * move
        logit = logit + size * direction
        value = trial
        if gained <= 1e-10 * abs(value):
            break
    return coefficients


def logit_clipped(probability: Array) -> Array:
    """Logit of probabilities kept away from 0 and 1."""
    return np.asarray(special.logit(np.clip(probability, 1e-6, 1 - 1e-6)))


def _objective(
    logit: Array, target: Array, weight: Array, coefficients: Array, ridge: Array
) -> float:
    """Penalised negative log likelihood: log(1 + e^x) - y x, stably."""
    softplus = np.logaddexp(0.0, logit)
    return float(weight @ (softplus - target * logit) + 0.5 * (ridge @ coefficients**2))


def _factor(matrix: Array) -> tuple[Array, bool]:
    jitter = 0.0
    for _ in range(6):
        try:
            eased = matrix + jitter * np.eye(len(matrix))
            lower, side = linalg.cho_factor(eased, lower=True, check_finite=False)
        except linalg.LinAlgError:
            jitter = max(10 * jitter, 1e-8 * float(np.trace(matrix)) / len(matrix))
        else:
            return lower, side
    raise linalg.LinAlgError("the penalised Hessian is not positive definite")


def _solve(gram: Array, moments: Array) -> Array:
    if len(gram) == 0:
        return np.zeros(0)
    return np.asarray(linalg.cho_solve(_factor(gram), moments, check_finite=False))
