"""Learners on plain tables."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss
from threadpoolctl import threadpool_info, threadpool_limits

from experiments.rivals.outcome_rivals import forest_importances
from whygap.learning import standalone
from whygap.learning.standalone import boosted_probability, fit_mean


def drawn(rows, seed=0):
    """An interaction, and a category whose codes have no order."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    X[:, 2] = rng.integers(0, 3, rows)
    logit = X[:, 0] * X[:, 1] * 2 + np.array([-1.0, 2.0, 0.0])[X[:, 2].astype(int)]
    return X, (rng.random(rows) < special.expit(logit)).astype(float), special.expit(logit)


def corrected(rows, seed=0):
    """A known risk that is right but for an interaction of two other columns."""
    rng = np.random.default_rng(seed)
    known = rng.normal(0, 2, rows)
    other = rng.normal(size=(rows, 3))
    risk = special.expit(known + 1.5 * np.sign(other[:, 0] * other[:, 1]))
    return np.column_stack([known, other]), (rng.random(rows) < risk).astype(float), risk


def test_fits_run_on_one_thread_and_leave_the_others_as_they_were(monkeypatch):
    during, learner = [], standalone._learner

    def watched(*given):
        during.extend(pool["num_threads"] for pool in threadpool_info())
        return learner(*given)

    monkeypatch.setattr(standalone, "_learner", watched)
    with threadpool_limits(2):  # whatever the environment allows
        before = threadpool_info()
        fit_mean(*drawn(200)[:2], np.ones(200))
        assert set(during) == {1}
        assert threadpool_info() == before


def test_it_learns_interactions_and_categories():
    X, y, _ = drawn(2000)
    at, _, risk = drawn(1000, seed=1)
    found = fit_mean(X, y, np.ones(2000), (2,))(at)
    assert np.mean((found - risk) ** 2) < 0.006
    assert found.min() > 0


def test_real_responses_are_means():
    X, _, risk = drawn(1500)
    at, _, truth = drawn(800, seed=1)
    noise = np.random.default_rng(3).normal(0, 1, 1500)
    found = fit_mean(X, 10 * risk + noise, np.ones(1500), (2,))(at)
    assert np.mean((found - 10 * truth) ** 2) < 0.1 * np.var(10 * truth)


def test_weights_act_like_repeated_rows():
    X, y, _ = drawn(300)
    heavy = np.where(X[:, 0] > 0, 5.0, 0.2)
    found = fit_mean(X[:, :0], y, heavy)(X[:, :0])
    assert found == pytest.approx(np.average(y, weights=heavy))


def test_weights_reach_every_candidate():
    X, y, _ = corrected(600)
    heavy = np.where(y == 1, 20.0, 1.0)
    plain, leaning = (fit_mean(X, y, weight, start=0)(X).mean() for weight in (np.ones(600), heavy))
    assert leaning > plain + 0.1


def test_gaps_and_unseen_levels_are_no_obstacle():
    X, y, _ = drawn(400)
    X[::7, 0] = np.nan
    X[::11, 2] = np.nan
    model = fit_mean(X, y, np.ones(400), (2,))
    at = np.array([[0.0, 0.0, 9.0], [np.nan, 1.0, np.nan]])
    assert np.isfinite(model(at)).all()


def test_degenerate_training_rows_give_the_mean():
    none = fit_mean(np.zeros((20, 0)), np.arange(20) % 2.0, np.ones(20))
    assert none(np.zeros((2, 0))) == pytest.approx([0.5, 0.5])
    one_class = fit_mean(np.zeros((20, 1)), np.zeros(20), np.ones(20))
    assert (one_class(np.zeros((2, 1))) < 0.5).all()


@pytest.mark.parametrize("happened", [1, 2])
def test_hardly_any_cases_are_no_obstacle(happened):
    X, _, _ = drawn(40)
    y = (np.arange(40) < happened).astype(float)
    assert np.isfinite(fit_mean(X, y, np.ones(40), (2,))(X)).all()


def test_what_the_known_risk_gets_wrong_is_found():
    X, y, _ = corrected(2000)
    at, _, risk = corrected(4000, seed=1)
    errors = [
        np.mean((fit_mean(X, y, np.ones(2000), start=start)(at) - risk) ** 2) for start in (None, 0)
    ]
    known = np.mean((special.expit(at[:, 0]) - risk) ** 2)
    assert errors[1] < 0.5 * known
    assert errors[1] < 1.05 * errors[0]


def test_where_the_known_risk_is_right_it_is_kept():
    rng = np.random.default_rng(2)
    known = rng.normal(0, 2, 3000)
    X = np.column_stack([known, rng.normal(size=(3000, 3))])
    y = (rng.random(3000) < special.expit(known)).astype(float)
    found = fit_mean(X[:1500], y[:1500], np.ones(1500), start=0)(X[1500:])
    best = log_loss(y[1500:], special.expit(known[1500:]))
    assert log_loss(y[1500:], found) < best + 0.005


def test_a_gap_in_the_known_risk_counts_as_one_half():
    X, y, _ = corrected(300)
    model = fit_mean(X, y, np.ones(300), start=0)
    blank = X[:5].copy()
    blank[:, 0] = np.nan
    assert np.isfinite(model(blank)).all()


@pytest.mark.parametrize("start", [None, 0])
def test_a_fit_repeats(start):
    X, y, _ = corrected(400)
    one, two = (fit_mean(X, y, np.ones(400), seed=3, start=start)(X) for _ in range(2))
    assert (one == two).all()


def test_importances_are_those_of_the_forest():
    X, y, _ = drawn(300)
    found = forest_importances(X, np.where(y == 1, 0.7, 0.2), np.ones(300), 20, 5, seed=1)
    forest = RandomForestClassifier(n_estimators=20, min_samples_leaf=5, random_state=1)
    forest.fit(X, y, sample_weight=np.ones(300))
    assert found == pytest.approx(forest.feature_importances_)
    assert forest_importances(X, X[:, 0] ** 2, np.ones(300), 20, 5, seed=1)[0] > 0.8


def test_fixed_parameters_give_probabilities():
    X, y, risk = drawn(1500)
    parameters = {"objective": "binary", "verbosity": -1, "num_threads": 1, "seed": 0}
    found = boosted_probability(X, y, [2], parameters, 40)(X)
    assert ((found > 0) & (found < 1)).all()
    assert np.corrcoef(found, risk)[0, 1] > 0.8
