"""Games with known Shapley values, for the tests of `whygap.shapley`."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

Game = Callable[[np.ndarray], np.ndarray]


def membership(subsets, players):
    """Rows of 0 and 1, one per subset."""
    member = np.zeros((len(subsets), players))
    for row, subset in enumerate(subsets):
        member[row, list(subset)] = 1
    return member


def everything(players):
    """All 2^p subsets as rows; row r has the binary digits of r."""
    return ((np.arange(1 << players)[:, None] >> np.arange(players)) & 1).astype(float)


def table_game(values):
    """The game whose value at a subset is read from a table in binary order."""
    players = int(math.log2(len(values)))
    digits = 1 << np.arange(players)
    return lambda member: values[(member @ digits).astype(int)]


def random_game(players, seed):
    """Independent normal values: no structure whatsoever."""
    return table_game(np.random.default_rng([seed, players]).normal(size=1 << players))


def interaction_game(players, seed, terms=60, largest=5):
    """Random main effects and random interactions of up to `largest` players."""
    rng = np.random.default_rng([seed, players, 1])
    rows = np.zeros((terms + players, players))
    for row in range(terms):
        size = rng.integers(1, min(largest, players) + 1)
        rows[row, rng.choice(players, size, replace=False)] = 1
    rows[terms:] = np.eye(players)
    effect = rng.normal(size=len(rows)) * 0.6 ** rows.sum(axis=1)
    return lambda member: (member @ rows.T >= rows.sum(axis=1)) @ effect


def explained_variance_game(players, seed, factors=4):
    """R^2 of a linear model with correlated features: what whygap's games look like."""
    rng = np.random.default_rng([seed, players, 2])
    loading = rng.normal(size=(players, factors))
    covariance = loading @ loading.T / factors + np.eye(players) / 2
    slope = rng.exponential(size=players) * rng.choice([-1, 1], players)
    joint = covariance @ slope

    def value(member):
        masked = covariance * member[:, :, None] * member[:, None, :]
        index = np.arange(players)
        masked[:, index, index] += 1 - member
        right = joint * member
        solved = np.linalg.solve(masked, right[..., None])[..., 0]
        return (right * solved).sum(axis=1) / (slope @ joint)

    return value


def brute_force(game, players):
    """Shapley's sum over all subsets, player by player, in the plainest way."""
    member = everything(players)
    value = game(member)
    size = member.sum(axis=1).astype(int)
    shapley = np.zeros(players)
    for player in range(players):
        for row in np.flatnonzero(member[:, player] == 0):
            chance = math.factorial(size[row]) * math.factorial(players - size[row] - 1)
            gain = value[row + (1 << player)] - value[row]
            shapley[player] += chance / math.factorial(players) * gain
    return shapley


GAMES = {
    "random": random_game,
    "interactions": interaction_game,
    "explained variance": explained_variance_game,
}
