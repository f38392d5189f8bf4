"""Inference for many shares at once: max-t intervals, ranks, who is first, adjusted p-values.

The shares are taken as jointly normal with the given covariance. Quantiles of the largest of many
correlated values come from a seeded Monte Carlo, kept between the quantile of a single one and
Bonferroni's, so results are deterministic. Where variances are estimated from few units, t-values
are first turned into the normal values that are exceeded as rarely, each with its own degrees of
freedom (of a difference: the smaller of the two). A share without variance is known: it takes no
part in the largest t, its interval is a point, and its p-value is 0 or 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from whygap.domains import Array, IntArray
from whygap.errors import InputError, require_level
from whygap.estimate import Estimate, Interval
from whygap.estimate.student import as_normal, normal_quantile

# Normal draws behind a quantile: the 95% one is then known to about 0.01 standard errors.
DRAWS = 20_000
ROUNDING = 1e-12  # relative size below which a variance or a difference is rounding error


def max_t_quantile(covariance: Array, level: float, seed: int = 0) -> float:
    """The `level` quantile of the largest |t| among the shares."""
    covariance = _checked(covariance, level)
    error = _standard_errors(covariance)
    known = error == 0
    if known.all():
        return normal_quantile(level)
    largest = _largest_t(covariance.tobytes(), seed)
    return _bounded(largest, level, int((~known).sum()))


@lru_cache(maxsize=2)  # a page asks for many levels of the same groups, in two views
def _largest_t(covariance: bytes, seed: int) -> Array:
    """Draws of the largest |t| among the shares."""
    flat = np.frombuffer(covariance)
    matrix = flat.reshape(math.isqrt(len(flat)), -1)
    return np.asarray(np.abs(_standardised(matrix, _standard_errors(matrix), seed)).max(axis=1))


def simultaneous_intervals(
    estimates: Sequence[Estimate], covariance: Array, level: float, seed: int = 0
) -> list[Interval]:
    """Intervals that hold for all estimates at once with probability `level`; of ratios Fieller's.

    The covariance is theirs: at the true ratios, numerators less ratio times denominator have its
    correlations, whatever the denominator.
    """
    critical = max_t_quantile(covariance, level, seed)
    return [estimate.within(critical) for estimate in estimates]


def rank_intervals(
    values: Array,
    covariance: Array,
    level: float,
    freedom: Array | float = math.inf,
    seed: int = 0,
) -> IntArray:
    """Best and worst rank (p, 2) of each share, 1 = largest; all hold at once.

    Two shares are told apart when the simultaneous interval (max-t over all pairs) of their
    difference excludes 0. A share's best rank is one more than the number of shares surely
    larger, its worst rank p minus the number surely smaller.
    """
    values = np.asarray(values, dtype=float)
    covariance = _checked(covariance, level)
    error = _difference_errors(covariance)
    critical = _pairwise_quantile(covariance, error, level, seed)
    larger = _ahead(values, error, freedom) > critical
    best = 1 + larger.sum(axis=0)
    worst = len(values) - larger.sum(axis=1)
    return np.stack([best, worst], axis=1).astype(np.int64)


def may_be_first(
    values: Array,
    covariance: Array,
    level: float,
    freedom: Array | float = math.inf,
    seed: int = 0,
) -> NDArray[np.bool_]:
    """Which shares (p,) may be the largest: with probability `level` the largest is one of them.

    Multiple comparisons with the best (Hsu 1984): a share is out when it is behind another one by
    more than the quantile of the most that it would be behind by chance, if it were the largest:
    one-sided, over the p - 1 differences with itself, not over all pairs.
    """
    values = np.asarray(values, dtype=float)
    covariance = _checked(covariance, level)
    error = _difference_errors(covariance)
    behind = _ahead(values, error, freedom).max(axis=0)
    rivals = np.maximum((error > 0).sum(axis=0), 1)
    first = np.asarray(behind <= max(float(special.ndtri(level)), 0.0))
    open_ = np.flatnonzero(~first & (behind <= special.ndtri(1 - (1 - level) / rivals)))
    if len(open_):
        critical = _rival_quantiles(covariance, error, open_, level, seed)
        first[open_] = behind[open_] <= critical
    return first


def adjusted_p_values(
    values: Array,
    covariance: Array,
    method: str = "holm",
    seed: int = 0,
    distances: Array | None = None,
) -> Array:
    """p-values of "this share is 0", adjusted for looking at all of them.

    `distances` from 0 as normal values, where they are known better than from the covariance.
    "holm" assumes nothing about the correlations; "max_t" (step-down) uses them and is never
    larger.
    """
    if method not in ("holm", "max_t"):
        raise InputError(
            "The method of adjusted p-values must be 'holm' or 'max_t'", got=repr(method)
        )
    values = np.asarray(values, dtype=float)
    covariance = _checked(covariance, 0.5)
    error = _standard_errors(covariance)
    t = _distances(values, error) if distances is None else np.abs(distances)
    order = np.argsort(-t, kind="stable")
    stepwise = np.minimum(2 * special.ndtr(-t[order]) * np.arange(len(t), 0, -1), 1.0)
    if method == "max_t":
        stepwise = np.minimum(stepwise, _step_down(t[order], order, covariance, error, seed))
    adjusted = np.empty(len(t))
    adjusted[order] = np.maximum.accumulate(stepwise)
    return adjusted


def _distances(values: Array, error: Array) -> Array:
    t = np.where(values == 0, 0.0, np.inf)
    np.divide(np.abs(values), error, out=t, where=error > 0)
    return np.asarray(t)


def _step_down(t: Array, order: IntArray, covariance: Array, error: Array, seed: int) -> Array:
    """Chance that the largest |t| of the shares not yet rejected reaches each observed one."""
    draws = np.abs(_standardised(covariance, error, seed))[:, order]
    remaining = np.maximum.accumulate(draws[:, ::-1], axis=1)[:, ::-1]
    reached = (remaining >= t).sum(axis=0)
    return np.asarray(np.where(np.isinf(t), 0.0, (1.0 + reached) / (1.0 + len(draws))))


def _ahead(values: Array, error: Array, freedom: Array | float) -> Array:
    """How far (i, j) share i is ahead of share j, as a normal value; endless where both are known.

    Differences within rounding error are none.
    """
    difference = values[:, None] - values[None, :]
    rounding = ROUNDING * np.maximum(np.abs(values[:, None]), np.abs(values[None, :]))
    t = np.where(np.abs(difference) <= rounding, 0.0, np.copysign(np.inf, difference))
    np.divide(difference, error, out=t, where=(error > 0) & (t != 0))
    each = np.broadcast_to(np.asarray(freedom, dtype=float), values.shape)
    return as_normal(t, np.minimum(each[:, None], each[None, :]))


def _rival_quantiles(
    covariance: Array, error: Array, candidates: IntArray, level: float, seed: int
) -> Array:
    """Quantile per candidate of the most that it lies behind others, each in its standard error."""
    inverse = np.divide(1.0, error, out=np.zeros_like(error), where=error > 0)
    most = []
    for draws in _normal_blocks(covariance, seed, block=1 + 2_000_000 // len(covariance)):
        shares = np.ascontiguousarray(draws.T)
        behind = ((shares - shares[k]) * inverse[k][:, None] for k in candidates)
        most.append(np.array([one.max(axis=0) for one in behind]))
    return np.asarray(np.quantile(np.concatenate(most, axis=1), level, axis=1))


def _pairwise_quantile(covariance: Array, error: Array, level: float, seed: int) -> float:
    """Max-t quantile over all differences of two shares."""
    pairs = int((error > 0).sum()) // 2
    if pairs == 0:
        return normal_quantile(level)
    players = len(covariance)
    inverse = np.divide(1.0, error, out=np.zeros_like(error), where=error > 0)
    largest = []
    for draws in _normal_blocks(covariance, seed, block=1 + 2_000_000 // players):
        shares = np.ascontiguousarray(draws.T)
        block = np.zeros(len(draws))
        for first in range(players - 1):
            scaled = (shares[first + 1 :] - shares[first]) * inverse[first, first + 1 :, None]
            np.maximum(block, np.abs(scaled).max(axis=0), out=block)
        largest.append(block)
    return _bounded(np.concatenate(largest), level, pairs)


def _standardised(covariance: Array, error: Array, seed: int) -> Array:
    inverse = np.divide(1.0, error, out=np.zeros_like(error), where=error > 0)
    return next(_normal_blocks(covariance, seed, block=DRAWS)) * inverse


def _normal_blocks(covariance: Array, seed: int, block: int) -> Iterator[Array]:
    """Draws (rows, p) from the normal with this covariance, singular or not."""
    eigenvalues, vectors = np.linalg.eigh(covariance)
    root = (vectors * np.sqrt(np.maximum(eigenvalues, 0.0))).T
    rng = np.random.default_rng(seed)
    for start in range(0, DRAWS, block):
        yield rng.standard_normal((min(block, DRAWS - start), len(root))) @ root


def _bounded(largest: Array, level: float, comparisons: int) -> float:
    simulated = float(np.quantile(largest, level))
    bonferroni = normal_quantile(1 - (1 - level) / comparisons)
    return min(max(simulated, normal_quantile(level)), bonferroni)


def _standard_errors(covariance: Array) -> Array:
    variance = np.diag(covariance)
    largest = variance.max(initial=0.0)
    return np.asarray(np.sqrt(np.where(variance > ROUNDING**2 * largest, variance, 0.0)))


def _difference_errors(covariance: Array) -> Array:
    variance = np.diag(covariance)
    total = variance[:, None] + variance[None, :]
    difference = total - 2 * covariance
    return np.asarray(np.sqrt(np.where(difference > ROUNDING * total, difference, 0.0)))


def _checked(covariance: Array, level: float) -> NDArray[np.float64]:
    require_level(level)
    covariance = np.asarray(covariance, dtype=float)
    if not np.isfinite(covariance).all():
        raise InputError(
            "The covariance of the shares has entries that are not finite numbers",
            got=int((~np.isfinite(covariance)).sum()),
            hint="Shares that are undefined cannot be ranked.",
        )
    return (covariance + covariance.T) / 2
