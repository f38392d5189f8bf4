"""Slopes by hand equal slopes by differences; the influence of a row is a derivative."""

from __future__ import annotations

import numpy as np
import pytest
from test_against_sklearn import CLASS, CODES, OUTCOME, PREDICTED, PROBABILITIES, RISK, VALUES

from whygap._metrics import METRICS, Metric
from whygap._metrics.metric import slopes_of

SHOWN = {
    "binary": (RISK, (RISK >= 0.5).astype(float), OUTCOME, 2),
    "multiclass": (PROBABILITIES, CLASS, CODES, 4),
    "regression": (PREDICTED, PREDICTED, VALUES, 0),
}
ALL = [(metric, task) for metric in METRICS for task in metric.tasks]
each = pytest.mark.parametrize(("metric", "task"), ALL, ids=lambda one: getattr(one, "name", one))


def terms_of(metric, task):
    scores, labels, outcome, classes = SHOWN[task]
    ready = metric.given(threshold=0.5, classes=classes, quantile=0.3, centre=1e4)
    return ready.per_row(labels if metric.wants == "label" else scores, outcome)


@each
def test_slopes_by_hand_are_those_by_differences(metric, task):
    means = metric.means(terms_of(metric, task))
    expected = slopes_of(metric.of, means)
    np.testing.assert_allclose(metric.gradient(means), expected, rtol=1e-8, atol=1e-9)


@each
def test_influence_is_the_derivative_with_respect_to_a_rows_weight(metric, task):
    terms = terms_of(metric, task)
    rows, step = terms.shape[1], 1e-5
    influence = metric.influence(terms)
    assert np.mean(influence) == pytest.approx(0, abs=1e-10)
    for row in (0, 17, 101):
        more, less = np.full(rows, 1 / rows), np.full(rows, 1 / rows)
        more[row] += step
        less[row] -= step
        moved = (metric.value(terms, more) - metric.value(terms, less)) / (2 * step)
        assert moved == pytest.approx(influence[row], rel=1e-5, abs=1e-7)


def test_differences_are_good_to_nine_digits():
    def function(means):
        return np.exp(means[0]) * np.sqrt(means[1]) + means[2]

    point = np.array([0.3, 2.0, 0.0])
    root = np.sqrt(2.0)
    exact = [np.exp(0.3) * root, np.exp(0.3) / (2 * root), 1.0]
    np.testing.assert_allclose(slopes_of(function, point), exact, rtol=1e-9)


def test_ones_own_metric_has_slopes_by_differences():
    metric = Metric(terms=lambda p, y: np.stack([p * y, p]), of=lambda means: means[0] / means[1])
    means = np.array([0.2, 0.4])
    np.testing.assert_allclose(metric.gradient(means), [2.5, -1.25], rtol=1e-9)
    assert not metric.is_mean
