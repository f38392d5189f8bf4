"""Penalised least squares and logistic regression on the basis columns of `Inputs`.

The penalty is a vector, one entry per basis column, per unit weight; the intercept is never
penalised. Second derivatives are the dear part, so a logistic fit takes many cheap steps (limited
memory, preconditioned) for each new one; and fits on fewer columns of the same rows start from
those of a fit on all columns (`Curvature`), of which they need a sub-block.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, special

from whygap.domains import Array, IntArray
from whygap.learning.inputs import ENOUGH_ROWS, Inputs, some_of

# Probabilities nearer to 0 or 1 than this are not known to be nearer.
LEAST_PROBABILITY = 1e-6
# Cheap steps before second derivatives are renewed; a fit that starts from known ones needs six.
MOST_STEPS = 40
# A fit ends when one more step would gain less than this per unit weight. With a hundred times as
# much, fits take a quarter fewer steps and values of subsets move by a tenth of a standard error.
LEAST_GAIN = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class Curvature:
    """Second derivatives of a fit on all columns, and the moments of its working response.

    `solve` on a sub-block is one Newton step of the smaller fit: exact for least squares, a start
    for logistic regression.
    """

    gram: Array
    moments: Array
    weight: Array  # of every row in the Gram matrix
    response: Array  # of every row in the moments

    @classmethod
    def of_least_squares(cls, design: Inputs, target: Array, weight: Array) -> Curvature:
        """The Gram matrix itself."""
        return cls._of(design, weight, weight * target)

    @classmethod
    def _of(cls, design: Inputs, weight: Array, response: Array) -> Curvature:
        return cls(design.gram(weight), design.adjoint(response), weight, response)

    @classmethod
    def of_logistic(cls, design: Inputs, target: Array, weight: Array, penalty: Array) -> Curvature:
        """At the fit with this penalty."""
        logit = design.forward(logistic(design, target, weight, penalty))
        fitted = special.expit(logit)
        curvature = _curvature(fitted, weight)
        return cls._of(design, curvature, curvature * logit + weight * (target - fitted))

    def part(self, place: IntArray) -> Curvature:
        """Of some of the coefficients."""
        gram, moments = self.gram[np.ix_(place, place)], self.moments[place]
        return Curvature(gram, moments, self.weight, self.response)

    def beside(self, design: Inputs, place: IntArray) -> Curvature:
        """With coefficients that this one has not; it has those at `place` of the design's."""
        columns = np.column_stack([np.ones(len(design)), design.dense()])
        new = np.setdiff1d(np.arange(columns.shape[1]), place)
        gram, moments = np.zeros((columns.shape[1],) * 2), np.zeros(columns.shape[1])
        gram[np.ix_(place, place)], moments[place] = self.gram, self.moments
        across = columns.T @ (columns[:, new] * self.weight[:, None])
        gram[:, new], gram[new, :] = across, across.T
        moments[new] = self.response @ columns[:, new]
        return Curvature(gram, moments, self.weight, self.response)


def least_squares(
    design: Inputs, target: Array, weight: Array, penalty: Array, known: Curvature | None = None
) -> Array:
    """Coefficients, intercept first, of weighted ridge regression."""
    known = known or Curvature.of_least_squares(design, target, weight)
    return solve(factor_of(known.gram, _ridge(penalty, weight)), known.moments)


def logistic(
    design: Inputs, target: Array, weight: Array, penalty: Array, known: Curvature | None = None
) -> Array:
    """Coefficients, intercept first, of penalised (quasi-)binomial regression on [0, 1].

    Rounds of cheap steps, each with second derivatives renewed where the last one ended.
    """
    likelihood = _Likelihood(design, target, weight, _ridge(penalty, weight))
    if known is None:
        coefficients = np.zeros(design.width + 1)
        coefficients[0] = logit_clipped(weight @ target / float(weight.sum()))
        factor = likelihood.factor(design.forward(coefficients))
    else:
        factor = factor_of(known.gram, likelihood.ridge)
        coefficients = solve(factor, known.moments)
    for _ in range(MOST_STEPS):
        coefficients, finished = _descend(likelihood, coefficients, factor)
        if finished:
            break
        factor = likelihood.factor(design.forward(coefficients))
    return coefficients


def logit_clipped(probability: Array) -> Array:
    """Logit of probabilities kept away from 0 and 1."""
    inside = np.clip(probability, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    return np.asarray(special.logit(inside))


@dataclass(frozen=True, slots=True, eq=False)
class _Likelihood:
    """Penalised negative log likelihood: log(1 + e^x) - y x, stably."""

    design: Inputs
    target: Array
    weight: Array
    ridge: Array

    def value(self, logit: Array, coefficients: Array) -> float:
        fit = np.maximum(logit, 0.0) + np.log1p(np.exp(-np.abs(logit))) - self.target * logit
        return float(self.weight @ fit + 0.5 * (self.ridge @ coefficients**2))

    def gradient(self, logit: Array, coefficients: Array) -> Array:
        rows = self.weight * (special.expit(logit) - self.target)
        return self.design.adjoint(rows) + self.ridge * coefficients

    def factor(self, logit: Array) -> Array:
        """Of the Hessian; of very many rows, from an evenly spread part: it guides steps only."""
        part = some_of(len(logit), ENOUGH_ROWS) if len(logit) > ENOUGH_ROWS else slice(None)
        weight = self.weight[part] * float(self.weight.sum() / self.weight[part].sum())
        curvature = _curvature(special.expit(logit[part]), weight)
        return factor_of(self.design.rows(part).gram(curvature), self.ridge)


def _descend(likelihood: _Likelihood, coefficients: Array, factor: Array) -> tuple[Array, bool]:
    """Limited-memory steps from a factored Hessian; says whether the end was reached.

    scipy's L-BFGS-B, whitened by the same factor, takes 3.4 ms where this takes 2.5.
    """
    least_gain = LEAST_GAIN * float(likelihood.weight.sum())
    logit = likelihood.design.forward(coefficients)
    value = likelihood.value(logit, coefficients)
    gradient = likelihood.gradient(logit, coefficients)
    memory: list[tuple[Array, Array]] = []
    for _ in range(MOST_STEPS):
        move = -_two_loops(gradient, memory, factor)
        if -float(gradient @ move) <= 2 * least_gain:
            return coefficients, True
        direction = likelihood.design.forward(move)
        size, reached = 1.0, value
        while size > 1e-4:
            reached = likelihood.value(logit + size * direction, coefficients + size * move)
            if reached <= value + 1e-12 * abs(value):
                break
            size /= 2
        if value - reached <= 1e-12 * abs(value):
            return coefficients, True
        coefficients, logit, value = coefficients + size * move, logit + size * direction, reached
        before, gradient = gradient, likelihood.gradient(logit, coefficients)
        memory = [*memory, (size * move, gradient - before)]
    return coefficients, False


def _two_loops(gradient: Array, memory: list[tuple[Array, Array]], factor: Array) -> Array:
    """The inverse Hessian, as the last steps have corrected it, times the gradient."""
    rest, taken = gradient, []
    for move, change in reversed(memory):
        share = float(move @ rest) / float(move @ change)
        rest = rest - share * change
        taken.append(share)
    out: Array = solve(factor, rest)
    for (move, change), share in zip(memory, reversed(taken), strict=True):
        out = out + move * (share - float(change @ out) / float(move @ change))
    return np.asarray(out)


def _curvature(fitted: Array, weight: Array) -> Array:
    return np.maximum(weight * fitted * (1 - fitted), 1e-8 * weight)


def _ridge(penalty: Array, weight: Array) -> Array:
    return np.concatenate([[0.0], penalty]) * float(weight.sum())


def factor_of(gram: Array, ridge: Array) -> Array:
    """The Cholesky factor of second derivatives with their penalty."""
    jitter = 1e-10 * float(np.trace(gram)) / len(gram)
    for _ in range(6):
        eased = gram.T.copy(order="F")  # as it is symmetric, that is gram, and copies fast
        eased.flat[:: len(gram) + 1] += ridge + jitter
        factor, wrong = linalg.lapack.dpotrf(eased, lower=True, overwrite_a=True)
        if not wrong:
            return np.asarray(factor)
        jitter *= 100
    raise linalg.LinAlgError("the penalised Hessian is not positive definite")


def solve(factor: Array, right: Array) -> Array:
    """The inverse of what was factored, times a vector."""
    return np.asarray(linalg.lapack.dpotrs(factor, right, lower=True)[0])
