"""Value of an s-partial conditional outcome shift: v_Y(s) = 1 - numerator(s) / denominator.

Paper: denominator eq. (5) value_denom_outcome, influence eq. (49); numerator eq. (4)
value_num_outcome. The numerator's V-statistic over recombined rows is not needed for a binary
outcome: with m(G) = p_1(Y=1 | G), G = (W, Z_s, q_bin) and h(G) = E_1[b^2 (Y - m) | G], its inner
average equals h(G) (Y - m(G)), and h = 0 whenever b^2 is constant (accuracy, 0-1 loss).

Two departures from the paper, both in docs/errata.md:

* the source risk q is estimated, so rows near a bin edge change bins with it; its error enters
  through one more term on source rows (`RiskTerm`);
* nuisances come as twins A and B from disjoint halves (see covariate_value).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.estimate import Estimate, Sample

__all__ = [
    "BinnedRisk",
    "OutcomeTwin",
    "OutcomeValues",
    "ReducedTwin",
    "SmoothRisk",
    "denominator",
    "numerator",
]


@dataclass(frozen=True, slots=True, eq=False)
class OutcomeTwin:
    """One twin's risks p_0 and p_1 at every row; they do not depend on the subset."""

    p_0: ByDomain[Array]
    p_1: ByDomain[Array]


@dataclass(frozen=True, slots=True, eq=False)
class OutcomeValues:
    """What does not depend on the subset.

    `risk_residual` is Y - q at source rows, q out of fold.
    """

    sample: Sample
    outcome: ByDomain[Array]
    slope: ByDomain[Array]
    pi_wz: Array
    risk_residual: Array
    halvings: Sequence[tuple[OutcomeTwin, OutcomeTwin]]


@dataclass(frozen=True, slots=True, eq=False)
class BinnedRisk:
    """m and h at source rows, in the bins above and below the row's nearest edge."""

    bins: int
    m_up: Array
    m_down: Array
    h_up: Array
    h_down: Array


@dataclass(frozen=True, slots=True, eq=False)
class SmoothRisk:
    """m, h and their derivatives in q, at source rows."""

    m: Array
    h: Array
    dm_dq: Array
    dh_dq: Array


@dataclass(frozen=True, slots=True, eq=False)
class ReducedTwin:
    """One twin's m(G) and h(G) at target rows, and what the risk term needs at source rows."""

    m: Array
    h: Array
    risk: BinnedRisk | SmoothRisk | None


def denominator(values: OutcomeValues) -> Estimate:
    """Mean over target rows of (mu_..1 - mu_..0)^2, debiased."""
    source = np.zeros_like(values.pi_wz)
    target = np.zeros_like(values.outcome.target)
    plugin = 0.0
    y, b = values.outcome, values.slope
    for one, two in values.halvings:
        e_a = b.zip(one.p_1.zip(one.p_0, np.subtract), np.multiply)
        e_b = b.zip(two.p_1.zip(two.p_0, np.subtract), np.multiply)
        target += e_a.target * e_b.target + b.target * (
            e_a.target * (y.target - two.p_1.target) + e_b.target * (y.target - one.p_1.target)
        )
        source -= (
            values.pi_wz
            * b.source
            * (e_a.source * (y.source - two.p_0.source) + e_b.source * (y.source - one.p_0.source))
        )
        plugin += _target_mean(values.sample, (e_a.target**2 + e_b.target**2) / 2)
    count = len(values.halvings)
    return Estimate.from_contributions(
        values.sample, source=source / count, target=target / count, plugin=plugin / count
    )


def numerator(
    values: OutcomeValues, reduced: Sequence[tuple[ReducedTwin, ReducedTwin]]
) -> Estimate:
    """Mean over target rows of (mu_..1 - mu_..s)^2, debiased; one pair of reduced twins a halving."""
    source = np.zeros_like(values.pi_wz)
    target = np.zeros_like(values.outcome.target)
    plugin = 0.0
    y, b2 = values.outcome.target, values.slope.target**2
    for (one, two), (a, b) in zip(values.halvings, reduced, strict=True):
        full = (y - one.p_1.target) * (y - two.p_1.target)
        target += b2 * ((y - a.m) * (y - b.m) - full) - b.h * (y - a.m) - a.h * (y - b.m)
        source += _risk_term(values, (one, two), (a, b))
        squares = (one.p_1.target - a.m) ** 2 + (two.p_1.target - b.m) ** 2
        plugin += _target_mean(values.sample, b2 * squares / 2)
    count = len(values.halvings)
    return Estimate.from_contributions(
        values.sample, source=source / count, target=target / count, plugin=plugin / count
    )


def _risk_term(
    values: OutcomeValues,
    full: tuple[OutcomeTwin, OutcomeTwin],
    reduced: tuple[ReducedTwin, ReducedTwin],
) -> Array:
    """How the numerator moves with the source risk, times the risk's residual, at source rows."""
    b2 = values.slope.source**2
    p_a, p_b = full[0].p_1.source, full[1].p_1.source
    match reduced[0].risk, reduced[1].risk:
        case BinnedRisk() as a, BinnedRisk() as b:
            jump = _level(b2, p_a, p_b, a.m_up, b.m_up, a.h_up, b.h_up) - _level(
                b2, p_a, p_b, a.m_down, b.m_down, a.h_down, b.h_down
            )
            slope = a.bins * jump
        case SmoothRisk() as a, SmoothRisk() as b:
            slope = (_smooth_slope(b2, p_a, a, b) + _smooth_slope(b2, p_b, b, a)) / 2
        case _:
            return np.zeros_like(values.pi_wz)
    return values.pi_wz * slope * values.risk_residual


def _level(
    b2: Array, p_a: Array, p_b: Array, m_a: Array, m_b: Array, h_a: Array, h_b: Array
) -> Array:
    """Value at one side of an edge: b^2 (p_1 - m)^2 - 2 h (p_1 - m), in twin form."""
    gap_a, gap_b = p_a - m_a, p_b - m_b
    return b2 * gap_a * gap_b - h_a * gap_b - h_b * gap_a


def _smooth_slope(b2: Array, p_1: Array, one: SmoothRisk, two: SmoothRisk) -> Array:
    """(r - rho) dm/dq + (p_1 - m) drho/dq with r = -2 b^2 (p_1 - m) and rho = -2 h."""
    gap = p_1 - one.m
    return (-2 * b2 * gap + 2 * one.h) * two.dm_dq - 2 * gap * two.dh_dq


def _target_mean(sample: Sample, values: Array) -> float:
    return float(np.mean(values * sample.weights.target))
