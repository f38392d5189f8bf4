"""Beside the shapiq package: the same exact shares, and no larger sampling errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapiq
from shapley_games import (
    brute_force,
    explained_variance_game,
    interaction_game,
    membership,
    random_game,
)

from whygap.shapley import SubsetPlan, linear_weights

SEEDS = 6


def ours(game, players, count, seed=0):
    subsets = SubsetPlan(players, seed).take(count)
    return linear_weights(subsets, players) @ game(membership(subsets, players))


def theirs(sampler, game, players, count):
    found = sampler.approximate(count, lambda member: game(np.atleast_2d(member).astype(float)))
    return np.array([found.dict_values.get((player,), 0.0) for player in range(players)])


@pytest.mark.parametrize("players", range(1, 11))
def test_exact_shares_are_equal(players):
    game = random_game(players, seed=2)
    exact = shapiq.ExactComputer(lambda member: game(np.asarray(member, float)), players)("SV")
    expected = [exact[(player,)] for player in range(players)]
    assert np.allclose(ours(game, players, 2**players), expected, rtol=0, atol=1e-12)


def error(shares, truth):
    return math.sqrt(np.mean([(share - truth) ** 2 for share in shares]))


@pytest.mark.parametrize("make", [explained_variance_game, interaction_game])
@pytest.mark.parametrize("count", [256, 1024])
def test_sampling_errors_are_no_larger(make, count):
    """`python benchmarks/shapley_sampling.py` prints the table of 12, 20 and 31 players."""
    players = 12
    game = make(players, seed=8)
    truth = brute_force(game, players)
    flat = np.ones(players + 1)
    rivals = {"leverage": {"sampling_weights": flat}, "kernel": {}}
    best = min(
        error(
            [
                theirs(
                    shapiq.KernelSHAP(players, pairing_trick=True, random_state=seed, **options),
                    game,
                    players,
                    count,
                )
                for seed in range(SEEDS)
            ],
            truth,
        )
        for options in rivals.values()
    )
    mine = error([ours(game, players, count, seed) for seed in range(SEEDS)], truth)
    assert mine <= best
