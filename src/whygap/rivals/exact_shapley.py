"""Shapley values of a game whose every subset is known."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import comb

import numpy as np

from whygap.domains import Array

__all__ = ["all_subsets", "shapley_matrix", "shapley_values"]

Subset = tuple[int, ...]


def all_subsets(players: int) -> list[Subset]:
    """All subsets of 0..players-1, small ones first."""
    return [s for size in range(players + 1) for s in combinations(range(players), size)]


def shapley_matrix(players: int) -> Array:
    """The matrix that maps the values of `all_subsets` to the players' shares."""
    subsets = all_subsets(players)
    place = {subset: i for i, subset in enumerate(subsets)}
    matrix = np.zeros((players, len(subsets)))
    for subset, i in place.items():
        for player in set(range(players)) - set(subset):
            weight = 1.0 / (players * comb(players - 1, len(subset)))
            matrix[player, place[tuple(sorted((*subset, player)))]] += weight
            matrix[player, i] -= weight
    return matrix


def shapley_values(
    players: int, value: Callable[[Subset], float], orders: int | None, rng: np.random.Generator
) -> Array:
    """Exact shares, or their mean over random orders of the players (each with its reverse)."""
    if orders is None:
        return np.asarray(shapley_matrix(players) @ [value(s) for s in all_subsets(players)])
    known: dict[Subset, float] = {}

    def remembered(subset: Subset) -> float:
        if subset not in known:
            known[subset] = value(subset)
        return known[subset]

    total = np.zeros(players)
    for _ in range(orders):
        order = rng.permutation(players)
        for direction in (order, order[::-1]):
            for place, player in enumerate(direction):
                before = tuple(sorted(direction[:place].tolist()))
                after = tuple(sorted(direction[: place + 1].tolist()))
                total[player] += remembered(after) - remembered(before)
    return total / (2 * orders)
