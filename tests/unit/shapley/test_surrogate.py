"""The surrogate: its Shapley values in closed form, and leaving out a pair."""

from __future__ import annotations

import numpy as np
import pytest
from shapley_games import brute_force, everything, membership, random_game, table_game

from whygap.shapley import SubsetPlan
from whygap.shapley.pairs import Pairs
from whygap.shapley.solve import _least_squares
from whygap.shapley.surrogate import PRIOR, _odd_kernel, _shapley, krige


@pytest.mark.parametrize("players", [4, 7, 8])
def test_shapley_values_of_kernel_functions_equal_brute_force(players):
    terms = PRIOR.kernels(players)
    member = everything(players)
    chosen = member[[1, 6, 2**players - 3]]
    closed = _shapley(terms, chosen)
    for column, values in enumerate(_odd_kernel(terms, member, chosen).T):
        assert np.allclose(brute_force(table_game(values), players), closed[:, column], atol=1e-13)


def test_the_kernel_is_odd_and_a_covariance():
    member = everything(6)
    kernel = _odd_kernel(PRIOR.kernels(6), member, member)
    assert np.allclose(kernel, kernel.T)
    assert np.allclose(kernel[::-1], -kernel)
    assert np.linalg.eigvalsh(kernel).min() > -1e-12


def test_leaving_out_a_pair_is_fitting_without_it():
    players = 9
    subsets = SubsetPlan(players).take(80)
    pairs = Pairs.of(subsets, players)
    odd = pairs.odd_part(random_game(players, seed=1)(membership(subsets, players)))
    trend = _least_squares(pairs).trend
    fit = krige(pairs, trend)
    left_out = fit.left_out(odd)
    for pair in (0, 11, pairs.count - 1):
        noisy = odd.copy()
        noisy[pair] -= left_out[pair]
        # With its own prediction in its place, the pair has nothing to say.
        assert abs((fit.solve @ noisy)[pair]) < 1e-10
        assert abs(left_out[pair]) > 1e-3


def test_additive_games_leave_nothing_to_the_surrogate():
    players = 10
    subsets = SubsetPlan(players).take(100)
    pairs = Pairs.of(subsets, players)
    fit = krige(pairs, _least_squares(pairs).trend)
    slopes = np.random.default_rng(0).normal(size=players)
    odd = pairs.odd_part(2 + membership(subsets, players) @ slopes)
    assert np.abs(fit.solve @ odd).max() < 1e-8
