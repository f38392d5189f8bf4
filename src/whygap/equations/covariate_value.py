"""Value of an s-partial conditional covariate shift: v_Z(s) = 1 - numerator(s) / denominator.

Paper: eq. (10) value_num_cov; influence eq. (17) influence_detailed_cov. The denominator is the
numerator of the empty set. The paper's section 4.2 and Algorithms 2-3 leave out the `1 -`.

Each nuisance comes as twins A and B, fitted on disjoint halves of the training rows. A quadratic
term d^2 + 2 d R becomes d_A d_B + d_A R_B + d_B R_A: the variance part of its second-order bias
cancels. With A = B these are the paper's forms. Several halvings are averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whygap.domains import Array, ByDomain, IntArray
from whygap.equations.halvings import average
from whygap.estimate import Estimate, Sample

__all__ = ["CovariateTwin", "CovariateValues", "numerator"]


@dataclass(frozen=True, slots=True, eq=False)
class CovariateTwin:
    """One twin's conditional means at every row.

    For the empty subset `mu_00_wzs` and `mu_s0_w` are both mu_.00(W).
    """

    mu_0_wz: ByDomain[Array]
    mu_10_w: ByDomain[Array]
    mu_00_wzs: ByDomain[Array]
    mu_s0_w: ByDomain[Array]

    def difference(self) -> ByDomain[Array]:
        """d(W) = mu_.s0(W) - mu_.10(W)."""
        return self.mu_s0_w.zip(self.mu_10_w, np.subtract)


@dataclass(frozen=True, slots=True, eq=False)
class CovariateValues:
    """Loss and ratios at source rows, the twins of every halving, and the rows' blocks."""

    sample: Sample
    loss: Array
    pi_wz: Array
    pi_wzs: Array
    halvings: Sequence[tuple[CovariateTwin, CovariateTwin]]
    blocks: ByDomain[IntArray] | None = None


def numerator(values: CovariateValues) -> Estimate:
    """Mean over target W of (mu_.s0(W) - mu_.10(W))^2, debiased."""
    contributions, plugins = [], []
    for a, b in values.halvings:
        d_a, d_b = a.difference(), b.difference()
        source = d_a.source * _source_residual(values, b) + d_b.source * _source_residual(values, a)
        target = d_a.target * (d_b.target + _target_residual(b)) + d_b.target * _target_residual(a)
        contributions.append(ByDomain(source, target))
        plugins.append(_mean_square(values.sample, d_a, d_b))
    return average(values.sample, contributions, float(np.mean(plugins)), values.blocks)


def _source_residual(values: CovariateValues, twin: CovariateTwin) -> Array:
    return (values.loss - twin.mu_00_wzs.source) * values.pi_wzs - (
        values.loss - twin.mu_0_wz.source
    ) * values.pi_wz


def _target_residual(twin: CovariateTwin) -> Array:
    partial = twin.mu_00_wzs.target - twin.mu_s0_w.target
    full = twin.mu_0_wz.target - twin.mu_10_w.target
    return partial - full


def _mean_square(sample: Sample, d_a: ByDomain[Array], d_b: ByDomain[Array]) -> float:
    squares = (d_a.target**2 + d_b.target**2) / 2
    return float(np.mean(squares * sample.weights.target))
