"""Complementary pairs: what Shapley values really see of a game.

Shapley values depend on a game v only through its odd part (v(s) - v(not s)) / 2: one number per
pair of a set and its complement. A pair is written here as one of its two sets (a row of 0 and 1),
and the pair (full, empty) stands last.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whygap.domains import Array, IntArray, Subset
from whygap.errors import InputError
from whygap.shapley.subsets import SubsetPlan, pairs_of_size


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """The pairs of a stratified sample of subsets; n pairs beside (full, empty), p players."""

    member: Array  # (n, p), 1 where a player belongs to the pair's first set
    stratum: IntArray  # (n,), the size of the pair's smaller set
    drawn: Array  # (n,), how many pairs of its stratum were drawn
    possible: Array  # (n,), how many there are
    weight: Array  # (n,), kernel weight times possible / drawn, summing to 1

    @classmethod
    def of(cls, subsets: Sequence[Subset], players: int) -> Pairs:
        """Pairs of subsets in stream order: empty, full, then complementary pairs."""
        member = _membership(subsets, players)[2::2]
        size = member.sum(axis=1).astype(np.int64)
        stratum = np.minimum(size, players - size)
        drawn = np.bincount(stratum, minlength=1)[stratum].astype(float)
        possible = np.array([float(pairs_of_size(players, int(k))) for k in stratum])
        sets = np.array([float(math.comb(players, int(k))) for k in stratum])
        weight = possible / (drawn * sets * stratum * (players - stratum))
        return cls(member, stratum, drawn, possible, weight / weight.sum())

    @property
    def count(self) -> int:
        """Number of pairs, (full, empty) not counted."""
        return len(self.member)

    @property
    def players(self) -> int:
        """Number of players."""
        return int(self.member.shape[1])

    @property
    def with_full(self) -> Array:
        """Membership (n + 1, p) with the full set last."""
        return np.concatenate([self.member, np.ones((1, self.players))])

    def first(self, count: int) -> Pairs:
        """The first pairs, with the weights of all."""
        cut = slice(count)
        kept = (self.member[cut], self.stratum[cut], self.drawn[cut], self.possible[cut])
        return Pairs(*kept, self.weight[cut] / self.weight[cut].sum())

    @staticmethod
    def odd_part(values: Array) -> Array:
        """(n + 1,) odd part of the subsets' values: the pairs', then that of (full, empty)."""
        half = (values[::2] - values[1::2]) / 2
        return np.append(half[1:], -half[0])

    @staticmethod
    def on_subsets(weights: Array) -> Array:
        """Weights (p, n + 1) of odd parts as weights (p, 2n + 2) of subset values."""
        half = np.concatenate([-weights[:, -1:], weights[:, :-1]], axis=1) / 2
        return np.stack([half, -half], axis=2).reshape(len(half), -1)


def _membership(subsets: Sequence[Subset], players: int) -> Array:
    member = np.zeros((len(subsets), players))
    for row, subset in enumerate(subsets):
        member[row, list(subset)] = 1.0
    paired = len(subsets) % 2 == 0 and np.all(member[::2] + member[1::2] == 1)
    if len(subsets) < SubsetPlan(players).smallest or not paired or member[0].any():
        raise InputError(
            "Subsets must be the empty set, the full set, then enough complementary pairs",
            got=f"{len(subsets)} subsets of {players} players",
            hint="Take them from SubsetPlan(players, seed).take(count).",
        )
    return member
