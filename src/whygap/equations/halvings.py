"""Averaging a quadratic term over halvings, and what the halvings disagree on.

A quadratic term in twin form is free of the variance part of its second-order bias, but the product
of the twins' errors still adds noise that no influence function shows. Different halvings of the
same rows see different products; their disagreement, block by block, measures that noise.
"""

from __future__ import annotations

import math

import numpy as np

from whygap.domains import Array, ByDomain, IntArray
from whygap.estimate import Estimate, Sample

# With five blocks and all three halvings, the noise of the average is 4/5 of the variance between
# the halvings of one block: an error product e_i e_j of two blocks enters two of a block's three
# halvings (so these correlate by 1/2), and the ten products are averaged over all blocks.
_ALL_THREE = 0.8


def average(
    sample: Sample,
    contributions: ByDomain[Array],
    plugin: float,
    blocks: ByDomain[IntArray] | None = None,
) -> Estimate:
    """Mean over halvings of contributions (halvings, rows); `blocks` numbers every row's block."""
    source, target = contributions.map(lambda c: c.mean(axis=0))
    estimate = Estimate.from_contributions(sample, source=source, target=target, plugin=plugin)
    if blocks is None or len(contributions.target) < 2:
        return estimate
    return estimate.with_fit_noise(_disagreement(sample, contributions, blocks))


def crossed(left: Array, right: Array) -> Array:
    """left_A right_B + left_B right_A, one row per halving."""
    both: Array = left[:, 0] * right[:, 1] + left[:, 1] * right[:, 0]
    return both


def _disagreement(
    sample: Sample, contributions: ByDomain[Array], blocks: ByDomain[IntArray]
) -> Array:
    """One entry per block and halving; their sum of squares is the noise of the average.

    Halvings of a block also differ because its rows are a sample; that part averages out between
    halvings and is taken off.
    """
    apart = contributions.map(lambda c: c - c.mean(axis=0))
    count = len(apart.target)
    moments = [
        _block_moments(sample, apart.map(lambda c, k=k: c[k]), blocks)  # type: ignore[misc]
        for k in range(count)
    ]
    means = np.stack([mean for mean, _ in moments])
    by_chance = sum(float(variance.sum()) for _, variance in moments)
    seen = float((means**2).sum())
    real = max(1 - by_chance / seen, 0.0) if seen > 0 else 0.0
    size = means.shape[1]
    factor = (_ALL_THREE if count == 3 and size == 5 else 1.0) / (size * (count - 1))
    return (means * math.sqrt(factor * real)).ravel()


def _block_moments(
    sample: Sample, pair: ByDomain[Array], blocks: ByDomain[IntArray]
) -> tuple[Array, Array]:
    """Mean of each block (source plus target) and the sampling variance of that mean."""
    mean: Array = np.zeros(1)
    variance: Array = np.zeros(1)
    for domain in ("source", "target"):
        weight, block, values = sample.weights[domain], blocks[domain], pair[domain]
        total = np.bincount(block, weights=weight)
        here = np.bincount(block, weights=weight * values) / total
        spread = np.bincount(block, weights=(weight * (values - here[block])) ** 2)
        mean, variance = mean + here, variance + spread / total**2
    return mean, variance
