"""Value of an s-partial conditional outcome shift: v_Y(s) = 1 - numerator(s) / denominator.

Paper: denominator eq. (5) value_denom_outcome, influence eq. (49); numerator eq. (4)
value_num_outcome. The numerator's V-statistic over recombined rows is not needed for a binary
outcome: with m(G) = p_1(Y=1 | G), G = (W, Z_s, q_bin) and h(G) = E_1[b^2 (Y - m) | G], its inner
average equals h(G) (Y - m(G)), and h = 0 whenever b^2 is constant (accuracy, 0-1 loss).

Two departures from the paper, both in docs/errata.md:

* the source risk q is estimated, so rows near a bin edge change bins with it; its error enters
  through one more term on source rows (`_risk_term`);
* nuisances come as twins A and B from disjoint halves, arrays (halvings, 2, rows) as in
  covariate_value. The source risk behind G has twins, too: the numerator is the mean of those
  with q_A and with q_B, each with m and h of both twins (`Reduced`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.equations.halvings import Plan, average, crossed
from whygap.estimate import Estimate, Sample


@dataclass(frozen=True, slots=True, eq=False)
class OutcomeValues:
    """What does not depend on the subset; the risks p_0 and p_1 are twins.

    With the `plan` of the halvings, what they disagree on is counted.
    """

    sample: Sample
    outcome: ByDomain[Array]
    slope: ByDomain[Array]
    pi_wz: Array
    p_0: ByDomain[Array]
    p_1: ByDomain[Array]
    plan: Plan | None = None


@dataclass(frozen=True, slots=True, eq=False)
class RiskSlope:
    """Twins of m and h at source rows, and how they move with the source risk there.

    With bins (`binned_slope`) the derivative is the jump across the row's nearest edge over one
    bin width: the density of the risk at the edge is smoothed by a uniform kernel one bin wide.
    """

    m: Array
    h: Array
    dm_dq: Array
    dh_dq: Array


def binned_slope(bins: int, m_up: Array, m_down: Array, h_up: Array, h_down: Array) -> RiskSlope:
    """From m and h in the bins above and below the row's nearest edge."""
    dm_dq, dh_dq = bins * (m_up - m_down), bins * (h_up - h_down)
    return RiskSlope((m_up + m_down) / 2, (h_up + h_down) / 2, dm_dq, dh_dq)


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """Twins of m(G) and h(G) at target rows, and what the risk term needs at source rows.

    One twin's source risk is in G, for both twins of m and h.
    """

    m: Array
    h: Array
    risk: RiskSlope | None


def denominator(values: OutcomeValues) -> Estimate:
    """Mean over target rows of (mu_..1 - mu_..0)^2, debiased."""
    y, b, p_0, p_1 = values.outcome, values.slope, values.p_0, values.p_1
    e = b.zip(p_1.zip(p_0, np.subtract), np.multiply)
    target = e.target[:, 0] * e.target[:, 1] + b.target * crossed(e.target, y.target - p_1.target)
    source = -values.pi_wz * b.source * crossed(e.source, y.source - p_0.source)
    plugin = float(np.mean(e.target**2 * values.sample.weights.target))
    return average(values.sample, ByDomain(source, target), plugin, values.plan)


def numerator(values: OutcomeValues, *reduced: Reduced) -> Estimate:
    """Mean over target rows of (mu_..1 - mu_..s)^2, debiased; over the twins of the source risk."""
    y, b2, p_1 = values.outcome.target, values.slope.target**2, values.p_1.target
    full = (y - p_1).prod(axis=1)

    def on_target(one: Reduced) -> Array:
        left = y - one.m
        return np.asarray(b2 * (left.prod(axis=1) - full) - crossed(one.h, left))

    target = np.mean([on_target(one) for one in reduced], axis=0)
    gaps = np.mean([(p_1 - one.m) ** 2 for one in reduced], axis=0)
    plugin = float(np.mean(b2 * gaps * values.sample.weights.target))
    source = _risk_term(values, reduced)
    return average(values.sample, ByDomain(source, target), plugin, values.plan)


@dataclass(frozen=True, slots=True)
class _Steepened:
    """m as it would be without noise in the source risk, which flattens it.

    The residual of one twin still follows the m of the other, whose noise is its own: a line
    through both pairs says by how much m is too flat.
    """

    middle: float
    slope: float = 1.0

    @classmethod
    def between(cls, values: OutcomeValues, m_a: Array, m_b: Array) -> _Steepened:
        """From m of each twin at its own source risk."""
        y, weight = values.outcome.target, values.sample.weights.target
        left_a, left_b = y - m_a, y - m_b
        middles = [float(np.mean(m * weight)) for m in (m_a, m_b)]
        m_a, m_b = m_a - middles[0], m_b - middles[1]
        follows = float(np.mean((left_a * m_b + left_b * m_a) * weight)) / 2
        spread = float(np.mean(m_a * m_b * weight))
        # More than 1 would mean more noise than risk: then there is no line to speak of.
        excess = float(np.clip(follows / spread, 0.0, 1.0)) if spread > 0 else 0.0
        return cls(sum(middles) / 2, 1.0 + excess)

    def __call__(self, m: Array) -> Array:
        return self.middle + self.slope * (m - self.middle)


def _risk_term(values: OutcomeValues, reduced: Sequence[Reduced]) -> Array:
    """How the numerator moves with the source risk, times the residual of its twins' mean.

    The derivative of b^2 g_A g_B - h_A g_B - h_B g_A, g = p_1 - m, in the risk is
    (h_B - b^2 g_B) dm_A/dq - g_B dh_A/dq, and likewise with A and B exchanged. If the numerator
    moves by psi d + H d^2 / 2 when the risk is off by d, those of two risks off by d_A and d_B
    have the mean psi (d_A + d_B) / 2 + H (d_A^2 + d_B^2) / 4. Their mean slope, psi +
    H (d_A + d_B) / 2, times the mean residual takes all of it off but the product
    - H d_A d_B / 2, in which independent errors cancel.

    In g, m is steepened. The gap to an m that noise has flattened follows the risk, and so does
    the error of a risk that is shrunk: their product would be taken off, although to shrink a risk
    moves no row to another side of m. It also takes off what flattening leaves unexplained.
    """
    risks = [one.risk for one in reduced if one.risk is not None]
    if not risks:
        return np.zeros((len(values.p_0.source), len(values.pi_wz)))
    steepened = _Steepened(0.0)
    if len(reduced) == 2:
        steepened = _Steepened.between(values, reduced[0].m[:, 0], reduced[1].m[:, 1])
    b2 = values.slope.source**2
    residual = values.outcome.source - values.p_0.source.mean(axis=1)

    def moves(risk: RiskSlope) -> Array:
        gap = values.p_1.source - steepened(risk.m)
        return crossed(risk.h - b2 * gap, risk.dm_dq) - crossed(gap, risk.dh_dq)

    return np.asarray(values.pi_wz * residual * np.mean([moves(risk) for risk in risks], axis=0))
