"""Penalised least squares and logistic regression on the basis columns of `Inputs`.

The penalty is a vector, one entry per basis column, per unit weight; the intercept is never
penalised. Fits on fewer columns of the same rows start from the second derivatives of a fit on all
columns (`Curvature`), of which they need a sub-block.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from whygap.domains import Array, IntArray
from whygap.learning.descent import curvature_of, factor_of, logistic_together, solve
from whygap.learning.inputs import Inputs
from whygap.learning.together import Heads, Segment, Together

# Probabilities nearer to 0 or 1 than this are not known to be nearer.
LEAST_PROBABILITY = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Curvature:
    """Second derivatives of a fit on all columns, and the moments of its working response.

    `solve` on a sub-block is one Newton step of the smaller fit: exact for least squares, a start
    for logistic regression.
    """

    gram: Array
    moments: Array

    @classmethod
    def of_least_squares(cls, design: Inputs, target: Array, weight: Array) -> Curvature:
        """The Gram matrix itself."""
        return cls(design.gram(weight), design.adjoint(weight * target))

    @classmethod
    def of_logistic(cls, design: Inputs, target: Array, weight: Array, penalty: Array) -> Curvature:
        """At the fit with this penalty."""
        logit = design.forward(logistic(design, target, weight, penalty))
        curvature = weight * curvature_of(logit)
        response = curvature * logit + weight * (target - special.expit(logit))
        return cls(design.gram(curvature), design.adjoint(response))

    def part(self, place: IntArray) -> Curvature:
        """Of some of the coefficients."""
        return Curvature(self.gram[np.ix_(place, place)], self.moments[place])


def least_squares(
    design: Inputs, target: Array, weight: Array, penalty: Array, known: Curvature | None = None
) -> Array:
    """Coefficients, intercept first, of weighted ridge regression."""
    known = known or Curvature.of_least_squares(design, target, weight)
    return solve(factor_of(known.gram, _ridge(penalty, weight)), known.moments)


def logistic(
    design: Inputs, target: Array, weight: Array, penalty: Array, known: Curvature | None = None
) -> Array:
    """Coefficients, intercept first, of penalised (quasi-)binomial regression on [0, 1]."""
    lift, ridge = design.lift, _ridge(penalty, weight)
    heads = None if lift is None else Heads(lift.terms.T[None], lift.times)
    only = Segment(np.zeros(1, dtype=np.int64), design.basis.T, target[None], weight, heads)
    start, factors = np.zeros(design.width + 1), None
    if known is None:
        start[0] = logit_clipped(weight @ target / float(weight.sum()))
    else:
        factors = [factor_of(known.gram, ridge)]
        start = solve(factors[0], known.moments)
    found = logistic_together(Together([only], 1), ridge[None], start[None], factors)
    return np.asarray(found[0])


def logit_clipped(probability: Array) -> Array:
    """Logit of probabilities kept away from 0 and 1."""
    inside = np.clip(probability, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    return np.asarray(special.logit(inside))


def _ridge(penalty: Array, weight: Array) -> Array:
    return np.concatenate([[0.0], penalty]) * float(weight.sum())
