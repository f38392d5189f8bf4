"""From the values of subsets to Shapley values: one linear map, and its sampling error.

The Shapley values are the weighted least squares fit of an additive game to the game v, with
weight (p - 1) / (C(p, |s|) |s| (p - |s|)) for each subset s, that is total weight 1 / (k (p - k))
for each *size* k, and with the empty and the full set fitted exactly. Where a stratum of pairs
was sampled, each of its pairs stands for (pairs possible / pairs drawn) pairs.

Two corrections make the sampled fit far more precise and leave its limit alone: a curve in the
size of the subset is fitted along (it is orthogonal to the players in the whole population), and a
smooth surrogate's exact Shapley values replace its sampled ones (control variate).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from whygap.domains import Array, Subset
from whygap.shapley.pairs import Pairs
from whygap.shapley.surrogate import Kriging, krige

SURROGATE_PAIRS = 1500  # pairs the surrogate is fitted to, at most: its cost grows with their cube


def linear_weights(subsets: Sequence[Subset], players: int) -> Array:
    """The matrix A (players, subsets) with `phi = A @ values`; its columns are in stream order.

    Exact when all 2^p subsets are given. Its columns sum to 1 for the full set, -1 for the empty
    set and 0 for all others: the shares always add up.
    """
    if len(subsets) == 1 << players:
        return _exact_weights(subsets, players)
    return Pairs.on_subsets(_fit(tuple(subsets), players).weights)


def sampling_factor(subsets: Sequence[Subset], values: Array, players: int) -> Array:
    """Factor F (k, players): `F.T @ F` is the covariance of `phi` due to sampling subsets.

    A stratified jackknife that leaves out one complementary pair at a time, with the correction
    for draws without replacement: enumerated strata add nothing, and F has no rows when every
    subset was valued.
    """
    if len(subsets) == 1 << players:
        return np.zeros((0, players))
    fit = _fit(tuple(subsets), players)
    odd = Pairs.odd_part(np.asarray(values, dtype=float))
    shifts = (fit.weights[:, :-1] * fit.left_out(odd)).T
    blocks = [_stratum_factor(shifts, fit.pairs, k) for k in np.unique(fit.pairs.stratum)]
    return _compress(np.concatenate(blocks))


@dataclass(frozen=True, slots=True, eq=False)
class _LeastSquares:
    """Weights (p, n + 1) of the odd parts in the slopes; each pair's leverage (n,); the trend."""

    weights: Array
    leverage: Array
    trend: Array
    coefficients: Array

    def residual(self, odd: Array) -> Array:
        """What the fit leaves of each pair (n,)."""
        return np.asarray((odd - self.trend @ (self.coefficients @ odd))[:-1])


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """The whole linear map, and what is needed to leave out a pair."""

    pairs: Pairs
    weights: Array
    least_squares: _LeastSquares
    kriging: Kriging

    def left_out(self, odd: Array) -> Array:
        """Error (n,) of predicting each pair from the others."""
        used = len(self.kriging.basis) - 1
        head = _head(odd, used)
        early = self.kriging.left_out(head)
        if used == self.pairs.count:
            return early
        surrogate = self.kriging.at(self.pairs.with_full) @ (self.kriging.solve @ head)
        late = self.least_squares.residual(odd - surrogate) / (1 - self.least_squares.leverage)
        return np.concatenate([early, late[used:]])


@lru_cache(maxsize=4)
def _fit(subsets: tuple[Subset, ...], players: int) -> _Fit:
    pairs = Pairs.of(subsets, players)
    fit = _least_squares(pairs)
    used = min(pairs.count, SURROGATE_PAIRS)
    kriging = krige(pairs.first(used), _head(fit.trend, used))
    # Shapley of the surrogate, exact instead of sampled: phi = A (odd - h) + shapley(h).
    replaced = kriging.shapley - fit.weights @ kriging.at(pairs.with_full)
    correction = replaced @ kriging.solve
    weights = fit.weights.copy()
    weights[:, :used] += correction[:, :-1]
    weights[:, -1] += correction[:, -1]
    weights -= weights.mean(axis=0)
    weights[:, -1] += 2 / players
    return _Fit(pairs, weights, fit, kriging)


def _least_squares(pairs: Pairs) -> _LeastSquares:
    """Slopes that sum to v(full) - v(empty), with a curve in the size fitted along."""
    share = pairs.member.mean(axis=1, keepdims=True)
    centred = pairs.member - share
    curve = _size_curve(share, pairs.players)
    root = np.sqrt(pairs.weight)[:, None]
    design = root * np.concatenate([centred, curve], axis=1)
    solved = np.linalg.pinv(design, rcond=1e-9)  # centred players sum to zero but for rounding
    inner = solved * root.T
    # Slopes are total / p each, plus deviations that sum to zero; odd part of full is total / 2.
    coefficients = np.concatenate([inner, -inner @ (2 * share - 1)], axis=1)
    coefficients[: pairs.players, -1] += 2 / pairs.players
    full = np.concatenate([np.full((1, pairs.players), 0.5), np.zeros((1, curve.shape[1]))], axis=1)
    trend = np.concatenate([np.concatenate([pairs.member - 0.5, curve], axis=1), full])
    leverage = np.minimum(np.einsum("nq,qn->n", design, solved), 0.9)
    return _LeastSquares(coefficients[: pairs.players], leverage, trend, coefficients)


def _size_curve(share: Array, players: int) -> Array:
    """Odd powers of the size (the first is additive already), where sizes are enough for them."""
    powers = (3, 5) if players >= 7 else ()
    return np.concatenate(
        [np.zeros((len(share), 0)), *((share - 0.5) ** k for k in powers)], axis=1
    )


def _head(rows: Array, count: int) -> Array:
    return np.concatenate([rows[:count], rows[-1:]])


def _exact_weights(subsets: Sequence[Subset], players: int) -> Array:
    """Shapley's own formula, every subset present."""
    joined = [1 / (players * math.comb(players - 1, k)) for k in range(players)]
    weights = np.empty((players, len(subsets)))
    for column, subset in enumerate(subsets):
        weights[:, column] = -joined[len(subset)] if len(subset) < players else 0.0
        weights[list(subset), column] = joined[len(subset) - 1]
    return weights


def _stratum_factor(shifts: Array, pairs: Pairs, stratum: int) -> Array:
    """Jackknife factor of one stratum: shifts (n, p) of phi when a pair is left out."""
    chosen = pairs.stratum == stratum
    drawn, possible = float(chosen.sum()), float(pairs.possible[chosen][0])
    if drawn == possible:
        return np.zeros((0, pairs.players))
    mine = shifts[chosen]
    scale = math.sqrt((1 - drawn / possible) * (drawn - 1) / drawn)
    return np.asarray(scale * (mine - mine.mean(axis=0)))


def _compress(factor: Array) -> Array:
    """The same `F.T @ F` in at most p rows."""
    if factor.shape[0] <= factor.shape[1]:
        return factor
    return np.asarray(np.linalg.qr(factor, mode="r"))
