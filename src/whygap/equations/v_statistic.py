"""The paper's own estimator of v_Y(s), for cross-checks: plain nuisances, averages over pairs.

Paper: numerator eq. (4) value_num_outcome, denominator eq. (5) value_denom_outcome. The last two
lines of eq. (4) average over pairs (i, j) of target rows: row i keeps W, Z_s and Y, row j lends
Z_-s, and the phantom ratio

    pi = p_1(Z_-s | W, Z_s, q_bin = Q_i) / p_1(Z_-s)

turns the marginal draw of Z_-s into a draw given G = (W, Z_s, q_bin). It is 0 unless the recombined
row falls in the bin of the *original* row i; only such pairs are handed over.

`outcome_value` replaces the average by h(G) (Y - m(G)), and adds twins and the term for the source
risk; nothing here does. Row j contributes no influence: given its Z_-s the mean over i is 0, as
Y_i - m(G_i) has mean 0 given G_i.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from whygap.domains import Array, ByDomain, IntArray
from whygap.estimate import Estimate, Sample

__all__ = ["Pairs", "PlainValues", "denominator", "numerator", "pair_averages"]


@dataclass(frozen=True, slots=True, eq=False)
class PlainValues:
    """What does not depend on the subset, at the evaluated rows; `pi_wz` at source rows."""

    sample: Sample
    outcome: ByDomain[Array]
    intercept: ByDomain[Array]
    slope: ByDomain[Array]
    p_0: ByDomain[Array]
    p_1: ByDomain[Array]
    pi_wz: Array

    def loss(self, outcome: ByDomain[Array]) -> ByDomain[Array]:
        """The metric a + b y with outcomes, or with risks in their place."""
        return self.intercept.zip(self.slope.zip(outcome, np.multiply), np.add)


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Recombined rows: W, Z_s and Y of `row`, Z_-s of a lender.

    Attributes:
        row: which row was kept, as a position among the rows averaged for.
        weight: of the lender; all lenders of a row, in its bin or not, sum to 1.
        intercept: a of the metric at the recombined row.
        slope: b of the metric at the recombined row.
        p_1: the target risk at the recombined row.
        pi: the phantom ratio.
    """

    row: IntArray
    weight: Array
    intercept: Array
    slope: Array
    p_1: Array
    pi: Array


def denominator(values: PlainValues) -> Estimate:
    """Mean over target rows of (mu_..1 - mu_..0)^2, debiased.

    Paper: eq. (5) value_denom_outcome; influence eq. (49).
    """
    loss = values.loss(values.outcome)
    mu_0_wz, mu_1_wz = values.loss(values.p_0), values.loss(values.p_1)
    gap = mu_1_wz.zip(mu_0_wz, np.subtract)
    return Estimate.from_contributions(
        values.sample,
        source=-2 * gap.source * (loss.source - mu_0_wz.source) * values.pi_wz,
        target=gap.target**2 + 2 * gap.target * (loss.target - mu_1_wz.target),
        plugin=float(np.mean(gap.target**2 * values.sample.weights.target)),
    )


def numerator(values: PlainValues, m: Array, averages: Array) -> Estimate:
    """Mean over target rows of (mu_..1 - mu_..s)^2, debiased.

    Paper: eq. (4) value_num_outcome.

    Args:
        values: what does not depend on the subset.
        m: p_1(Y=1 | G) at the target rows.
        averages: `pair_averages` of the target rows.
    """
    a, b = values.intercept.target, values.slope.target
    loss, mu_1_wz, mu_s_wz = (a + b * y for y in (values.outcome.target, values.p_1.target, m))
    xi = mu_1_wz - mu_s_wz
    return Estimate.from_contributions(
        values.sample,
        source=np.zeros_like(values.pi_wz),
        target=xi**2 + 2 * xi * (loss - mu_1_wz) - 2 * averages,
        plugin=float(np.mean(xi**2 * values.sample.weights.target)),
    )


def pair_averages(
    stream: Iterable[Pairs], outcome: Array, m: Array, *, self_normalised: bool = False
) -> Array:
    """The inner average of eq. (4) for each kept row: of xi (l - mu_..s) pi over its lenders.

    Self-normalised, the weights of each row are divided by their sum (whose expectation is 1), so
    that an error of the ratio which depends on G alone cancels; rows without a pair get 0.
    """
    total, mass = np.zeros_like(m), np.zeros_like(m)
    for pairs in stream:
        a, b, i = pairs.intercept, pairs.slope, pairs.row
        mu_1_wz, mu_s_wz, loss = a + b * pairs.p_1, a + b * m[i], a + b * outcome[i]
        weight = pairs.weight * pairs.pi
        inner = weight * (mu_1_wz - mu_s_wz) * (loss - mu_s_wz)
        total += np.bincount(i, weights=inner, minlength=len(m))
        mass += np.bincount(i, weights=weight, minlength=len(m))
    if not self_normalised:
        return total
    return np.divide(total, mass, out=np.zeros_like(total), where=mass > 0)
