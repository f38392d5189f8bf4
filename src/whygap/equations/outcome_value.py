"""Value of an s-partial conditional outcome shift: v_Y(s) = 1 - numerator(s) / denominator.

Paper: denominator eq. (5) value_denom_outcome, influence eq. (49); numerator eq. (4)
value_num_outcome. The numerator's V-statistic over recombined rows is not needed for a binary
outcome: with m(G) = p_1(Y=1 | G), G = (W, Z_s, q_bin) and h(G) = E_1[b^2 (Y - m) | G], its inner
average equals h(G) (Y - m(G)), and h = 0 whenever b^2 is constant (accuracy, 0-1 loss).

Two departures from the paper, both in docs/errata.md:

* the source risk q is estimated, so rows near a bin edge change bins with it; its error enters
  through one more term on source rows (`_risk_term`);
* nuisances come as twins A and B from disjoint halves (see covariate_value), the source risk
  included: m_A is a function of (W, Z_s, q_A), m_B of (W, Z_s, q_B).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whygap.domains import Array, ByDomain, IntArray
from whygap.equations.halvings import average
from whygap.estimate import Estimate, Sample

__all__ = [
    "OutcomeTwin",
    "OutcomeValues",
    "ReducedTwin",
    "RiskSlope",
    "binned_slope",
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

    `blocks` numbers the block of every row, so that the disagreement of halvings can be measured.
    """

    sample: Sample
    outcome: ByDomain[Array]
    slope: ByDomain[Array]
    pi_wz: Array
    halvings: Sequence[tuple[OutcomeTwin, OutcomeTwin]]
    blocks: ByDomain[IntArray] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class RiskSlope:
    """m and h at source rows and how they move with the source risk there.

    With bins (`binned_slope`) the derivative is the jump across the row's nearest edge over one
    bin width: the density of the risk at the edge is smoothed by a uniform kernel one bin wide.
    """

    m: Array
    h: Array
    dm_dq: Array
    dh_dq: Array


def binned_slope(bins: int, m_up: Array, m_down: Array, h_up: Array, h_down: Array) -> RiskSlope:
    """From m and h in the bins above and below the row's nearest edge."""
    return RiskSlope(
        m=(m_up + m_down) / 2,
        h=(h_up + h_down) / 2,
        dm_dq=bins * (m_up - m_down),
        dh_dq=bins * (h_up - h_down),
    )


@dataclass(frozen=True, slots=True, eq=False)
class ReducedTwin:
    """One twin's m(G) and h(G) at target rows, and what the risk term needs at source rows."""

    m: Array
    h: Array
    risk: RiskSlope | None


def denominator(values: OutcomeValues) -> Estimate:
    """Mean over target rows of (mu_..1 - mu_..0)^2, debiased."""
    y, b = values.outcome, values.slope
    contributions, plugins = [], []
    for one, two in values.halvings:
        e_a = b.zip(one.p_1.zip(one.p_0, np.subtract), np.multiply)
        e_b = b.zip(two.p_1.zip(two.p_0, np.subtract), np.multiply)
        target = e_a.target * e_b.target + b.target * (
            e_a.target * (y.target - two.p_1.target) + e_b.target * (y.target - one.p_1.target)
        )
        residual = e_a.source * (y.source - two.p_0.source) + e_b.source * (
            y.source - one.p_0.source
        )
        contributions.append(ByDomain(-values.pi_wz * b.source * residual, target))
        plugins.append(_target_mean(values.sample, (e_a.target**2 + e_b.target**2) / 2))
    return average(values.sample, contributions, float(np.mean(plugins)), values.blocks)


def numerator(
    values: OutcomeValues, reduced: Sequence[tuple[ReducedTwin, ReducedTwin]]
) -> Estimate:
    """Mean over target rows of (mu_..1 - mu_..s)^2, debiased; a pair of reduced twins a halving."""
    y, b2 = values.outcome.target, values.slope.target**2
    contributions, plugins = [], []
    for (one, two), (a, b) in zip(values.halvings, reduced, strict=True):
        full = (y - one.p_1.target) * (y - two.p_1.target)
        target = b2 * ((y - a.m) * (y - b.m) - full) - b.h * (y - a.m) - a.h * (y - b.m)
        contributions.append(ByDomain(_risk_term(values, (one, two), (a, b)), target))
        squares = (one.p_1.target - a.m) ** 2 + (two.p_1.target - b.m) ** 2
        plugins.append(_target_mean(values.sample, b2 * squares / 2))
    return average(values.sample, contributions, float(np.mean(plugins)), values.blocks)


def _risk_term(
    values: OutcomeValues,
    full: tuple[OutcomeTwin, OutcomeTwin],
    reduced: tuple[ReducedTwin, ReducedTwin],
) -> Array:
    """How the numerator moves with each twin's source risk, times that risk's residual."""
    a, b = reduced[0].risk, reduced[1].risk
    if a is None or b is None:
        return np.zeros_like(values.pi_wz)
    y, b2 = values.outcome.source, values.slope.source**2
    first = _moves(b2, a, full[1].p_1.source - b.m, b.h) * (y - full[0].p_0.source)
    second = _moves(b2, b, full[0].p_1.source - a.m, a.h) * (y - full[1].p_0.source)
    return values.pi_wz * (first + second)


def _moves(b2: Array, own: RiskSlope, other_gap: Array, other_h: Array) -> Array:
    """Derivative of b^2 g_A g_B - h_A g_B - h_B g_A, g = p_1 - m, in the risk behind A."""
    return (other_h - b2 * other_gap) * own.dm_dq - other_gap * own.dh_dq


def _target_mean(sample: Sample, values: Array) -> float:
    return float(np.mean(values * sample.weights.target))
