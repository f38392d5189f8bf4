"""Every metric equals scikit-learn's on the same rows, ties and weights included."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn import metrics as sk

import whygap as wg
from whygap._metrics import METRICS, canonical_name, metric_named, sign_note

ROWS = 400
RNG = np.random.default_rng(3)
WEIGHTS = {"plain": None, "weighted": RNG.integers(0, 4, ROWS) + RNG.random(ROWS)}
THRESHOLD = 0.4

OUTCOME = (RNG.random(ROWS) < 0.35).astype(float)
RISK = np.round(np.clip(0.3 * OUTCOME + RNG.random(ROWS) * 0.7, 0.01, 0.99), 2)  # many ties
LABEL = (RISK >= THRESHOLD).astype(float)

CODES = RNG.integers(0, 4, ROWS).astype(float)
RAW = np.round(RNG.random((ROWS, 4)) + np.eye(4)[CODES.astype(int)] * 0.6 + 0.05, 1)
PROBABILITIES = RAW / RAW.sum(axis=1, keepdims=True)
CLASS = PROBABILITIES.argmax(axis=1).astype(float)

VALUES = 1e4 + RNG.normal(size=ROWS)
PREDICTED = VALUES + RNG.normal(size=ROWS) * 0.5 + 0.1


def negative(score):
    return lambda y, p, **w: score(1 - y, 1 - p, **w)


def mean_difference(y, p, sample_weight):
    return np.average(p, weights=sample_weight) - np.average(y, weights=sample_weight)


def net_benefit(y, p, sample_weight):
    (tn, fp), (fn, tp) = sk.confusion_matrix(y, p, sample_weight=sample_weight)
    odds = THRESHOLD / (1 - THRESHOLD)
    return (tp - fp * odds) / (tn + fp + fn + tp)


BINARY = {
    "accuracy": sk.accuracy_score,
    "zero_one": sk.zero_one_loss,
    "brier": sk.brier_score_loss,
    "log_loss": sk.log_loss,
    "auc": sk.roc_auc_score,
    "precision": sk.precision_score,
    "recall": sk.recall_score,
    "specificity": negative(sk.recall_score),
    "npv": negative(sk.precision_score),
    "f1": sk.f1_score,
    "balanced_accuracy": sk.balanced_accuracy_score,
    "mcc": sk.matthews_corrcoef,
    "calibration": mean_difference,
    "net_benefit": net_benefit,
}
MULTICLASS = {
    "accuracy": sk.accuracy_score,
    "zero_one": sk.zero_one_loss,
    "log_loss": sk.log_loss,
    "brier": sk.brier_score_loss,
    "macro_f1": lambda y, p, **w: sk.f1_score(y, p, average="macro", **w),
    "balanced_accuracy": sk.balanced_accuracy_score,
    "macro_auc": lambda y, p, **w: sk.roc_auc_score(y, p, multi_class="ovr", **w),
}
REGRESSION = {
    "mse": sk.mean_squared_error,
    "rmse": sk.root_mean_squared_error,
    "mae": sk.mean_absolute_error,
    "r2": sk.r2_score,
    "bias": mean_difference,
    "pinball": lambda y, p, **w: sk.mean_pinball_loss(y, p, alpha=0.8, **w),
}
weighted = pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)


@pytest.mark.parametrize("name", BINARY)
@weighted
def test_binary(name, weights):
    metric = metric_named(name)
    intercept, slope = metric.term_coefficients(RISK, THRESHOLD)
    shown = LABEL if metric.wants == "label" else RISK
    expected = BINARY[name](OUTCOME, shown, sample_weight=weights)
    found = metric.value(intercept + slope * OUTCOME, weights)
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", MULTICLASS)
@weighted
def test_multiclass(name, weights):
    metric = metric_named(name, "multiclass").bind(classes=4)
    shown = CLASS if metric.wants == "label" else PROBABILITIES
    if name == "brier" and sklearn.__version__ < "1.7":
        pytest.skip("scikit-learn has the Brier score of several classes since 1.7")
    expected = MULTICLASS[name](CODES, shown, sample_weight=weights)
    found = metric.value(metric.per_row(shown, CODES), weights)
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", REGRESSION)
@weighted
def test_regression(name, weights):
    metric = metric_named(name, "regression").bind(quantile=0.8, centre=float(VALUES.mean()))
    expected = REGRESSION[name](VALUES, PREDICTED, sample_weight=weights)
    found = metric.value(metric.per_row(PREDICTED, VALUES), weights)
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_none_is_left_out():
    for task, tested in (
        ("binary", BINARY),
        ("multiclass", MULTICLASS),
        ("regression", REGRESSION),
    ):
        assert set(tested) == {metric.name for metric in METRICS if task in metric.tasks}


def scored(**columns):
    source = pd.DataFrame({"x": RNG.random(ROWS), **columns})
    return wg.Study(source, source.sample(frac=1.0, random_state=0), outcome="y", prediction="p",
                    metric="accuracy", threshold=THRESHOLD)  # fmt: skip


NAMES = {
    "roc_auc": "auc",
    "ROC_AUC": "auc",
    "AUC": "auc",
    "Brier": "brier",
    "neg_brier_score": "brier",
    "neg_log_loss": "log_loss",
    "matthews_corrcoef": "mcc",
    "f1": "f1",
    "balanced_accuracy": "balanced_accuracy",
    "PPV": "precision",
}


@pytest.mark.parametrize("given", NAMES)
def test_scikit_learns_names_and_any_letters_are_ours(given):
    study = replace(scored(y=OUTCOME, p=RISK), metric=given)
    assert study.design.metric.name == NAMES[given]
    said = [str(note) for note in study.design.notes if note.kind == "sign_of_loss"]
    assert bool(said) == given.startswith("neg_")
    if said:
        assert "scikit-learn" in said[0]
        assert "lower is better" in said[0]


def test_names_of_several_classes_and_of_values():
    for given, ours, task in (
        ("f1_macro", "macro_f1", "multiclass"),
        ("roc_auc_ovr", "macro_auc", "multiclass"),
        ("neg_root_mean_squared_error", "rmse", "regression"),
        (sk.get_scorer("neg_mean_absolute_error"), "mae", "regression"),
        (sk.mean_squared_error, "mse", "regression"),
        ("R2", "r2", "regression"),
    ):
        assert metric_named(canonical_name(given), task).name == ours
    assert sign_note(sk.get_scorer("neg_mean_absolute_error"))
    assert not sign_note(sk.get_scorer("r2"))
    assert not sign_note(lambda p, y: p - y)
