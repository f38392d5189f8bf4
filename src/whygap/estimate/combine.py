"""Many estimates of a study at once: linear maps, covariances, repeated cross-fittings."""

import math
from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

from whygap.domains import DOMAINS, Array
from whygap.estimate.estimate import Estimate, same_study
from whygap.estimate.influence import ERRORS, Influence, padded_stack


def linear_map(
    matrix: Array,
    estimates: Sequence[Estimate],
    *,
    draws: Array | None = None,
    repeats: Array | None = None,
) -> list[Estimate]:
    """Compute `matrix @ estimates`, influence included.

    Args:
        matrix: (results, estimates).
        estimates: of one study.
        draws: k sampling errors that are added, (k, results): the covariance is draws.T @ draws.
        repeats: in the same form, what repeated cross-fittings disagree on.
    """
    stacked = _stack(estimates)
    mapped = {f.name: matrix @ getattr(stacked, f.name) for f in fields(Influence)}
    for name, factor in (("draws", draws), ("repeats", repeats)):
        if factor is not None:
            mapped[name] = np.hstack([mapped[name], factor.T])
    values = matrix @ np.array([e.value for e in estimates])
    plugins = matrix @ np.array([e.plugin for e in estimates])
    return [
        Estimate.of(value, Influence(*row), estimates[0].origin, plugin=plugin)
        for value, plugin, *row in zip(values, plugins, *mapped.values(), strict=True)
    ]


def _stack(estimates: Sequence[Estimate]) -> Influence:
    """Stack the influence values of estimates of a study, a row for each estimate."""
    influences = [same_study(estimates[0], estimate)[1] for estimate in estimates]
    rows = (np.stack([getattr(i, name) for i in influences]) for name in DOMAINS)
    errors = (padded_stack([getattr(i, name) for i in influences]) for name in ERRORS)
    return Influence(*rows, *errors)


def joint_covariance(estimates: Sequence[Estimate]) -> Array:
    """Compute the covariance matrix, (m, m), of m estimates of a study from influence values.

    Args:
        estimates: estimates of the study, with influence values.
    """
    if not estimates:
        return np.zeros((0, 0))
    stacked = _stack(estimates)
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
    """Combine repeated cross-fittings: the median, with a variance widened by the spread.

    After Chernozhukov et al. (2018), with the mean squared distance from the median in place of
    its median. Distances are kept: contrasts know how repeats moved together.

    Args:
        estimates: the estimate of each repeat of cross-fitting, at least one.
    """
    if len(estimates) == 1:
        return estimates[0]
    values = np.array([e.value for e in estimates])
    median = float(np.median(values))
    share = np.full((1, len(estimates)), 1.0 / len(estimates))
    spread = (values - median)[:, None] / math.sqrt(len(estimates))
    mean = linear_map(share, estimates, repeats=spread)[0]
    return replace(mean, value=median)
