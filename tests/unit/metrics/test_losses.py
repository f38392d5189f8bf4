"""Metrics as a(x) + b(x) y: both outcomes give back the per-row value."""

from __future__ import annotations

import numpy as np
import pytest

from whygap._metrics import Metric, metric_named, metric_of
from whygap.errors import ColumnError, SettingsError

PREDICTION = np.array([0.1, 0.49, 0.5, 0.51, 0.9])
EXPECTED = {
    "accuracy": lambda p, y: ((p >= 0.5) == y).astype(float),
    "zero_one": lambda p, y: ((p >= 0.5) != y).astype(float),
    "brier": lambda p, y: (p - y) ** 2,
    "log_loss": lambda p, y: -(y * np.log(p) + (1 - y) * np.log(1 - p)),
}


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize("outcome", [0.0, 1.0])
def test_intercept_plus_slope_times_outcome_is_the_metric(name, outcome):
    intercept, slope = metric_named(name).coefficients(PREDICTION, 0.5)
    expected = EXPECTED[name](PREDICTION, outcome)
    np.testing.assert_allclose(intercept + slope * outcome, expected, rtol=1e-12)


def test_the_threshold_cuts_labels_and_leaves_probabilities():
    accuracy = metric_named("accuracy").coefficients(PREDICTION, 0.3)[0]
    assert accuracy.tolist() == [1.0, 0.0, 0.0, 0.0, 0.0]
    brier = [metric_named("brier").coefficients(PREDICTION, t)[0].tolist() for t in (0.3, 0.9)]
    assert brier[0] == brier[1]


@pytest.mark.parametrize("name", ["accuracy", "zero_one"])
def test_labels_have_a_slope_of_one_or_minus_one(name):
    slope = metric_named(name).coefficients(PREDICTION, 0.5)[1]
    assert set(slope) == {-1.0, 1.0}


def test_accuracy_and_zero_one_are_each_others_complement():
    a = metric_named("accuracy").coefficients(PREDICTION, 0.5)
    z = metric_named("zero_one").coefficients(PREDICTION, 0.5)
    np.testing.assert_array_equal(a[0] + z[0], np.ones(5))
    np.testing.assert_array_equal(a[1], -z[1])


def test_a_callable_becomes_a_metric_of_unknown_direction():
    def absolute(prediction, outcome):
        return np.abs(prediction - outcome)

    metric = metric_of(absolute)
    assert (metric.name, metric.higher_is_better, metric.is_share) == ("absolute", None, False)
    intercept, slope = metric.coefficients(PREDICTION, 0.5)
    np.testing.assert_allclose(intercept, PREDICTION)
    np.testing.assert_allclose(slope, 1 - 2 * PREDICTION)


def test_a_metric_passes_through():
    metric = Metric(name="mine", terms=lambda p, y: p * y, higher_is_better=True)
    assert metric_of(metric) is metric
    assert metric_of("brier") is metric_named("brier")


def test_an_unknown_metric_names_the_closest_one():
    with pytest.raises(SettingsError) as caught:
        metric_named("acuracy")
    assert str(caught.value) == "There is no metric 'acuracy'. Did you mean 'accuracy'?"


def test_an_unknown_metric_like_no_other_lists_them_all():
    with pytest.raises(SettingsError) as caught:
        metric_named("distance")
    assert str(caught.value) == (
        "There is no metric 'distance'. Metrics are: accuracy, zero_one, brier, log_loss, "
        "calibration, net_benefit, mse, mae, bias, pinball, auc, precision, ppv, recall, "
        "sensitivity, specificity, npv, f1, balanced_accuracy, mcc, macro_f1, macro_auc, rmse, "
        "r2, or a callable."
    )


def test_a_metric_must_be_a_name_or_a_callable():
    with pytest.raises(SettingsError) as caught:
        metric_of(3)
    assert str(caught.value) == (
        "The metric must be a name or a callable(prediction, outcome). Got int."
    )


def test_a_metric_must_give_one_value_per_row():
    metric = metric_of(lambda p, y: np.mean(p - y))
    with pytest.raises(SettingsError) as caught:
        metric.coefficients(PREDICTION, 0.5)
    assert str(caught.value) == (
        "The metric '<lambda>' must return one value per row. Got shape () for 5 rows."
    )


def test_log_loss_of_certain_predictions_is_refused():
    with pytest.raises(ColumnError) as caught:
        metric_named("log_loss").coefficients(np.array([0.2, 0.0]), 0.5)
    assert str(caught.value) == (
        "The metric 'log_loss' is not finite at some predictions. Got inf at prediction 0. For "
        "log loss, probabilities must lie strictly between 0 and 1."
    )
