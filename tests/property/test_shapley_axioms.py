"""Shapley's axioms, for any game."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from shapley_games import brute_force, everything, membership, table_game

from whygap.shapley import SubsetPlan, linear_weights, sampling_factor
from whygap.shapley.inference import rank_intervals

NUMBER = st.floats(-100, 100, allow_subnormal=False)


@st.composite
def games(draw, smallest=1, largest=7):
    players = draw(st.integers(smallest, largest))
    values = draw(hnp.arrays(float, 1 << players, elements=NUMBER))
    return players, values


@st.composite
def samples(draw):
    players = draw(st.integers(6, 14))
    seed = draw(st.integers(0, 1000))
    subsets = SubsetPlan(players, seed).take(draw(st.integers(1, 200)))
    return players, subsets


def shares(values, players, seed=0):
    subsets = SubsetPlan(players, seed).take(1 << players)
    game = table_game(values)
    return linear_weights(subsets, players) @ game(membership(subsets, players))


@settings(deadline=None)
@given(games(), st.integers(0, 50))
def test_exact_shares_equal_brute_force_whatever_the_order(game, seed):
    players, values = game
    expected = brute_force(table_game(values), players)
    assert np.allclose(shares(values, players, seed), expected, rtol=0, atol=1e-10)


@settings(deadline=None)
@given(games())
def test_efficiency(game):
    players, values = game
    assert np.isclose(shares(values, players).sum(), values[-1] - values[0], rtol=0, atol=1e-10)


@settings(deadline=None)
@given(games(smallest=2), st.data())
def test_symmetry(game, data):
    players, values = game
    first, second = data.draw(st.permutations(range(players)))[:2]
    member = everything(players)
    swapped = member.copy()
    swapped[:, [first, second]] = member[:, [second, first]]
    symmetric = (values + table_game(values)(swapped)) / 2
    result = shares(symmetric, players)
    assert np.isclose(result[first], result[second], rtol=0, atol=1e-10)


@settings(deadline=None)
@given(games(smallest=2), st.data(), NUMBER)
def test_a_dummy_player_gets_what_it_brings_alone(game, data, alone):
    players, values = game
    dummy = data.draw(st.integers(0, players - 1))
    member = everything(players)
    without = member.copy()
    without[:, dummy] = 0
    with_dummy = table_game(values)(without) + alone * member[:, dummy]
    assert np.isclose(shares(with_dummy, players)[dummy], alone, rtol=0, atol=1e-10)


@settings(deadline=None)
@given(games(largest=6), st.data(), NUMBER)
def test_linearity(game, data, factor):
    players, values = game
    other = data.draw(hnp.arrays(float, len(values), elements=NUMBER))
    together = shares(values + factor * other, players)
    apart = shares(values, players) + factor * shares(other, players)
    assert np.allclose(together, apart, rtol=1e-9, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(samples(), st.data())
def test_sampled_shares_add_up_and_additive_games_are_exact(sample, data):
    players, subsets = sample
    member = membership(subsets, players)
    slopes = data.draw(hnp.arrays(float, players, elements=NUMBER))
    weights = linear_weights(subsets, players)
    values = member @ slopes + 7
    assert np.allclose(weights @ values, slopes, rtol=0, atol=1e-7)
    expected = np.zeros(len(subsets))
    expected[:2] = [-1, 1]
    assert np.allclose(weights.sum(axis=0), expected, rtol=0, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(samples(), st.integers(0, 99), NUMBER)
def test_sampling_errors_scale_with_the_game_and_ignore_its_additive_part(sample, seed, factor):
    players, subsets = sample
    rng = np.random.default_rng(seed)
    values = rng.normal(size=len(subsets))
    additive = membership(subsets, players) @ rng.normal(size=players)
    plain = sampling_factor(subsets, values, players)
    moved = sampling_factor(subsets, factor * values + additive, players)
    covariance = plain.T @ plain
    scale = factor**2 + 1
    assert np.allclose(moved.T @ moved, factor**2 * covariance, rtol=1e-6, atol=1e-7 * scale)
    assert np.allclose(covariance.sum(axis=0), 0, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 8), st.integers(0, 999))
def test_rank_intervals_contain_the_observed_ranks(players, seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=players)
    loading = rng.normal(size=(players, rng.integers(1, players + 1)))
    ranks = rank_intervals(values, loading @ loading.T, 0.9)
    observed = 1 + (values[:, None] < values[None, :]).sum(axis=1)
    assert (ranks[:, 0] <= observed).all()
    assert (observed <= ranks[:, 1]).all()
