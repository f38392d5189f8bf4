"""Estimates by name: contrasts, ranks, what is clear; with and without influence values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from whygap.domains import ByDomain
from whygap.errors import ResultError
from whygap.estimate import Estimate, Sample
from whygap.estimate.combine import joint_covariance
from whygap.estimate.student import as_student
from whygap.results import Points
from whygap.shapley import max_t_quantile


def joint() -> Points:
    rng = np.random.default_rng(0)
    sample = Sample.of(ByDomain(400, 300))
    noise = rng.normal(size=300)
    found = {
        name: Estimate.from_contributions(
            sample, source=rng.normal(size=400), target=mean + noise + rng.normal(size=300)
        )
        for name, mean in {"small": 0.0, "down": -2.0, "up": 1.0}.items()
    }
    return Points(found, joint_covariance(list(found.values())))


def test_names_by_size_whatever_the_sign():
    assert joint().largest_first() == ["down", "up", "small"]
    assert joint().significant() == ["down", "up"]


def test_ranks_keep_signs():
    ranks = joint().ranking()
    assert (ranks["up"].best, ranks["up"].worst) == (1, 1)
    assert (ranks["down"].best, ranks["down"].worst) == (3, 3)


def test_a_contrast_survives_without_influence_values():
    whole = joint()
    bare = {n: replace(e, influence=None) for n, e in whole.items()}
    from_covariance = Points(bare, whole.covariance).difference("up", "down")
    exact = whole.difference("up", "down")
    assert from_covariance.value == exact.value
    assert from_covariance.standard_error == pytest.approx(exact.standard_error, rel=1e-9)


def shares_over_a_noisy_denominator() -> Points:
    """Two numerators that differ clearly, over a denominator whose error is all their own."""
    top, rest = np.array([1.2, 0.5, 0.0]), 1.0
    errors = np.diag([0.14, 0.14, 0.02, 1.09])
    sample = Sample.of(ByDomain(4000, 10))
    rng = np.random.default_rng(1)
    noise = rng.normal(size=(4000, 4))
    noise = np.linalg.qr(noise - noise.mean(axis=0))[0] * np.sqrt(4000 * 3999)
    made = [
        Estimate.from_contributions(sample, source=value + column, target=np.zeros(10))
        for value, column in zip((*top, rest), (noise @ errors).T, strict=True)
    ]
    denominator = made[0] + made[1] + made[2] + made[3]
    shares = [one / denominator for one in made[:3]]
    return Points(dict(zip("abc", shares, strict=True)), joint_covariance(shares))


def test_the_order_of_shares_depends_on_their_numerators_alone():
    shares = shares_over_a_noisy_denominator()
    between = shares.difference("a", "b")
    assert between.value / between.standard_error == pytest.approx(2.0, abs=0.1)
    assert between.distance() == pytest.approx(3.5, abs=0.1)
    assert between.p_value() < 0.001
    assert between.interval(0.95)[0] > 0
    ranks = shares.ranking(0.95)
    assert [(ranks[n].best, ranks[n].worst) for n in "abc"] == [(1, 1), (2, 2), (3, 3)]
    assert shares.first(0.95) == ("a",)
    assert shares.first(0.95, lowest=True) == ("c",)


def test_numerators_come_back_from_shares_without_influence_values():
    shares = shares_over_a_noisy_denominator()
    bottom = next(iter(shares.values())).ratio.bottom
    bare = Points({n: replace(e, influence=None) for n, e in shares.items()}, shares.covariance)
    tops = bare.numerators()
    assert [e.value for e in tops.values()] == pytest.approx([1.2, 0.5, 0.0], abs=1e-12)
    expected = np.diag([0.14, 0.14, 0.02]) ** 2
    assert tops.covariance == pytest.approx(expected, abs=1e-9 * bottom)
    ours, theirs = (one.difference("a", "b") for one in (bare, shares))
    assert ours.interval(0.9) == pytest.approx(theirs.interval(0.9), rel=1e-3)
    assert ours.distance() == pytest.approx(theirs.distance(), rel=1e-6)
    assert bare.ranking() == shares.ranking()


def test_numbers_that_are_no_ratios_are_their_own_order():
    whole = joint()
    assert whole.numerators() is whole


def test_simultaneous_intervals_of_shares_are_fiellers():
    shares = shares_over_a_noisy_denominator()
    critical = max_t_quantile(shares.covariance, 0.8)
    for name, ends in shares.simultaneous(0.8).items():
        freedom = shares[name].degrees_of_freedom
        assert [shares[name].distance(end) for end in ends] == pytest.approx(
            [as_student(critical, freedom)] * 2, rel=1e-9
        )


def test_a_denominator_too_weak_for_all_at_once_leaves_intervals_open():
    shares = shares_over_a_noisy_denominator()
    assert shares["a"].interval(0.95)[1] < np.inf
    assert shares.simultaneous(0.99)["a"] == (-np.inf, np.inf)
    assert shares.first(0.99) == ("a",), "who is first does not depend on the denominator"


def test_first_place_tells_more_than_ranks():
    """Twelve names: all pairs ask for 3.3 standard errors, the first place for 2.5."""
    names = [f"x{k}" for k in range(12)]
    values = [4.0, *([0.0] * 11)]
    made = {n: Estimate(v, 1.0) for n, v in zip(names, values, strict=True)}
    whole = Points(made, np.eye(12))
    assert whole.ranking(0.95)["x0"].worst > 1
    assert whole.first(0.95) == ("x0",)
    assert set(whole.first(0.95, lowest=True)) == set(names[1:])
    assert len(whole.first(0.999)) > 1


def test_intervals_that_hold_at_once_are_wider():
    whole = joint()
    for name, (low, high) in whole.simultaneous().items():
        own = whole[name].interval()
        assert low < own[0] < own[1] < high


def test_unknown_names_are_refused_in_words():
    with pytest.raises(ResultError) as caught:
        joint().difference("upp", "down")
    assert "'upp'" in str(caught.value)
    assert "Did you mean 'up'?" in str(caught.value)
    assert Points({}, np.zeros((0, 0))).ranking() == {}
