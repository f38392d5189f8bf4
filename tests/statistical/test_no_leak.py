"""Outcomes of evaluated rows have no say in what models see: nothing is found where nothing is."""

from __future__ import annotations

import numpy as np
import pytest

from whygap.domains import ByDomain
from whygap.progress import Silent
from whygap.running.analysis import Analysis
from whygap.settings import Settings
from whygap.tables.design import Column, Design, Player

COLUMNS, ROWS, DRAWS = 20, 1000, 40
SLOPES = np.r_[np.linspace(0.8, 0.1, 10), np.zeros(10)]


def null_design(seed: int) -> Design:
    """Both tables from one world of twenty columns, more than get all their products."""
    rng = np.random.default_rng([seed, COLUMNS])
    features = ByDomain(*(rng.normal(size=(ROWS, COLUMNS)) for _ in range(2)))
    risk = features.map(lambda x: 1 / (1 + np.exp(-x @ SLOPES)))
    label = risk.map(lambda r: (r >= 0.5).astype(float))
    return Design.affine(
        features=features,
        columns=tuple(Column(f"x{k}", "numeric") for k in range(COLUMNS)),
        baseline=(0, 1),
        players=tuple(Player(f"x{k}", (k,)) for k in range(2, COLUMNS)),
        outcome=risk.map(lambda r: (rng.random(len(r)) < r).astype(float)),
        prediction=risk,
        intercept=label.map(lambda one: 1 - one),
        slope=label.map(lambda one: 2 * one - 1),
    )


def run_of(seed: int) -> Analysis:
    settings = Settings(learner="fast", progress=False, support="all", seed=seed)
    return Analysis.begin(null_design(seed), settings, Silent())


SUBSETS = ((), (0,), tuple(range(9)))
# Of a risk within a bin, which a numerator does not explain: that of a uniform one.
WITHIN_A_BIN = 0.05**2 / 12


@pytest.fixture(scope="module")
def centres():
    """Denominator and numerators of every draw: how many standard errors their means are off."""
    draws = [run_of(seed).values("outcome", SUBSETS) for seed in range(DRAWS)]
    found = np.array([[e.value for e in (one.denominator, *one.numerators)] for one in draws])
    error = np.std(found, axis=0, ddof=1) / np.sqrt(DRAWS)
    return (found.mean(axis=0) - np.r_[0, [WITHIN_A_BIN] * len(SUBSETS)]) / error


@pytest.mark.slow
def test_the_outcome_denominator_of_a_null_world_is_centred_on_zero(centres):
    """With product pairs chosen by outcomes it was .0053, 3.8 standard errors from 0."""
    assert abs(centres[0]) < 2


@pytest.mark.slow
def test_outcome_numerators_of_a_null_world_are_centred_on_zero(centres):
    """1.2, 1.8 and -1.1 standard errors; with each twin at its own source risk 4.2, 4.7 and -1."""
    assert np.all(np.abs(centres[1:]) < 2)
