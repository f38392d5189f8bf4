"""Sampled shares converge at the right rate, and know how far off they are."""

from __future__ import annotations

import math

import numpy as np
import pytest
from shapley_games import (
    GAMES,
    brute_force,
    everything,
    interaction_game,
    membership,
    random_game,
)

from whygap.shapley import SubsetPlan, linear_weights, sampling_factor

SEEDS = 300


def spread_and_errors(players, count, games, seeds=SEEDS):
    """Per game the shares (seeds, p) and their mean sampling variances (p,)."""
    shares = np.empty((len(games), seeds, players))
    variance = np.zeros((len(games), players))
    for seed in range(seeds):
        subsets = SubsetPlan(players, seed).take(count)
        member = membership(subsets, players)
        weights = linear_weights(subsets, players)
        for row, game in enumerate(games):
            values = game(member)
            shares[row, seed] = weights @ values
            factor = sampling_factor(subsets, values, players)
            variance[row] += (factor**2).sum(axis=0) / seeds
    return shares, variance


@pytest.mark.parametrize(
    ("players", "count"),
    [(6, 40), (7, 64), (8, 100), (9, 160), (10, 200)],
)
def test_sampling_errors_match_the_spread_over_seeds(players, count):
    games = [make(players, seed=3) for make in GAMES.values()]
    shares, variance = spread_and_errors(players, count, games)
    for row, game in enumerate(games):
        spread = shares[row].var(axis=0, ddof=1)
        ratio = math.sqrt(variance[row].sum() / spread.sum())
        assert 0.85 < ratio < 1.15
        # One player's spread over 300 seeds is itself known to about 4%.
        each = np.sqrt(variance[row] / spread)
        assert each.min() > 0.85
        assert each.max() < 1.15
        bias = shares[row].mean(axis=0) - brute_force(game, players)
        # Regression estimates are biased in small samples, by much less than their spread.
        assert np.sqrt((bias**2).sum() / spread.sum()) < 0.4


def root_mean_square_errors(players, counts, game, seeds):
    truth = brute_force(game, players)
    errors = []
    for count in counts:
        squares = []
        for seed in range(seeds):
            subsets = SubsetPlan(players, seed).take(count)
            values = game(membership(subsets, players))
            share = linear_weights(subsets, players) @ values
            squares.append(np.mean((share - truth) ** 2))
        errors.append(math.sqrt(np.mean(squares)))
    return np.array(errors)


def test_games_without_structure_converge_like_the_square_root_of_the_count():
    counts = np.array([400, 800, 1600])
    errors = root_mean_square_errors(15, counts, random_game(15, seed=1), seeds=10)
    slope = np.polyfit(np.log(counts), np.log(errors), 1)[0]
    # A little faster than -1/2: the pairs of single players are a fixed cost, and no pair repeats.
    assert -0.75 < slope < -0.45


def test_games_with_structure_converge_faster():
    counts = np.array([100, 200, 400, 800])
    errors = root_mean_square_errors(12, counts, interaction_game(12, seed=1), seeds=15)
    slope = np.polyfit(np.log(counts), np.log(errors), 1)[0]
    assert -1.4 < slope < -0.6


def limit_of_sizes_drawn_with(chance, game, players):
    """What plain least squares on randomly drawn subsets converges to.

    `chance(k)` is proportional to the probability of drawing *size* k; sets of a size are equally
    likely, and the empty and the full set are fitted exactly.
    """
    member = everything(players)
    value = game(member)
    size = member.sum(axis=1).astype(int)
    inner = (size > 0) & (size < players)
    weight = np.array([chance(k) / math.comb(players, k) for k in size[inner]])
    share = member[inner].mean(axis=1, keepdims=True)
    total = value[-1] - value[0]
    root = np.sqrt(weight)
    design = root[:, None] * (member[inner] - share)
    answer = root * (value[inner] - value[0] - total * share[:, 0])
    return total / players + np.linalg.lstsq(design, answer, rcond=1e-9)[0]


def saturating_game(players):
    """Ever more players bring ever less: the plainest game that is not additive."""
    strength = np.arange(1, players + 1) / players
    return lambda member: 1 - np.exp(-member @ strength)


@pytest.mark.parametrize(("players", "off"), [(4, 0.02), (6, 0.2), (10, 2.0)])
def test_sizes_drawn_with_the_weight_of_single_subsets_do_not_converge_to_shapley(players, off):
    """The paper's code and vimpy draw sizes with probability 1 / C(p - 2, k - 1)."""
    game = saturating_game(players)
    truth = brute_force(game, players)
    right = limit_of_sizes_drawn_with(lambda k: 1 / (k * (players - k)), game, players)
    wrong = limit_of_sizes_drawn_with(lambda k: 1 / math.comb(players - 2, k - 1), game, players)
    assert np.abs(right - truth).max() < 1e-12
    assert np.abs(wrong / truth - 1).max() > off


def test_a_small_sample_with_the_right_weights_beats_any_sample_with_the_wrong_ones():
    players = 10
    game = saturating_game(players)
    truth = brute_force(game, players)
    subsets = SubsetPlan(players, seed=1).take(128)
    shares = linear_weights(subsets, players) @ game(membership(subsets, players))
    wrong = limit_of_sizes_drawn_with(lambda k: 1 / math.comb(players - 2, k - 1), game, players)
    assert np.abs(wrong - truth).max() > 10 * np.abs(shares - truth).max()
