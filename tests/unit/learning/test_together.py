"""Fits of several training sets at once are the fits one after the other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from learning_designs import featured, shifted_design

from whygap.learning import descent, primitives, subset_fits
from whygap.learning.descent import logistic_together
from whygap.learning.features import Extra, View
from whygap.learning.models import Fast
from whygap.learning.primitives import MeanTask, fit_means, fit_ratios
from whygap.learning.together import Segment, Together

FAST = Fast(penalty=1e-2)
HALVES = tuple(frozenset(pair) for pair in [(0, 1), (2, 3), (1, 2), (3, 4), (0, 4)])
COLUMNS = (0, 2)


@pytest.fixture(scope="module")
def features():
    return featured(shifted_design(rows=(420, 310), columns=4))


def task_of(features, kind: str, extra=None) -> MeanTask:
    rng = np.random.default_rng(1)
    score = features.raw.target[:, 0] - features.raw.target[:, 2] + rng.normal(size=310)
    target = {
        "probability": (score > 0).astype(float),
        "bounded": {half: 1 / (1 + np.exp(-score - k)) for k, half in enumerate(HALVES)},
        "real": 10 * score,
    }[kind]
    name = f"{kind}, {extra is not None}"
    return MeanTask(name, kind, COLUMNS, "target", target, HALVES, extra, repeated=True)


def extra_of(position, knots: int) -> Extra:
    """Standardised, and an indicator; with few distinct values there are few knots."""
    rounded = np.round(position, 1 if knots else 0)
    return Extra.of(lambda x: [x, (x > 1).astype(float)], {"own": View("target", rounded)})


def predictions(fits, features, extra=False):
    found = []
    for half in fits.models:
        for block in sorted(set(range(5)) - half):
            seen = fits.predict_seeing([(half, half)], ["own"], "target", block) if extra else None
            found.append(seen[0] if seen else fits.predict(half, "target", block))
    return np.concatenate(found)


@pytest.mark.parametrize("kind", ["probability", "bounded", "real"])
@pytest.mark.parametrize("with_extra", [False, True], ids=["plain", "extra column"])
def test_means_at_once_are_those_one_after_the_other(features, kind, with_extra, monkeypatch):
    extra = None
    if with_extra:
        rng = np.random.default_rng(2)
        extra = {half: extra_of(rng.normal(size=310), k % 2) for k, half in enumerate(HALVES)}
        assert len({one.width for one in extra.values()}) > 1
    task = task_of(features, kind, extra)
    asked = []
    plain = subset_fits.means_together
    monkeypatch.setattr(
        primitives, "means_together", lambda *given: asked.append(plain(*given)) or asked[-1]
    )
    at_once = fit_means(features, FAST, task)
    single = fit_means(features, FAST, replace(task, repeated=False))
    assert [set(models) for models in asked] == [set(HALVES)]
    found = predictions(at_once, features, with_extra)
    expected = predictions(single, features, with_extra)
    assert np.ptp(found) > 0.1
    np.testing.assert_allclose(found, expected, atol=5e-3 * np.std(expected))


def test_ratios_at_once_are_those_one_after_the_other(features):
    both = [fit_ratios(features, FAST, COLUMNS, "pi", repeated=again) for again in (True, False)]
    found, expected = (
        np.concatenate([fits.predict(b, "source", k) for b in fits.models for k in range(5)])
        for fits in both
    )
    np.testing.assert_allclose(found, expected, rtol=5e-3)


def test_weights_of_rows_count(features):
    rng = np.random.default_rng(3)
    weights = features.weights.map(lambda w: rng.exponential(size=len(w)))
    weighted = replace(features, weights=weights, curvatures={}, gathered={})
    task = task_of(weighted, "probability")
    found = predictions(fit_means(weighted, FAST, task), weighted)
    expected = predictions(fit_means(weighted, FAST, replace(task, repeated=False)), weighted)
    np.testing.assert_allclose(found, expected, atol=5e-3 * np.std(expected))
    plain = predictions(fit_means(features, FAST, task), features)
    assert np.abs(found - plain).max() > 0.01


def test_nothing_to_learn_in_one_training_set_is_left_to_single_fits(features):
    task = task_of(features, "probability")
    constant = dict.fromkeys(HALVES, task.targets) | {HALVES[0]: np.ones(310)}
    fits = fit_means(features, FAST, replace(task, targets=constant, name="constant"))
    assert np.ptp(fits.predict(HALVES[0], "target", 3)) == 0
    assert np.ptp(fits.predict(HALVES[1], "target", 4)) > 0.1


@pytest.mark.parametrize("steps", [1, 2, 40])
def test_however_often_second_derivatives_are_renewed(features, monkeypatch, steps):
    task = replace(task_of(features, "probability"), name=f"renewed after {steps}")
    expected = predictions(fit_means(features, FAST, task), features)
    monkeypatch.setattr(descent, "_STEPS", steps)
    found = predictions(fit_means(features, FAST, task), features)
    np.testing.assert_allclose(found, expected, atol=5e-3 * np.std(expected))


def test_a_model_that_has_ended_is_left_out_of_further_steps(monkeypatch):
    rng = np.random.default_rng(5)
    basis, weight = rng.normal(size=(3, 400)), rng.exponential(size=400)
    target = (rng.random((2, 400)) < 1 / (1 + np.exp(-2 * basis[:2]))).astype(float)
    ridge = np.full((2, 4), 0.1)
    fits = Together([Segment(np.arange(2), basis, target, weight)], 2)
    expected = logistic_together(fits, ridge, np.zeros((2, 4)))
    kept = []
    plain = Together.only
    monkeypatch.setattr(Together, "only", lambda self, own: kept.append(own) or plain(self, own))
    monkeypatch.setattr(descent, "_STEPS", 1)
    start = np.stack([expected[0], np.zeros(4)])
    found = logistic_together(fits, ridge, start)
    assert kept[0].tolist() == [False, True]
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert (found[0] == expected[0]).all()


@pytest.mark.parametrize("kind", ["probability", "real"])
def test_terms_that_only_one_column_set_has_are_fitted_beside_the_common_ones(features, kind):
    rng = np.random.default_rng(4)
    score, rest = rng.normal(size=(2, 310))
    both = np.column_stack([score, rest])
    alone = Extra.of(lambda x: [x], {"own": View("target", score)})
    more = Extra.of(lambda x: [*x.T], {"own": View("target", both)}, bending=2)
    task = replace(
        task_of(features, kind, dict.fromkeys(HALVES, more)),
        common=dict.fromkeys(HALVES, alone),
        name=f"{kind}, common",
    )
    found = predictions(fit_means(features, FAST, task), features, extra=True)
    single = fit_means(features, FAST, replace(task, repeated=False))
    expected = predictions(single, features, extra=True)
    np.testing.assert_allclose(found, expected, atol=5e-3 * np.std(expected))
    fits = fit_means(features, FAST, replace(task, extra=task.common, name="alone"))
    assert np.abs(found - predictions(fits, features, extra=True)).max() > 0.01
