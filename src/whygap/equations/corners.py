"""The four corner means and the aggregate decomposition (paper, section 4.1, Algorithm 1).

Contributions per row; an estimate is the mean over source rows plus the mean over target rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.equations.points import TransportedValues, transported_mean
from whygap.estimate import Estimate, Sample


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


@dataclass(frozen=True, slots=True, eq=False)
class Decomposition:
    """The gap and its parts, as differences of means along the decomposition.

    Attributes:
        total: target minus source.
        source: mean of all source rows.
        target: mean of all target rows.
        parts: by name, in order, adding up to `total`; empty where nothing can be compared.
        reason: why the tables cannot be compared, in words.
    """

    total: Estimate
    source: Estimate
    target: Estimate
    parts: Mapping[str, Estimate] = field(default_factory=dict)
    reason: str = ""


def decompose(
    corners: Mapping[str, Estimate],
    tables: ByDomain[Estimate] | None = None,
    *,
    outcome_first: bool = False,
) -> Decomposition:
    """Take the gap apart: Lambda = Lambda_W + Lambda_Z + Lambda_Y, which add up exactly.

    Args:
        corners: means by name, "000" to "111".
        tables: where the corners are those of a region, the means of the whole tables: two more
            parts then lead from the source table to the region and on to the target table.
        outcome_first: whether Y is changed before Z.
    """
    start, after_w, after_z, end = (corners[k] for k in ("000", "100", "110", "111"))
    second, third = ("outcome", "covariate") if outcome_first else ("covariate", "outcome")
    parts = {"baseline": after_w - start, second: after_z - after_w, third: end - after_z}
    if tables is None:
        return Decomposition(end - start, start, end, parts)
    source, target = tables
    parts = {"source_only": start - source, **parts, "target_only": target - end}
    return Decomposition(target - source, source, target, parts)


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
