from __future__ import annotations

import numpy as np
import pytest
from scipy import special
from sklearn.base import clone
from sklearn.metrics import log_loss

from whygap.repair.boosting import CorrectedRisk, boosted_trees
from whygap.repair.learner import StackedRisk


def drawn(rows, seed=0):
    """A known risk that is right but for an interaction of two other columns."""
    rng = np.random.default_rng(seed)
    known = rng.normal(0, 2, rows)
    other = rng.normal(size=(rows, 3))
    risk = special.expit(known + 1.5 * np.sign(other[:, 0] * other[:, 1]))
    return np.column_stack([known, other]), (rng.random(rows) < risk).astype(float), risk


def test_trees_that_start_from_the_known_risk_find_what_it_gets_wrong():
    X, y, _ = drawn(2000)
    at, _, risk = drawn(4000, seed=1)
    models = {
        "from nothing": boosted_trees(len(X), rounds=100, seed=0),
        "from the risk": CorrectedRisk(0),
        "stack without": StackedRisk(),
        "stack with": StackedRisk(start=0),
    }
    errors = {
        name: np.mean((model.fit(X, y.astype(int)).predict_proba(at)[:, 1] - risk) ** 2)
        for name, model in models.items()
    }
    assert errors["from the risk"] < 0.8 * errors["from nothing"]
    assert errors["stack with"] < 0.8 * errors["stack without"]


def test_where_the_known_risk_is_right_it_is_kept():
    rng = np.random.default_rng(2)
    known = rng.normal(0, 2, 3000)
    X = np.column_stack([known, rng.normal(size=(3000, 3))])
    y = (rng.random(3000) < special.expit(known)).astype(int)
    found = CorrectedRisk(0).fit(X[:1500], y[:1500]).predict_proba(X[1500:])[:, 1]
    best = log_loss(y[1500:], special.expit(known[1500:]))
    assert log_loss(y[1500:], found) < best + 0.03


def test_weights_reach_the_trees():
    X, y, _ = drawn(400)
    heavy = np.where(y == 1, 20.0, 1.0)
    plain, leaning = (
        CorrectedRisk(0).fit(X, y.astype(int), weight).predict_proba(X)[:, 1].mean()
        for weight in (None, heavy)
    )
    assert leaning > plain + 0.1


def test_a_gap_in_the_known_risk_counts_as_one_half():
    X, y, _ = drawn(300)
    model = CorrectedRisk(0).fit(X, y.astype(int))
    blank = X[:5].copy()
    blank[:, 0] = np.nan
    assert np.isfinite(model.predict_proba(blank)).all()


def test_it_clones_and_repeats():
    X, y, _ = drawn(200)
    model = StackedRisk(seed=3, start=0)
    one, two = model.fit(X, y).predict_proba(X), clone(model).fit(X, y).predict_proba(X)
    assert one == pytest.approx(two, abs=0)
    assert any(isinstance(part, CorrectedRisk) for part in model.models_)
