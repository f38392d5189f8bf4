"""Outcomes of evaluated rows have no say in what models see: nothing is found where nothing is."""

from __future__ import annotations

import numpy as np
import pytest

from whygap.domains import ByDomain
from whygap.progress import Silent
from whygap.running.analysis import Analysis
from whygap.settings import Settings
from whygap.tables.design import Column, Design, Player

COLUMNS, ROWS, DRAWS = 20, 1000, 24
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


@pytest.mark.slow
def test_the_outcome_denominator_of_a_null_world_is_centred_on_zero():
    """With product pairs chosen by outcomes it was .0053, 3.8 standard errors from 0."""
    found = []
    for seed in range(DRAWS):
        settings = Settings(learner="fast", progress=False, support="all", seed=seed)
        run = Analysis.begin(null_design(seed), settings, Silent())
        found.append(run.values("outcome", []).denominator.value)
    error = np.std(found, ddof=1) / np.sqrt(DRAWS)
    assert abs(np.mean(found)) < 2 * error
