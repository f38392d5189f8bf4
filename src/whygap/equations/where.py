"""Who is hit: what a group of rows contributes to the outcome part of the gap.

C(g) = E_1[1_g (mu_1 - mu_0)], mu_d = E_d[l | W, Z]. With the nuisances of the corner 110 and over
groups that hold every row exactly once, contributions add up to the outcome part, row by row.

Not in the paper, which explains the outcome part by variables only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whygap.domains import Array, ByDomain
from whygap.estimate import Estimate, Sample

Group = ByDomain[NDArray[np.bool_]]


@dataclass(frozen=True, slots=True, eq=False)
class WhereValues:
    """What does not depend on the group; `pi_wz` is the ratio target/source, at source rows."""

    sample: Sample
    loss: ByDomain[Array]
    mu_0_wz: ByDomain[Array]
    pi_wz: Array


def contribution(values: WhereValues, group: Group) -> Estimate:
    """C(g), debiased: -1_g pi_wz (l - mu_0_wz) at source rows, 1_g (l - mu_0_wz) at target rows."""
    inside = values.loss.zip(values.mu_0_wz, np.subtract).zip(group, np.multiply)
    source, plugin = -values.pi_wz * inside.source, values.sample.mean(inside).target
    return Estimate.from_contributions(
        values.sample, source=source, target=inside.target, plugin=plugin
    )


def target_share(values: WhereValues, group: Group) -> Estimate:
    """P_1(g): the share of target rows in the group."""
    inside = group.map(lambda mask: mask.astype(float))
    source, plugin = np.zeros_like(inside.source), values.sample.mean(inside).target
    return Estimate.from_contributions(
        values.sample, source=source, target=inside.target, plugin=plugin
    )


def mean_change(values: WhereValues, group: Group) -> Estimate:
    """C(g) / P_1(g): how far the mean metric moved within the group.

    A group without target rows has none; dividing by its share of 0 is an error.
    """
    return contribution(values, group) / target_share(values, group)
