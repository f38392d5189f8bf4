"""Value of an s-partial conditional covariate shift: v_Z(s) = 1 - numerator(s) / denominator.

Paper: eq. (10) value_num_cov; influence eq. (17) influence_detailed_cov. The denominator is the
numerator of the empty set. The paper's section 4.2 and Algorithms 2-3 leave out the `1 -`.

Each nuisance comes as twins A and B, fitted on disjoint halves of the training rows, for several
ways of halving: arrays (halvings, 2, rows). A quadratic term d^2 + 2 d R becomes
d_A d_B + d_A R_B + d_B R_A: the variance part of its second-order bias cancels. With A = B these
are the paper's forms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.equations.halvings import Plan, average, crossed
from whygap.estimate import Estimate, Sample


@dataclass(frozen=True, slots=True, eq=False)
class CovariateValues:
    """Loss and ratios at source rows, twins (halvings, 2, rows) of the means, their plan.

    For the empty subset `mu_00_wzs` and `mu_s0_w` are both mu_.00(W).
    """

    sample: Sample
    loss: Array
    pi_wz: Array
    pi_wzs: Array
    mu_0_wz: ByDomain[Array]
    mu_10_w: ByDomain[Array]
    mu_00_wzs: ByDomain[Array]
    mu_s0_w: ByDomain[Array]
    plan: Plan | None = None


def numerator(values: CovariateValues) -> Estimate:
    """Mean over target W of (mu_.s0(W) - mu_.10(W))^2, debiased."""
    d = values.mu_s0_w.zip(values.mu_10_w, np.subtract)
    source = crossed(d.source, _source_residual(values))
    target = d.target[:, 0] * d.target[:, 1] + crossed(d.target, _target_residual(values))
    plugin = float(np.mean(d.target**2 * values.sample.weights.target))
    return average(values.sample, ByDomain(source, target), plugin, values.plan)


def _source_residual(values: CovariateValues) -> Array:
    partial = (values.loss - values.mu_00_wzs.source) * values.pi_wzs
    full: Array = (values.loss - values.mu_0_wz.source) * values.pi_wz
    return partial - full


def _target_residual(values: CovariateValues) -> Array:
    partial = values.mu_00_wzs.target - values.mu_s0_w.target
    full: Array = values.mu_0_wz.target - values.mu_10_w.target
    return partial - full
