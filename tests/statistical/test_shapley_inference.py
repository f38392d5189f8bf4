"""Simultaneous statements hold as often as they claim."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from whygap.estimate import Estimate
from whygap.shapley.inference import (
    adjusted_p_values,
    may_be_first,
    rank_intervals,
    simultaneous_intervals,
)

REPLICATES = 400
LEVEL = 0.9
# 99% binomial band around the level.
BAND = stats.binom.ppf([0.005, 0.995], REPLICATES, LEVEL) / REPLICATES

TRUTH = np.array([0.5, 0.3, 0.3, 0.1, 0.05, 0.0])


def covariance():
    loading = np.random.default_rng(5).normal(size=(6, 3))
    return 0.004 * (loading @ loading.T + 0.5 * np.eye(6))


def replicates():
    rng = np.random.default_rng(11)
    return rng.multivariate_normal(TRUTH, covariance(), size=REPLICATES)


def test_simultaneous_intervals_cover_all_shares_at_once():
    errors = np.sqrt(np.diag(covariance()))
    bounds = [
        np.array(simultaneous_intervals(list(map(Estimate, values, errors)), covariance(), LEVEL))
        for values in replicates()
    ]
    covered = [((b[:, 0] <= TRUTH) & (b[:, 1] >= TRUTH)).all() for b in bounds]
    assert BAND[0] <= np.mean(covered) <= BAND[1]


def test_rank_intervals_contain_all_true_ranks_at_least_as_often_as_claimed():
    best = 1 + (TRUTH[:, None] < TRUTH).sum(axis=1)
    worst = (TRUTH[:, None] <= TRUTH).sum(axis=1)
    ranks = [rank_intervals(values, covariance(), LEVEL) for values in replicates()]
    right = [((r[:, 0] <= best) & (worst <= r[:, 1])).all() for r in ranks]
    assert np.mean(right) >= BAND[0]
    width = np.mean([r[:, 1] - r[:, 0] for r in ranks])
    assert width < 4


@pytest.mark.parametrize("ahead", [0.0, 0.1, 0.2])
def test_the_true_first_is_among_those_that_may_be_first(ahead):
    """Wrong at most as often as claimed; with the first level with others, about as often."""
    truth = np.array([0.3 + ahead, 0.3, 0.3, 0.3, 0.3, 0.3])
    rng = np.random.default_rng(12)
    draws = rng.multivariate_normal(truth, covariance(), size=REPLICATES)
    found = np.array([may_be_first(values, covariance(), LEVEL) for values in draws])
    assert found[:, 0].mean() >= BAND[0]
    if ahead == 0:
        assert (found.mean(axis=0) >= BAND[0]).all()
        assert found[:, 0].mean() <= BAND[1]
    alone = found.sum(axis=1) == 1
    assert (alone & ~found[:, 0]).mean() <= (1 - BAND[0]) * (1 if ahead else len(truth))


def test_first_place_is_told_more_often_than_by_rank_intervals():
    truth = np.array([0.9, 0.3, 0.3, 0.3, 0.3, 0.3])
    draws = np.random.default_rng(13).multivariate_normal(truth, covariance(), size=100)
    alone = [may_be_first(values, covariance(), LEVEL).sum() == 1 for values in draws]
    ranks = [rank_intervals(values, covariance(), LEVEL)[0, 1] == 1 for values in draws]
    assert np.mean(alone) > np.mean(ranks) + 0.1


def test_adjusted_p_values_keep_the_family_wise_error():
    null = TRUTH == 0
    shifted = replicates() - np.where(null, 0, TRUTH)
    for method, lowest in (("holm", 0.0), ("max_t", 1 - BAND[1])):
        smallest = [adjusted_p_values(v, covariance(), method).min() for v in shifted]
        rate = np.mean(np.array(smallest) < 1 - LEVEL)
        assert lowest <= rate <= 1 - BAND[0]
