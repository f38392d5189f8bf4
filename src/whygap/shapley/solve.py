"""From the values of subsets to Shapley values: one linear map, and its sampling error.

The Shapley values are the weighted least squares fit of an additive game to the game v, with
weight (p - 1) / (C(p, |s|) |s| (p - |s|)) for each subset s, that is total weight 1 / (k (p - k))
for each *size* k, and with the empty and the full set fitted exactly. Where a stratum of pairs
was sampled, each of its pairs stands for (pairs possible / pairs drawn) pairs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whygap.domains import Array, IntArray
from whygap.errors import InputError
from whygap.shapley.subsets import Subset, pairs_of_size

__all__ = ["linear_weights", "sampling_factor"]


def linear_weights(subsets: Sequence[Subset], players: int) -> Array:
    """The matrix A (players, subsets) with `phi = A @ values`; its columns are in stream order."""
    member = _membership(subsets, players)
    if len(subsets) == 2**players:
        return _exact_weights(member)
    return _fit(member).weights


def sampling_factor(subsets: Sequence[Subset], values: Array, players: int) -> Array:
    """Factor F (k, players): `F.T @ F` is the covariance of `phi` due to sampling subsets.

    Pairs are the sampling units, drawn without replacement within their stratum: enumerated
    strata add nothing, and F has no rows when every subset was valued.
    """
    member = _membership(subsets, players)
    if len(subsets) == 2**players:
        return np.zeros((0, players))
    fit = _fit(member)
    residual = values - fit.fitted(np.asarray(values, dtype=float))
    errors = fit.pair_errors(residual)
    blocks = [_stratum_factor(errors[fit.size == k], players, k) for k in np.unique(fit.size)]
    return _compress(np.concatenate(blocks))


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """The least squares fit: A, membership (m, p), and the stratum of each pair."""

    weights: Array
    member: Array
    size: IntArray
    leverage: Array

    def fitted(self, values: Array) -> Array:
        """The additive game's values at the subsets."""
        return np.asarray(values[0] + self.member @ (self.weights @ values))

    def pair_errors(self, residual: Array) -> Array:
        """Each pair's part in `phi`, (pairs, p), with the optimism of the fit taken out."""
        parts = self.weights[:, 2:] * residual[2:]
        return np.asarray((parts[:, ::2] + parts[:, 1::2]).T / (1 - self.leverage)[:, None])


def _membership(subsets: Sequence[Subset], players: int) -> Array:
    member = np.zeros((len(subsets), players))
    for row, subset in enumerate(subsets):
        member[row, list(subset)] = 1.0
    paired = len(subsets) % 2 == 0 and np.all(member[::2] + member[1::2] == 1)
    if len(subsets) < 2 or not paired or member[0].any():
        raise InputError(
            "Subsets must be the empty set, the full set, then complementary pairs",
            got=f"{len(subsets)} subsets that are not",
            hint="Take them from SubsetPlan(players, seed).take(count).",
        )
    return member


def _exact_weights(member: Array) -> Array:
    """Shapley's own formula, every subset present."""
    players = member.shape[1]
    size = member.sum(axis=1).astype(int)
    joined = np.array([0.0] + [1 / (players * math.comb(players - 1, k)) for k in range(players)])
    left = np.append(joined[1:], 0.0)
    return np.asarray(np.where(member.T == 1, joined[size], -left[size]))


def _fit(member: Array) -> _Fit:
    """Constrained weighted least squares: slopes that sum to v(full) - v(empty)."""
    players = member.shape[1]
    size = member[2::2].sum(axis=1).astype(np.int64)
    size = np.minimum(size, players - size)
    drawn = np.bincount(size, minlength=players // 2 + 1)
    per_pair = np.array([_pair_weight(players, int(k), int(drawn[k])) for k in size])
    weight = np.repeat(per_pair, 2)
    # Slopes are (v(full) - v(empty)) / p each, plus deviations that sum to zero.
    share = member[2:].mean(axis=1, keepdims=True)
    centred = member[2:] - share
    root = np.sqrt(weight)[:, None]
    solved = np.linalg.pinv(root * centred)
    deviations = solved * root.T
    start = -deviations @ (1 - share) - 1 / players
    stop = -deviations @ share + 1 / players
    weights = np.concatenate([start, stop, deviations], axis=1)
    single = np.einsum("mp,pm->m", root * centred, solved)
    leverage = np.minimum(single[::2] + single[1::2], 0.9)
    return _Fit(weights, member, size, leverage)


def _pair_weight(players: int, size: int, drawn: int) -> float:
    stands_for = pairs_of_size(players, size) / drawn
    return stands_for / (math.comb(players, size) * size * (players - size))


def _stratum_factor(errors: Array, players: int, size: int) -> Array:
    drawn, possible = len(errors), pairs_of_size(players, int(size))
    if drawn == possible:
        return np.zeros((0, players))
    if drawn < 2:
        return errors
    scale = math.sqrt((1 - drawn / possible) * drawn / (drawn - 1))
    return np.asarray(scale * (errors - errors.mean(axis=0)))


def _compress(factor: Array) -> Array:
    """The same `F.T @ F` in at most p rows."""
    if factor.shape[0] <= factor.shape[1]:
        return factor
    return np.asarray(np.linalg.qr(factor, mode="r"))
