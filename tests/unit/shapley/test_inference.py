"""Inference for many shares at once."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy import optimize, special, stats

from whygap.errors import InputError
from whygap.estimate import Estimate
from whygap.shapley.inference import (
    adjusted_p_values,
    max_t_quantile,
    may_be_first,
    rank_intervals,
    simultaneous_intervals,
)


def covariance(players, seed=0, scale=1.0):
    loading = np.random.default_rng([seed, players]).normal(size=(players, players + 3))
    return scale * loading @ loading.T / (players + 3)


def estimates(values, matrix):
    return [Estimate(v, e) for v, e in zip(values, np.sqrt(np.diag(matrix)), strict=True)]


def two_sided(z):
    return 2 * special.ndtr(-np.abs(z))


def test_one_share_needs_no_adjustment():
    z = special.ndtri(0.975)
    assert max_t_quantile(np.array([[4.0]]), 0.95) == z
    (bounds,) = simultaneous_intervals([Estimate(1.0, 2.0)], [[4.0]], 0.95)
    assert bounds == pytest.approx((1 - 2 * z, 1 + 2 * z))
    assert rank_intervals([1.0], [[4.0]], 0.95).tolist() == [[1, 1]]
    for method in ("holm", "max_t"):
        assert np.allclose(adjusted_p_values([3.0], [[4.0]], method), two_sided(1.5), atol=0.01)


def test_quantile_of_independent_shares_is_sidaks():
    players, level = 12, 0.9
    sidak = special.ndtri(0.5 + level ** (1 / players) / 2)
    assert abs(max_t_quantile(np.diag(np.arange(1.0, 13.0)), level) - sidak) < 0.02


def test_quantile_of_identical_shares_is_that_of_one():
    one = special.ndtri(0.95)
    assert abs(max_t_quantile(np.ones((5, 5)), 0.9) - one) < 0.02


def test_quantile_of_two_shares_equals_the_bivariate_normal():
    correlation, level = 0.6, 0.95
    square = [[1, correlation], [correlation, 1]]
    q = max_t_quantile(4.0 * np.array(square), level)
    inside = stats.multivariate_normal(cov=square).cdf([q, q], lower_limit=[-q, -q])
    assert abs(inside - level) < 0.004


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_quantile_lies_between_one_t_and_bonferroni(level):
    q = max_t_quantile(covariance(20), level)
    assert special.ndtri(0.5 + level / 2) <= q <= special.ndtri(1 - (1 - level) / 40)


def test_shares_that_are_far_apart_have_one_rank_each():
    values = np.array([0.2, 0.9, 0.5, 0.7])
    ranks = rank_intervals(values, 1e-6 * covariance(4), 0.95)
    assert ranks.tolist() == [[4, 4], [1, 1], [3, 3], [2, 2]]


def test_shares_that_cannot_be_told_apart_have_all_ranks():
    ranks = rank_intervals(np.array([0.1, 0.2, 0.15]), covariance(3), 0.95)
    assert ranks.tolist() == [[1, 3]] * 3


def test_correlation_tells_shares_apart_that_intervals_would_not():
    together = 0.99 * np.ones((2, 2)) + 0.01 * np.eye(2)
    values = np.array([0.0, 0.5])
    assert rank_intervals(values, together, 0.95).tolist() == [[2, 2], [1, 1]]
    assert rank_intervals(values, np.eye(2), 0.95).tolist() == [[1, 2], [1, 2]]


def test_pairwise_critical_value_is_tukeys_for_equal_independent_shares():
    players, level = 6, 0.95
    critical = stats.studentized_range.ppf(level, players, np.inf)
    values = np.zeros(players)
    values[0] = critical * 1.02
    assert rank_intervals(values, np.eye(players), level)[0].tolist() == [1, 1]
    values[0] = critical * 0.98
    assert rank_intervals(values, np.eye(players), level)[0].tolist() == [1, players]


def test_first_place_of_equal_independent_shares_is_dunnetts():
    """One candidate against eleven: Dunnett's one-sided quantile, normal."""
    level, players = 0.95, 12
    correlation = 0.5 * (np.ones((players - 1,) * 2) + np.eye(players - 1))
    dunnett = stats.multivariate_normal(cov=correlation, seed=0)
    critical = optimize.brentq(lambda q: dunnett.cdf(np.full(players - 1, q)) - level, 2, 3.5)
    values = np.zeros(players)
    values[0] = 1.02 * critical * np.sqrt(2)
    assert may_be_first(values, np.eye(players), level).tolist() == [True, *[False] * 11]
    values[0] = 0.98 * critical * np.sqrt(2)
    assert may_be_first(values, np.eye(players), level).all()


def test_first_place_has_students_tails():
    values = np.array([4.0, 0.0])
    assert may_be_first(values, np.eye(2), 0.99).tolist() == [True, False]
    assert may_be_first(values, np.eye(2), 0.99, np.array([3.0, 50.0])).all()
    assert rank_intervals(values, np.eye(2), 0.95).tolist() == [[1, 1], [2, 2]]
    assert rank_intervals(values, np.eye(2), 0.95, np.array([3.0, 50.0])).tolist() == [[1, 2]] * 2


def test_first_place_of_known_and_of_single_shares():
    nothing = np.zeros((3, 3))
    assert may_be_first([0.3, 0.3, 0.1], nothing, 0.9).tolist() == [True, True, False]
    assert may_be_first([0.3], [[1.0]], 0.9).tolist() == [True]
    mixed = np.diag([0.0, 0.01, 0.0])
    assert may_be_first([1.0, 0.9, 0.5], mixed, 0.95).tolist() == [True, True, False]
    assert may_be_first([1.0, 0.5, 0.5], mixed, 0.95).tolist() == [True, False, False]


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9, 0.99])
def test_the_largest_may_always_be_first(level):
    values = np.arange(6.0)
    assert may_be_first(values, covariance(6), level)[-1]


def test_known_shares_are_points():
    values = np.array([0.3, 0.3, 0.1])
    nothing = np.zeros((3, 3))
    assert rank_intervals(values, nothing, 0.9).tolist() == [[1, 2], [1, 2], [3, 3]]
    bounds = simultaneous_intervals(estimates(values, nothing), nothing, 0.9)
    assert bounds == [(value, value) for value in values]
    for method in ("holm", "max_t"):
        assert adjusted_p_values(np.array([0.0, 1.0]), np.zeros((2, 2)), method).tolist() == [1, 0]


def test_some_known_shares_among_unknown_ones():
    values = np.array([1.0, 0.0, 0.5])
    mixed = np.diag([0.0, 0.01, 0.0])
    bounds = simultaneous_intervals(estimates(values, mixed), mixed, 0.95)
    assert bounds[0] == (1, 1)
    assert bounds[2] == (0.5, 0.5)
    assert np.allclose(bounds[1], [-0.196, 0.196], atol=1e-3)
    assert rank_intervals(values, mixed, 0.95).tolist() == [[1, 1], [3, 3], [2, 2]]


def test_singular_covariances_work():
    direction = np.array([1.0, -1.0, 0.5])
    singular = np.outer(direction, direction)
    bounds = simultaneous_intervals(estimates(np.zeros(3), singular), singular, 0.9)
    assert np.allclose([high for _, high in bounds], 1.645 * np.abs(direction), rtol=0.02)
    assert np.isfinite(adjusted_p_values(np.ones(3), singular, "max_t")).all()
    assert rank_intervals(np.array([9.0, 0.0, 0.0]), singular, 0.9)[0].tolist() == [1, 1]


def test_holm_by_hand():
    values = np.array([3.0, 1.0, 2.0])
    raw = two_sided(values)
    expected = [3 * raw[0], max(raw[1], 2 * raw[2]), 2 * raw[2]]
    assert np.allclose(adjusted_p_values(values, np.eye(3), "holm"), expected)


def test_max_t_by_hand_for_independent_shares():
    values = np.array([2.5, 2.0, 0.5])
    raw = two_sided(values)
    steps = 1 - (1 - raw) ** np.array([3, 2, 1])
    assert np.allclose(adjusted_p_values(values, np.eye(3), "max_t"), steps, atol=0.01)


def test_max_t_is_never_larger_than_holm_and_gains_from_correlation():
    values = np.full(10, 2.6)
    close = 0.95 * np.ones((10, 10)) + 0.05 * np.eye(10)
    holm, max_t = (adjusted_p_values(values, close, method) for method in ("holm", "max_t"))
    assert (max_t <= holm).all()
    assert max_t.max() < holm.min() / 2


def test_results_are_repeatable_and_depend_on_the_seed_only():
    matrix = covariance(8)
    values = np.arange(8.0) / 3
    assert max_t_quantile(matrix, 0.9) == max_t_quantile(matrix, 0.9)
    assert max_t_quantile(matrix, 0.9, seed=1) != max_t_quantile(matrix, 0.9, seed=2)
    first, second = (rank_intervals(values, matrix, 0.9) for _ in range(2))
    assert np.array_equal(first, second)


def test_units_do_not_matter():
    matrix, values = covariance(6), np.arange(6.0)
    small = rank_intervals(values * 1e-9, matrix * 1e-18, 0.9)
    assert np.array_equal(small, rank_intervals(values, matrix, 0.9))


def test_two_hundred_shares_are_fast():
    start = time.perf_counter()
    rank_intervals(np.arange(200.0) / 50, covariance(200), 0.95)
    assert time.perf_counter() - start < 20


def test_bad_input_is_refused():
    with pytest.raises(InputError) as caught:
        rank_intervals(np.zeros(2), np.eye(2), 1.0)
    assert str(caught.value) == (
        "The level of an interval must lie between 0 and 1. Got 1.0. Try 0.95."
    )
    with pytest.raises(InputError) as caught:
        max_t_quantile(np.array([[np.nan]]), 0.9)
    assert str(caught.value) == (
        "The covariance of the shares has entries that are not finite numbers. Got 1. "
        "Shares that are undefined cannot be ranked."
    )
    with pytest.raises(InputError) as caught:
        adjusted_p_values(np.zeros(2), np.eye(2), "fdr")
    assert str(caught.value) == (
        "The method of adjusted p-values must be 'holm' or 'max_t'. Got 'fdr'."
    )
