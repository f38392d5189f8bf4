"""Estimates by name: contrasts, ranks, what is clear; with and without influence values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from whygap.combine import joint_covariance
from whygap.domains import ByDomain
from whygap.errors import ResultError
from whygap.estimate import Estimate, Sample
from whygap.results import Joint, Points


def joint() -> Joint:
    rng = np.random.default_rng(0)
    sample = Sample.of(ByDomain(400, 300))
    noise = rng.normal(size=300)
    found = {
        name: Estimate.from_contributions(
            sample, source=rng.normal(size=400), target=mean + noise + rng.normal(size=300)
        )
        for name, mean in {"small": 0.0, "down": -2.0, "up": 1.0}.items()
    }
    return Joint(found, joint_covariance(list(found.values())))


def test_names_by_size_whatever_the_sign():
    assert joint().largest_first() == ["down", "up", "small"]
    assert joint().clear() == ["down", "up"]


def test_ranks_keep_signs():
    ranks = joint().ranking()
    assert (ranks["up"].best, ranks["up"].worst) == (1, 1)
    assert (ranks["down"].best, ranks["down"].worst) == (3, 3)


def test_a_contrast_survives_without_influence_values():
    whole = joint()
    bare = {n: replace(e, influence=None) for n, e in whole.items()}
    from_covariance = Joint(bare, whole.covariance).difference("up", "down")
    exact = whole.difference("up", "down")
    assert from_covariance.value == exact.value
    assert from_covariance.standard_error == pytest.approx(exact.standard_error, rel=1e-9)


def test_intervals_that_hold_at_once_are_wider():
    whole = joint()
    for name, (low, high) in whole.simultaneous().items():
        own = whole[name].interval()
        assert low < own[0] < own[1] < high


def test_unknown_names_and_parts_are_refused_in_words():
    points = Points(Joint({}, np.zeros((0, 0))), joint(), {})
    with pytest.raises(ResultError) as caught:
        points.difference("covariate", "upp", "down")
    assert "'upp'" in str(caught.value)
    assert "Did you mean 'up'?" in str(caught.value)
    with pytest.raises(ResultError, match=r"There are no points of the part 'outcome'"):
        points.ranking("outcome")
    assert points.parts()["baseline"].ranking() == {}
