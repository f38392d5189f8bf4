"""The four corner means and the aggregate decomposition (paper, section 4.1, Algorithm 1).

Contributions per row; an estimate is the mean over source rows plus the mean over target rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.equations.points import TransportedValues, transported_mean
from whygap.estimate import Estimate, Sample
from whygap.results import Aggregate


@dataclass(frozen=True, slots=True, eq=False)
class AggregateValues:
    """Everything the corner means need, one entry per row.

    `pi_w` and `pi_wz` are density ratios target/source, at source rows.
    """

    sample: Sample
    loss: ByDomain[Array]
    mu_00_w: ByDomain[Array]
    mu_0_wz: ByDomain[Array]
    pi_w: Array
    pi_wz: Array


def mean_000(values: AggregateValues) -> Estimate:
    """Mean loss in the source domain."""
    return plain_means(values.sample, values.loss).source


def mean_100(values: AggregateValues) -> Estimate:
    """Mean loss under target W, source Z given W, source Y given W, Z: Psi(W).

    Paper: section 4.1, first two averages of Lambda_W; influence eq. (12) influence_agg_baseline.
    """
    return transported_mean(
        TransportedValues(values.sample, values.loss.source, values.mu_00_w, values.pi_w)
    )


def mean_110(values: AggregateValues) -> Estimate:
    """Mean loss under target W and Z, source Y given W, Z: Psi(W and Z).

    Paper: section 4.1, first two averages of Lambda_Z; influence eq. (13) influence_agg_cov,
    where the printed sign of mu_.00 on target rows is wrong (docs/errata.md).
    """
    return transported_mean(
        TransportedValues(values.sample, values.loss.source, values.mu_0_wz, values.pi_wz)
    )


def mean_111(values: AggregateValues) -> Estimate:
    """Mean loss in the target domain."""
    return plain_means(values.sample, values.loss).target


def mean_at(values: AggregateValues, corner: str) -> Estimate:
    """The mean at the corner of this name."""
    means = {"000": mean_000, "100": mean_100, "110": mean_110, "111": mean_111}
    return means[corner](values)


def aggregate(
    corners: dict[str, Estimate],
    whole: ByDomain[Estimate] | None = None,
    *,
    outcome_first: bool = False,
) -> Aggregate:
    """Lambda = Lambda_W + Lambda_Z + Lambda_Y, from the corners, so that they add up exactly.

    Where the corners are those of a region, `whole` has the means of both tables, and two parts
    more lead from the one to the other; else these are 0.
    """
    start, after_w, after_z, end = (corners[k] for k in ("000", "100", "110", "111"))
    second, third = after_z - after_w, end - after_z
    inner = Aggregate(
        gap=end - start,
        baseline=after_w - start,
        covariate=third if outcome_first else second,
        outcome=second if outcome_first else third,
        mean_000=start,
        mean_100=after_w,
        mean_110=after_z,
        mean_111=end,
        left_behind=start - start,
        new_ground=end - end,
        outcome_first=outcome_first,
    )
    if whole is None:
        return inner
    return replace(
        inner,
        gap=whole.target - whole.source,
        left_behind=start - whole.source,
        new_ground=whole.target - end,
        source_mean=whole.source,
        target_mean=whole.target,
    )


def plain_means(sample: Sample, loss: ByDomain[Array]) -> ByDomain[Estimate]:
    """Mean loss of each table."""
    nothing = loss.map(np.zeros_like)
    means = sample.mean(loss)
    return ByDomain(
        Estimate.from_contributions(
            sample, source=loss.source, target=nothing.target, plugin=means.source
        ),
        Estimate.from_contributions(
            sample, source=nothing.source, target=loss.target, plugin=means.target
        ),
    )
