"""Averaging a quadratic term over halvings, and what the halvings disagree on.

A quadratic term in twin form is free of the variance part of its second-order bias, but the product
of the twins' errors still adds noise that no influence function shows. Different halvings of the
same rows see different products; their disagreement, block by block, measures that noise. How much
of it is left in the average follows from the plan of blocks and halvings.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from whygap.domains import Array, ByDomain, IntArray
from whygap.estimate import Estimate, Sample
from whygap.learning.blocks import Blocks, BlockSet


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Every row's block, and the noise of the average per unit of squared disagreement."""

    blocks: ByDomain[IntArray]
    factor: float

    @classmethod
    def of(cls, blocks: Blocks) -> Plan:
        """A model trained on some blocks is off by the mean of their errors.

        So a halving A, B sees the products e_i e_j, i in A, j in B, each with weight
        1 / (|A| |B|). Products of different pairs of blocks are uncorrelated and vary alike, so
        that variances are sums of squared weights.
        """
        pairs = [blocks.halvings(block) for block in range(blocks.count)]
        weights = np.array([[_product_weights(blocks.count, *pair) for pair in k] for k in pairs])
        apart = weights - weights.mean(axis=1, keepdims=True)
        seen = float((apart**2).sum())
        noise = float((weights.mean(axis=(0, 1)) ** 2).sum())
        return cls(blocks.of_rows, noise / seen if seen > 0 else 0.0)


def _product_weights(count: int, one: BlockSet, two: BlockSet) -> Array:
    """Of the product of every two blocks' errors, (blocks, blocks), each pair counted twice."""
    crossing = np.zeros((count, count))
    crossing[np.ix_(sorted(one), sorted(two))] = 1 / (len(one) * len(two))
    return crossing + crossing.T


def average(
    sample: Sample,
    contributions: ByDomain[Array],
    plugin: float,
    plan: Plan | None = None,
) -> Estimate:
    """Mean over halvings of contributions (halvings, rows), with the noise of the fits."""
    source, target = contributions.map(lambda c: c.mean(axis=0))
    estimate = Estimate.from_contributions(sample, source=source, target=target, plugin=plugin)
    if plan is None or len(contributions.target) < 2:
        return estimate
    return estimate.with_errors(fits=_disagreement(sample, contributions, plan))


def crossed(left: Array, right: Array) -> Array:
    """left_A right_B + left_B right_A, one row per halving."""
    both: Array = left[:, 0] * right[:, 1] + left[:, 1] * right[:, 0]
    return both


def _disagreement(sample: Sample, contributions: ByDomain[Array], plan: Plan) -> Array:
    """One entry per block and halving; their sum of squares is the noise of the average.

    Halvings of a block also differ because its rows are a sample; that part averages out between
    halvings and is taken off.
    """
    apart = contributions.map(lambda c: c - c.mean(axis=0))
    count = len(apart.target)
    moments = [
        _block_moments(sample, apart.map(lambda c, k=k: c[k]), plan.blocks)  # type: ignore[misc]
        for k in range(count)
    ]
    means = np.stack([mean for mean, _ in moments])
    by_chance = sum(float(variance.sum()) for _, variance in moments)
    seen = float((means**2).sum())
    real = max(1 - by_chance / seen, 0.0) if seen > 0 else 0.0
    return (means * math.sqrt(plan.factor * real)).ravel()


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
