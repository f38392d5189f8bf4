"""Steps of the walk for metrics that are smooth functions of means, T = g(E u_1, ..., E u_K).

On the straight line between the two ends of a step, P to P', such a metric changes as a mean does:

    gamma_k = int_0^1 (dg / d E u_k)((1 - t) E_P u + t E_P' u) dt,      l = sum_k gamma_k u_k,
    E_P'[l] - E_P[l] = T(P') - T(P)    exactly,

so points and groups use l where they would use a metric that is a mean. The slopes gamma are
estimated from the ends, and a difference of distributions D[l] inherits their error,
sum_k D[u_k] (gamma_k - true gamma_k): that is the slack of a line. Not in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.equations.corners import AggregateValues, mean_at
from whygap.equations.where import Group, WhereValues, contribution
from whygap.errors import ResultError
from whygap.estimate import Estimate
from whygap.estimate.combine import linear_map

# Gauss-Legendre on [0, 1]: with 20 nodes, exact to rounding for ratios of means.
NODES = (np.polynomial.legendre.leggauss(20)[0] + 1) / 2
WEIGHTS = np.polynomial.legendre.leggauss(20)[1] / 2
# Central differences this many standard errors wide: the slopes are smooth on that scale.
_STEP = 1e-3

CornerName = Literal["000", "100", "110", "111"]
Of = Callable[[Array], float]
Gradient = Callable[[Array], Array]


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """One per-row quantity u, and what is known of it.

    For a 0/1 outcome `u = intercept + slope y`; these, and `loss`, which is u, are at all rows.
    """

    values: AggregateValues  # at the evaluated rows
    loss: ByDomain[Array]
    intercept: ByDomain[Array] | None = None
    slope: ByDomain[Array] | None = None

    def affine(self) -> tuple[ByDomain[Array], ByDomain[Array]]:
        """Intercept and slope of a 0/1 outcome."""
        if self.intercept is None or self.slope is None:
            raise TypeError("a term has intercept and slope only where the outcome is 0 or 1")
        return self.intercept, self.slope

    def where_values(self) -> WhereValues:
        """What contributions of groups need."""
        values = self.values
        return WhereValues(values.sample, values.loss, values.mu_0_wz, values.pi_wz)


class Slack(Protocol):
    """What the error of l adds to D[l], D a difference of two distributions."""

    def of_rows(self, weight: Array) -> Estimate:
        """D has these signed weights on the source rows."""

    def of_group(self, group: Group) -> Estimate:
        """D = P_111 - P_110 within a group of rows."""

    def of_slope(self, mass: Array) -> Estimate:
        """D[l] = sum(mass * slope of l), a mass for each of all target rows."""


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One step of the walk, from P to P', as a step of the mean of l.

    A metric that is a mean has no slack, and l is the metric itself.
    """

    start: Estimate  # the metric at P
    end: Estimate  # the metric at P'
    level: Estimate  # mean of l at P
    term: Term  # l
    slack: tuple[Slack, ...] = ()

    def moved(self, mean: Estimate, weight: Array) -> Estimate:
        """The metric where the mean of l is `mean`; `weight` leads there from P (source rows)."""
        if not self.slack:
            return mean
        return self.start + (self._with(mean - self.level, lambda slack: slack.of_rows(weight)))

    def contribution(self, group: Group) -> Estimate:
        """C(g): what a group of rows contributes to the step from 110 to 111."""
        return self.with_error(contribution(self.term.where_values(), group), group)

    def with_error(self, points: Estimate, group: Group) -> Estimate:
        """An estimate of C(g), l given, with the error of l."""
        return self._with(points, lambda slack: slack.of_group(group))

    def with_slope_error(self, squared: Estimate, mass: Array) -> Estimate:
        """An estimate of E_1[b^2 c], b given, with the error of b; masses are 2 b c / n."""
        return self._with(squared, lambda slack: slack.of_slope(mass))

    def with_shift_error(self, squared: Estimate, weight: Array) -> Estimate:
        """An estimate that is linear in l, with signed weights on source rows, and l's error."""
        return self._with(squared, lambda slack: slack.of_rows(weight))

    def _with(self, estimate: Estimate, part: Callable[[Slack], Estimate]) -> Estimate:
        for one in self.slack:
            estimate = estimate + part(one)
        return estimate


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """The metric at the four corners, and the lines between them; without W there is no first."""

    corners: Mapping[str, Estimate]
    baseline: Line | None
    covariate: Line
    outcome: Line


def walk(
    line: Callable[[CornerName, CornerName], Line], *, has_baseline: bool, outcome_first: bool
) -> Walk:
    """From corner to corner.

    Without W there is nothing to reweight: E_100 is E_000, not an estimate of it. Where the outcome
    comes first, W and Y have moved at the corner 110.
    """
    first = line("000", "100") if has_baseline else None
    second = line("000" if first is None else "100", "110")
    third = line("110", "111")
    start = second.start if first is None else first.start
    corners = {"000": start, "100": second.start, "110": second.end, "111": third.end}
    return Walk(corners, first, *((third, second) if outcome_first else (second, third)))


def mean_line(term: Term, start: CornerName, end: CornerName) -> Line:
    """A step of a metric that is a mean."""
    ends = mean_at(term.values, start), mean_at(term.values, end)
    return Line(*ends, ends[0], term)


@dataclass(frozen=True, slots=True, eq=False)
class SlopeSlack:
    """The slopes gamma as functions of estimates, the coordinates of a line."""

    terms: tuple[Term, ...]  # u_1, ..., u_K
    coordinates: tuple[Estimate, ...]
    jacobian: Array  # (coordinates, terms): how far each slope moves with each coordinate

    def of_rows(self, weight: Array) -> Estimate:
        """D[u_k] only has to be consistent: a weighted mean of the observed rows."""
        rows = weight * self.terms[0].values.sample.weights.source
        return self._along([np.mean(rows * term.values.loss.source) for term in self.terms])

    def of_group(self, group: Group) -> Estimate:
        """D[u_k] are the terms' own contributions, so that groups add up, errors included."""
        return self._along([contribution(t.where_values(), group).value for t in self.terms])

    def of_slope(self, mass: Array) -> Estimate:
        """D[u_k] likewise: of terms that have a slope."""
        slopes = [term.slope for term in self.terms if term.slope is not None]
        return self._along([mass @ slope.target for slope in slopes])

    def _along(self, difference: Sequence[Any]) -> Estimate:
        """sum_k D[u_k] (gamma_k - true gamma_k): 0, with its error."""
        factors = (self.jacobian @ np.array(difference))[None, :]
        error = linear_map(factors, self.coordinates)[0]
        return replace(error - error.value, plugin=0.0)


def smooth(estimates: Sequence[Estimate], of: Of, gradient: Gradient) -> Estimate:
    """The function g of estimated means, by the delta method.

    Debiased means may leave the range of means (a share below 0), where g has no value.
    """
    at = values_of(estimates)
    with np.errstate(all="ignore"):
        value, slopes = float(of(at)), np.asarray(gradient(at), dtype=float)
        plugin = float(of(np.array([estimate.plugin for estimate in estimates])))
    if not np.isfinite([value, *slopes]).all():
        shown = ", ".join(f"{mean:.4g}" for mean in at)
        raise ResultError(
            "The metric has no value between the two tables: it is undefined at the estimated "
            "means of its terms",
            got=shown,
            hint="The tables overlap too little for it, or there are too few rows: try "
            "support='common', or a metric that is a mean over rows.",
        )
    linear = linear_map(slopes[None, :], list(estimates))[0]
    return replace(linear, value=value, plugin=plugin)


def smooth_line(
    terms: Sequence[Term], start: CornerName, end: CornerName, of: Of, gradient: Gradient
) -> Line:
    """The step between two corners of a smooth function of the terms' means."""
    count = len(terms)
    ends = [[mean_at(term.values, corner) for term in terms] for corner in (start, end)]

    def slopes(at: Array) -> Array:
        nodes = ((1 - t) * at[:count] + t * at[count:] for t in NODES)
        return np.asarray(WEIGHTS @ np.array([gradient(node) for node in nodes]))

    coordinates = (*ends[0], *ends[1])
    gamma = slopes(values_of(coordinates))
    slack = SlopeSlack(tuple(terms), coordinates, jacobian(slopes, coordinates))
    return Line(
        smooth(ends[0], of, gradient),
        smooth(ends[1], of, gradient),
        linear_map(gamma[None, :], ends[0])[0],
        combined_term(gamma, terms),
        (slack,),
    )


def combined_term(factors: Array, terms: Sequence[Term]) -> Term:
    """sum_k factor_k term_k, with all that is known of it."""
    values = [term.values for term in terms]
    return Term(
        replace(
            values[0],
            loss=_combined(factors, [one.loss for one in values]),
            mu_00_w=_combined(factors, [one.mu_00_w for one in values]),
            mu_0_wz=_combined(factors, [one.mu_0_wz for one in values]),
        ),
        _combined(factors, [term.loss for term in terms]),
        _if_known(factors, [term.intercept for term in terms]),
        _if_known(factors, [term.slope for term in terms]),
    )


def _if_known(factors: Array, parts: Sequence[ByDomain[Array] | None]) -> ByDomain[Array] | None:
    known = [part for part in parts if part is not None]
    return _combined(factors, known) if len(known) == len(parts) else None


def _combined(factors: Array, parts: Sequence[ByDomain[Array]]) -> ByDomain[Array]:
    return ByDomain(*(factors @ np.stack(rows) for rows in zip(*parts, strict=True)))


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
