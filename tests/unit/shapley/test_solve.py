"""The linear map from subset values to Shapley values."""

from __future__ import annotations

import numpy as np
import pytest
import shapiq
from shapley_games import GAMES, brute_force, interaction_game, membership, random_game

from whygap.domains import ByDomain
from whygap.errors import InputError
from whygap.estimate import Estimate, Sample
from whygap.estimate.combine import linear_map
from whygap.shapley import SubsetPlan, linear_weights, sampling_factor, solve
from whygap.shapley.pairs import Pairs
from whygap.shapley.solve import _fit


@pytest.mark.parametrize("players", range(1, 11))
def test_exact_shares_equal_brute_force(players):
    game = random_game(players, seed=1)
    subsets = SubsetPlan(players).take(2**players)
    shares = linear_weights(subsets, players) @ game(membership(subsets, players))
    assert np.abs(shares - brute_force(game, players)).max() < 1e-12


@pytest.mark.parametrize("players", [2, 5, 8])
def test_exact_shares_equal_those_of_shapiq(players):
    game = random_game(players, seed=2)
    theirs = shapiq.ExactComputer(lambda member: game(np.asarray(member, float)), players)("SV")
    subsets = SubsetPlan(players).take(2**players)
    shares = linear_weights(subsets, players) @ game(membership(subsets, players))
    expected = [theirs[(player,)] for player in range(players)]
    assert np.allclose(shares, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("players", range(6, 11))
def test_the_sampled_solver_given_every_subset_is_exact(players):
    game = random_game(players, seed=3)
    subsets = SubsetPlan(players).take(2**players)
    weights = Pairs.on_subsets(_fit(subsets, players).weights)
    shares = weights @ game(membership(subsets, players))
    assert np.abs(shares - brute_force(game, players)).max() < 1e-10


def test_games_of_single_players_and_pairs_need_no_luck():
    players = 20
    rng = np.random.default_rng(0)
    main, joint = rng.normal(size=players), rng.normal(size=(players, players))
    joint = np.triu(joint, 1)
    subsets = SubsetPlan(players, seed=4).take(1)
    member = membership(subsets, players)
    values = 3 + member @ main + np.einsum("mi,ij,mj->m", member, joint, member)
    truth = main + (joint.sum(axis=0) + joint.sum(axis=1)) / 2
    assert np.abs(linear_weights(subsets, players) @ values - truth).max() < 1e-9
    assert np.abs(sampling_factor(subsets, values, players)).max() < 1e-9


@pytest.mark.parametrize(("players", "count"), [(7, 60), (12, 256), (31, 300), (80, 700)])
def test_sampled_shares_add_up(players, count):
    subsets = SubsetPlan(players).take(count)
    values = np.random.default_rng(1).normal(size=len(subsets))
    shares = linear_weights(subsets, players) @ values
    assert abs(shares.sum() - (values[1] - values[0])) < 1e-12


@pytest.mark.parametrize("name", GAMES)
def test_sampled_shares_come_close(name):
    players = 12
    game = GAMES[name](players, seed=5)
    subsets = SubsetPlan(players, seed=1).take(1024)
    values = game(membership(subsets, players))
    shares = linear_weights(subsets, players) @ values
    errors = np.sqrt((sampling_factor(subsets, values, players) ** 2).sum(axis=0))
    distance = (shares - brute_force(game, players)) / errors
    assert np.abs(distance).max() < 4
    assert 0.4 < np.sqrt(np.mean(distance**2)) < 1.8


def test_pairs_beyond_the_surrogate_are_used_too(monkeypatch):
    monkeypatch.setattr(solve, "SURROGATE_PAIRS", 200)
    players = 11
    game = interaction_game(players, seed=6)
    subsets = SubsetPlan(players, seed=99).take(1200)
    values = game(membership(subsets, players))
    shares = linear_weights(subsets, players) @ values
    factor = sampling_factor(subsets, values, players)
    early = sampling_factor(subsets[:402], values[:402], players)
    errors = np.sqrt((factor**2).sum(axis=0))
    assert np.abs((shares - brute_force(game, players)) / errors).max() < 4
    assert (factor**2).sum() < 0.5 * (early**2).sum()
    assert abs(shares.sum() - (values[1] - values[0])) < 1e-12


def test_no_sampling_error_when_every_subset_was_valued():
    for players in (1, 2, 3, 7):
        subsets = SubsetPlan(players).take(2**players)
        values = np.random.default_rng(0).normal(size=len(subsets))
        assert sampling_factor(subsets, values, players).shape == (0, players)


def test_one_player_gets_everything():
    subsets = SubsetPlan(1).take(2)
    assert linear_weights(subsets, 1).tolist() == [[-1.0, 1.0]]


def test_factor_travels_with_estimates():
    players = 8
    subsets = SubsetPlan(players).take(80)
    values = random_game(players, seed=7)(membership(subsets, players))
    rows = ByDomain(40, 30)
    sample = Sample.of(rows)
    rng = np.random.default_rng(0)
    estimates = [
        Estimate.from_contributions(sample, source=value + rng.normal(size=40), target=np.zeros(30))
        for value in values
    ]
    values = np.array([estimate.value for estimate in estimates])
    factor = sampling_factor(subsets, values, players)
    shares = linear_map(linear_weights(subsets, players), estimates, draws=factor)
    errors = [share.sampling_error for share in shares]
    assert np.allclose(errors, np.sqrt((factor**2).sum(axis=0)), rtol=1e-12)
    total = sum(shares[1:], start=shares[0])
    assert abs(total.sampling_error) < 1e-12
    assert abs(total.standard_error - (estimates[1] - estimates[0]).standard_error) < 1e-12


def test_subsets_that_are_no_prefix_of_a_stream_are_refused():
    message = (
        "Subsets must be the empty set, the full set, then enough complementary pairs. "
        "Got {} subsets of 8 players. Take them from SubsetPlan(players, seed).take(count)."
    )
    subsets = SubsetPlan(8).take(80)
    for wrong in (subsets[:20], subsets[1:], (*subsets[:-1], (0,))):
        with pytest.raises(InputError) as caught:
            linear_weights(wrong, 8)
        assert str(caught.value) == message.format(len(wrong))
