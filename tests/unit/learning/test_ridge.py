"""Penalised fits beside scikit-learn's with the same penalty."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from whygap.learning import descent, ridge
from whygap.learning.inputs import Inputs
from whygap.learning.ridge import Curvature


def design(basis):
    return Inputs(basis, basis, np.zeros(basis.shape[1]))


@pytest.fixture
def data():
    rng = np.random.default_rng(1)
    basis = rng.normal(size=(600, 6)) * [1, 1, 2, 0.5, 1, 3] + 0.4
    score = 0.5 + basis @ np.array([1.0, -0.5, 0.2, 0, 0.7, -0.1])
    label = (rng.random(600) < 1 / (1 + np.exp(-score))).astype(float)
    return basis, score + rng.normal(size=600), label, rng.integers(1, 4, 600).astype(float)


@pytest.mark.parametrize("penalty", [1e-6, 1e-3, 0.1, 10.0])
def test_least_squares_agrees_with_scikit_learn(data, penalty):
    basis, target, _, weight = data
    ours = ridge.least_squares(design(basis), target, weight, np.full(6, penalty))
    theirs = Ridge(alpha=penalty * weight.sum()).fit(basis, target, sample_weight=weight)
    assert np.allclose(ours, [theirs.intercept_, *theirs.coef_], atol=1e-7)


@pytest.mark.parametrize("penalty", [1e-4, 1e-2, 1.0])
def test_logistic_agrees_with_scikit_learn(data, penalty):
    basis, _, label, weight = data
    ours = ridge.logistic(design(basis), label, weight, np.full(6, penalty))
    strength = 1 / (penalty * weight.sum())
    model = LogisticRegression(C=strength, tol=1e-10, max_iter=5000)
    theirs = model.fit(basis, label, sample_weight=weight)
    assert np.allclose(ours, [*theirs.intercept_, *theirs.coef_[0]], atol=2e-5)


def test_each_column_has_its_own_penalty(data):
    basis, target, _, weight = data
    penalty = np.array([1e-3, 0.1, 1.0, 1e-2, 5.0, 0.5])
    ours = ridge.least_squares(design(basis), target, weight, penalty)
    rescaled = basis / np.sqrt(penalty)
    theirs = Ridge(alpha=weight.sum()).fit(rescaled, target, sample_weight=weight)
    assert np.allclose(ours[1:], theirs.coef_ / np.sqrt(penalty), atol=1e-7)


@pytest.mark.parametrize("fit", [ridge.least_squares, ridge.logistic])
def test_weights_are_replicated_rows(data, fit):
    basis, _, label, weight = data
    repeated = np.repeat(np.arange(600), weight.astype(int))
    penalty = np.full(6, 0.01)
    weighted = fit(design(basis), label, weight, penalty)
    replicated = fit(design(basis[repeated]), label[repeated], np.ones(len(repeated)), penalty)
    assert np.allclose(weighted, replicated, atol=1e-8)


def test_fractional_targets_are_two_weighted_rows(data):
    basis, _, _, weight = data
    share = np.random.default_rng(2).random(600)
    twice = np.vstack([basis, basis])
    label = np.repeat([1.0, 0.0], 600)
    split = np.concatenate([weight * share, weight * (1 - share)])
    penalty = np.full(6, 0.01)
    ours = ridge.logistic(design(basis), share, weight, penalty)
    assert np.allclose(ours, ridge.logistic(design(twice), label, split, penalty), atol=1e-5)


def test_separable_labels_stay_finite(data):
    basis, _, _, weight = data
    label = (basis[:, 0] > 0).astype(float)
    coefficients = ridge.logistic(design(basis), label, weight, np.full(6, 1e-6))
    assert np.isfinite(coefficients).all()
    assert np.mean((coefficients[0] + basis @ coefficients[1:] > 0) == (label > 0)) > 0.99


@pytest.mark.parametrize("fit", [ridge.least_squares, ridge.logistic])
def test_repeated_columns_share_their_coefficient(data, fit):
    basis, _, label, weight = data
    doubled = fit(design(np.hstack([basis, basis])), label, weight, np.full(12, 1e-3))
    assert np.allclose(doubled[1:7], doubled[7:], atol=1e-5)


@pytest.mark.parametrize("fit", [ridge.least_squares, ridge.logistic])
def test_without_columns_the_mean_remains(fit):
    label, weight = np.array([1.0, 0.0, 0.0]), np.array([2.0, 1.0, 1.0])
    coefficients = fit(design(np.zeros((3, 0))), label, weight, np.zeros(0))
    assert coefficients == pytest.approx([0.5 if fit is ridge.least_squares else 0.0], abs=1e-9)


def test_logits_stay_away_from_infinity():
    assert np.allclose(ridge.logit_clipped(np.array([0.0, 0.5, 1.0])), [-13.815510, 0, 13.815510])


@pytest.mark.parametrize("penalty", [1e-5, 1e-2])
def test_fits_on_fewer_columns_are_the_same_with_what_a_fit_on_all_found_out(data, penalty):
    basis, target, label, weight = data
    for fit, response, known in (
        (
            ridge.least_squares,
            target,
            Curvature.of_least_squares(design(basis), target, weight),
        ),
        (
            ridge.logistic,
            label,
            Curvature.of_logistic(design(basis), label, weight, np.full(6, penalty)),
        ),
    ):
        for columns in ([0], [1, 4], [0, 2, 3, 5], [0, 1, 2, 3, 4, 5]):
            place = np.array([0, *(1 + c for c in columns)])
            few, penalties = design(basis[:, columns]), np.full(len(columns), penalty)
            helped = fit(few, response, weight, penalties, known.part(place))
            assert np.allclose(helped, fit(few, response, weight, penalties), atol=1e-4)


def test_a_misleading_start_is_left_behind(data):
    basis, _, label, weight = data
    known = Curvature(np.eye(7) * 1e-3, np.full(7, 5.0))
    penalty = np.full(6, 1e-3)
    misled = ridge.logistic(design(basis), label, weight, penalty, known)
    assert np.allclose(misled, ridge.logistic(design(basis), label, weight, penalty), atol=1e-4)


def test_second_derivatives_from_a_part_of_the_rows_lead_to_the_same_fit(data, monkeypatch):
    basis, _, label, weight = data
    penalty = np.full(6, 1e-3)
    exact = ridge.logistic(design(basis), label, weight, penalty)
    monkeypatch.setattr(descent, "ENOUGH_ROWS", 150)
    known = Curvature.of_logistic(design(basis), label, weight, penalty)
    for helped in (None, known):
        found = ridge.logistic(design(basis), label, weight, penalty, helped)
        assert np.allclose(found, exact, atol=1e-4)
