"""Many estimates of one study at once: linear maps, covariances, repeated cross-fittings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

from whygap.domains import Array
from whygap.estimate import Estimate, same_study
from whygap.estimate.influence import ERRORS, Influence


def linear_map(
    matrix: Array,
    estimates: Sequence[Estimate],
    *,
    draws: Array | None = None,
    repeats: Array | None = None,
) -> list[Estimate]:
    """`matrix @ estimates`, influence included.

    `draws` (k, rows of the matrix) adds k independent sampling errors to every result: column j
    is the error factor of result j, so that `draws.T @ draws` is their sampling covariance.
    `repeats` likewise adds what repeated cross-fittings disagree on.
    """
    first = estimates[0]
    for other in estimates:
        same_study(first, other)
    stacked = _stack([e.influence for e in estimates if e.influence is not None])
    mapped = Influence(*(matrix @ getattr(stacked, f.name) for f in fields(Influence)))
    more = {"draws": draws, "repeats": repeats}
    added = {
        name: np.hstack([getattr(mapped, name), factor.T])
        for name, factor in more.items()
        if factor is not None
    }
    mapped = replace(mapped, **added)
    values = matrix @ np.array([e.value for e in estimates])
    plugins = matrix @ np.array([e.plugin for e in estimates])
    rows = zip(*(getattr(mapped, f.name) for f in fields(Influence)), strict=True)
    return [
        Estimate.of(value, Influence(*row), first.origin, plugin=plugin)
        for value, row, plugin in zip(values, rows, plugins, strict=True)
    ]


def _stack(influences: Sequence[Influence]) -> Influence:
    return Influence(
        np.stack([i.source for i in influences]),
        np.stack([i.target for i in influences]),
        *(padded_stack([getattr(i, name) for i in influences]) for name in ERRORS),
    )


def padded_stack(rows: Sequence[Array]) -> Array:
    """Rows below each other, filled up with zeros."""
    stacked = np.zeros((len(rows), max(len(row) for row in rows)))
    for place, row in zip(stacked, rows, strict=True):
        place[: len(row)] = row
    return stacked


def joint_covariance(estimates: Sequence[Estimate]) -> Array:
    """Covariance matrix of estimates of one study, from their influence values."""
    for other in estimates:
        same_study(estimates[0], other)
    if not estimates:
        return np.zeros((0, 0))
    stacked = _stack([e.influence for e in estimates if e.influence is not None])
    total: Array = np.zeros((len(estimates), len(estimates)))
    for rows in (stacked.source, stacked.target):
        size = rows.shape[1]
        if size > 1:
            centred = rows - rows.mean(axis=1, keepdims=True)
            total = total + centred @ centred.T / (size * (size - 1))
    for name in ERRORS:
        total = total + getattr(stacked, name) @ getattr(stacked, name).T
    return total


def median_of(estimates: Sequence[Estimate]) -> Estimate:
    """Combine repeated cross-fittings: the median, its variance widened by their spread.

    After Chernozhukov et al. (2018), with the mean squared distance from the median in place of
    its median. Distances are kept: contrasts know how repeats moved together.
    """
    if len(estimates) == 1:
        return estimates[0]
    values = np.array([e.value for e in estimates])
    middle = float(np.median(values))
    share = np.full((1, len(estimates)), 1.0 / len(estimates))
    spread = (values - middle)[:, None] / math.sqrt(len(estimates))
    mean = linear_map(share, estimates, repeats=spread)[0]
    return replace(mean, value=middle)
