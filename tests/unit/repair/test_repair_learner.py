from __future__ import annotations

import numpy as np
import pytest
from scipy import special
from sklearn.base import clone

from whygap.repair.learner import StackedRisk


def drawn(rows, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    X[:, 2] = rng.integers(0, 3, rows)
    logit = X[:, 0] * X[:, 1] * 2 + np.array([-1.0, 2.0, 0.0])[X[:, 2].astype(int)]
    return X, (rng.random(rows) < special.expit(logit)).astype(float), special.expit(logit)


def test_it_learns_interactions_and_categories():
    X, y, _ = drawn(2000)
    at, _, risk = drawn(1000, seed=1)
    found = StackedRisk((2,)).fit(X, y).predict_proba(at)[:, 1]
    assert np.mean((found - risk) ** 2) < 0.006
    assert found.min() > 0


def test_weights_act_like_repeated_rows():
    X, y, _ = drawn(300)
    heavy = np.where(X[:, 0] > 0, 5.0, 0.2)
    found = StackedRisk((2,)).fit(X, y, heavy).share_
    assert found == pytest.approx(np.average(y, weights=heavy))


def test_gaps_and_unseen_levels_are_no_obstacle():
    X, y, _ = drawn(400)
    X[::7, 0] = np.nan
    X[::11, 2] = np.nan
    model = StackedRisk((2,)).fit(X, y)
    at = np.array([[0.0, 0.0, 9.0], [np.nan, 1.0, np.nan]])
    assert np.isfinite(model.predict_proba(at)).all()


def test_degenerate_training_rows_give_the_mean():
    none = StackedRisk().fit(np.zeros((20, 0)), np.arange(20) % 2.0)
    assert none.predict_proba(np.zeros((2, 0)))[:, 1] == pytest.approx([0.5, 0.5])
    one_class = StackedRisk().fit(np.zeros((20, 1)), np.zeros(20))
    assert one_class.predict(np.zeros((2, 1))).tolist() == [0, 0]


def test_it_clones_and_repeats():
    X, y, _ = drawn(200)
    model = StackedRisk((2,), seed=3)
    one, two = model.fit(X, y).predict_proba(X), clone(model).fit(X, y).predict_proba(X)
    assert (one == two).all()
