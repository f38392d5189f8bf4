"""Steps of the walk for metrics that are smooth functions of means, T = g(E u_1, ..., E u_K).

On the straight line between the two ends of a step, P to P', such a metric changes as a mean does:

    gamma_k = int_0^1 (dg / d E u_k)((1 - t) E_P u + t E_P' u) dt,      l = sum_k gamma_k u_k,
    E_P'[l] - E_P[l] = T(P') - T(P)    exactly,

so points and groups use l where they would use a metric that is a mean. The slopes gamma are
estimated from the ends, and a difference of distributions D[l] inherits their error,
sum_k D[u_k] (gamma_k - true gamma_k): that is the slack of a line. Not in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from whygap.combine import linear_map
from whygap.domains import Array, ByDomain
from whygap.equations.corners import AggregateValues
from whygap.equations.where import Group, WhereValues, contribution
from whygap.estimate import Estimate

# Gauss-Legendre on [0, 1]: with 20 nodes, exact to rounding for ratios of means.
NODES = (np.polynomial.legendre.leggauss(20)[0] + 1) / 2
WEIGHTS = np.polynomial.legendre.leggauss(20)[1] / 2
# Central differences this many standard errors wide: the slopes are smooth on that scale.
_STEP = 1e-3

Of = Callable[[Array], float]
Gradient = Callable[[Array], Array]


class Slack(Protocol):
    """What estimated slopes add to D[l]; the difference D is one of the two kinds there are."""

    def of_rows(self, weight: Array) -> Estimate:
        """D has these signed weights on the source rows."""

    def of_group(self, group: Group) -> Estimate:
        """D = P_111 - P_110 within a group of rows."""


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One step of the walk as a step of the mean of l; rows are the evaluated ones but in `loss`.

    A metric that is a mean has no slack, and l is the metric itself.
    """

    start: Estimate  # the metric at P
    end: Estimate  # the metric at P'
    level: Estimate  # mean of l at P
    loss: ByDomain[Array]  # l at all rows of both tables
    values: AggregateValues  # l with what is known of it
    slack: tuple[Slack, ...] = ()

    def moved(self, mean: Estimate, weight: Array) -> Estimate:
        """The metric where the mean of l is `mean`: P and the signed weights on source rows."""
        if not self.slack:
            return mean
        change = mean - self.level
        for one in self.slack:
            change = change + one.of_rows(weight)
        return self.start + change

    def contribution(self, group: Group) -> Estimate:
        """C(g): what a group of rows contributes to the step from 110 to 111."""
        values = self.values
        found = contribution(
            WhereValues(values.sample, values.loss, values.mu_0_wz, values.pi_wz), group
        )
        for one in self.slack:
            found = found + one.of_group(group)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class SlopeSlack:
    """The slopes gamma as functions of estimates, the coordinates of a line."""

    terms: tuple[AggregateValues, ...]  # u_1, ..., u_K
    coordinates: tuple[Estimate, ...]
    jacobian: Array  # (coordinates, terms): how far each slope moves with each coordinate

    def of_rows(self, weight: Array) -> Estimate:
        """D[u_k] only has to be consistent: a weighted mean of the observed rows."""
        rows = weight * self.terms[0].sample.weights.source
        return self.along(np.array([np.mean(rows * term.loss.source) for term in self.terms]))

    def of_group(self, group: Group) -> Estimate:
        """D[u_k] are the terms' own contributions, so that groups add up, errors included."""
        values = [WhereValues(t.sample, t.loss, t.mu_0_wz, t.pi_wz) for t in self.terms]
        return self.along(np.array([contribution(one, group).value for one in values]))

    def along(self, difference: Array) -> Estimate:
        """sum_k D[u_k] (gamma_k - true gamma_k): 0, with its error."""
        factors = (self.jacobian @ difference)[None, :]
        error = linear_map(factors, self.coordinates)[0]
        return replace(error - error.value, plugin=0.0)


def smooth(estimates: Sequence[Estimate], of: Of, gradient: Gradient) -> Estimate:
    """The function g of estimated means, by the delta method."""
    at = values_of(estimates)
    linear = linear_map(np.asarray(gradient(at), dtype=float)[None, :], list(estimates))[0]
    plugin = of(np.array([estimate.plugin for estimate in estimates]))
    return replace(linear, value=float(of(at)), plugin=float(plugin))


def smooth_line(
    terms: Sequence[AggregateValues],
    loss: Sequence[ByDomain[Array]],
    ends: tuple[Sequence[Estimate], Sequence[Estimate]],
    of: Of,
    gradient: Gradient,
) -> Line:
    """The step between two corners; `loss` has the terms at all rows, `ends` their means."""
    start, end = ends
    count = len(terms)

    def slopes(at: Array) -> Array:
        nodes = ((1 - t) * at[:count] + t * at[count:] for t in NODES)
        return np.asarray(WEIGHTS @ np.array([gradient(node) for node in nodes]))

    coordinates = (*start, *end)
    gamma = slopes(values_of(coordinates))
    level = linear_map(gamma[None, :], list(start))[0]
    slack = SlopeSlack(tuple(terms), coordinates, jacobian(slopes, coordinates))
    return Line(
        smooth(start, of, gradient),
        smooth(end, of, gradient),
        level,
        combined(gamma, loss),
        combined_values(gamma, terms),
        (slack,),
    )


def combined(factors: Array, terms: Sequence[ByDomain[Array]]) -> ByDomain[Array]:
    """sum_k factor_k term_k, at the rows of both domains."""
    return ByDomain(*(factors @ np.stack(rows) for rows in zip(*map(tuple, terms), strict=True)))


def combined_values(factors: Array, terms: Sequence[AggregateValues]) -> AggregateValues:
    """The same for everything that is known of the terms."""
    return replace(
        terms[0],
        loss=combined(factors, [term.loss for term in terms]),
        mu_00_w=combined(factors, [term.mu_00_w for term in terms]),
        mu_0_wz=combined(factors, [term.mu_0_wz for term in terms]),
    )


def jacobian(function: Callable[[Array], Array], coordinates: Sequence[Estimate]) -> Array:
    """Derivatives of a vector function at the estimates' values, by central differences."""
    at = values_of(coordinates)
    rows = np.zeros((len(at), len(function(at))))
    for place, estimate in enumerate(coordinates):
        if width := _STEP * estimate.standard_error:  # what has no error passes none on
            step = np.where(np.arange(len(at)) == place, width, 0.0)
            rows[place] = (function(at + step) - function(at - step)) / (2 * width)
    return rows


def values_of(estimates: Sequence[Estimate]) -> Array:
    """Their values."""
    return np.array([estimate.value for estimate in estimates])
