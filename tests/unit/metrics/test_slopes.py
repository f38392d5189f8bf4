"""Slopes by differences equal slopes by hand; the influence of a row is a derivative."""

from __future__ import annotations

import numpy as np
import pytest
from test_against_sklearn import CLASS, CODES, OUTCOME, PREDICTED, PROBABILITIES, RISK, VALUES

from whygap._metrics import METRICS, Metric, metric_named

SHOWN = {
    "binary": (RISK, (RISK >= 0.5).astype(float), OUTCOME, 2),
    "multiclass": (PROBABILITIES, CLASS, CODES, 4),
    "regression": (PREDICTED, PREDICTED, VALUES, 0),
}
ALL = [(metric, task) for metric in METRICS for task in metric.tasks]
each = pytest.mark.parametrize(("metric", "task"), ALL, ids=lambda one: getattr(one, "name", one))


def terms_of(metric, task):
    scores, labels, outcome, classes = SHOWN[task]
    ready = metric.bind(threshold=0.5, classes=classes, quantile=0.3, centre=1e4)
    return ready.per_row(labels if metric.wants == "label" else scores, outcome)


def auc_by_hand(means):
    rho, kappa = np.reshape(means, (2, -1))
    spread = rho * (1 - rho)
    auc = (kappa - rho**2 / 2) / spread
    both = np.concatenate([-(rho + (1 - 2 * rho) * auc), np.ones(len(rho))])
    return both / np.tile(spread, 2) / len(rho)


def mean_ratio_by_hand(means):
    hits, total = np.reshape(means, (2, -1))
    return np.concatenate([1 / total, -hits / total**2]) / len(total)


def f1_by_hand(means):
    hits, predicted, observed = np.reshape(means, (3, -1))
    less = -2 * hits / (predicted + observed) ** 2
    return np.concatenate([2 / (predicted + observed), less, less]) / len(observed)


def mcc_by_hand(means):
    hits, *shares = means
    root = np.sqrt(np.prod([share * (1 - share) for share in shares]))
    covariance = hits - np.prod(shares)
    slopes = [
        -b / root - covariance * (1 - 2 * a) / (2 * a * (1 - a) * root)
        for a, b in (shares, shares[::-1])
    ]
    return np.array([1 / root, *slopes])


def r2_by_hand(means):
    error, first, second = means
    variance = second - first**2
    return np.array([-1 / variance, -2 * first * error / variance**2, error / variance**2])


BY_HAND = {
    "auc": auc_by_hand,
    "macro_auc": auc_by_hand,
    "f1": f1_by_hand,
    "macro_f1": f1_by_hand,
    "mcc": mcc_by_hand,
    "rmse": lambda means: np.array([0.5 / np.sqrt(means[0])]),
    "r2": r2_by_hand,
    **dict.fromkeys(
        ["precision", "recall", "specificity", "npv", "balanced_accuracy"], mean_ratio_by_hand
    ),
}


@each
def test_slopes_by_differences_are_those_by_hand(metric, task):
    means = metric.means(terms_of(metric, task))
    by_hand = np.ones(1) if metric.is_mean else BY_HAND[metric.name](means)
    np.testing.assert_allclose(metric.gradient(means), by_hand, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("share", [1e-4, 0.01, 0.5, 0.99, 0.999])
@pytest.mark.parametrize("name", ["auc", "f1", "mcc", "precision"])
def test_slopes_near_the_edge_of_what_shares_can_be(name, share):
    means = {
        "auc": [share, share**2 / 2 + 0.8 * share * (1 - share)],
        "f1": [0.5 * share, share, share],
        "mcc": [share**2 + 0.5 * share * (1 - share), share, share],
        "precision": [0.7 * share, share],
    }
    metric, point = metric_named(name), np.array(means[name])
    np.testing.assert_allclose(metric.gradient(point), BY_HAND[name](point), rtol=1e-7)


@pytest.mark.parametrize("unit", [1e-6, 1e-3, 1.0, 1e3, 1e6])
def test_slopes_do_not_depend_on_the_units_of_the_outcome(unit):
    for name in ("rmse", "r2"):
        metric = metric_named(name, "regression").bind(centre=float(VALUES.mean()) * unit)
        terms = metric.per_row(PREDICTED * unit, VALUES * unit)
        expected = BY_HAND[name](metric.means(terms)) @ (terms - metric.means(terms)[:, None])
        found = metric.influence(terms)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 * np.abs(expected).max())


def test_where_a_metric_has_no_value_it_has_no_slopes():
    assert np.isnan(metric_named("precision").gradient(np.zeros(2))).all()
    assert np.isnan(metric_named("rmse", "regression").gradient(np.zeros(1))).all()


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
    metric = Metric(
        terms=np.multiply, of=lambda means: np.exp(means[0]) * np.sqrt(means[1]) + means[2]
    )

    point = np.array([0.3, 2.0, 0.0])
    root = np.sqrt(2.0)
    exact = [np.exp(0.3) * root, np.exp(0.3) / (2 * root), 1.0]
    np.testing.assert_allclose(metric.gradient(point), exact, rtol=1e-9)


def test_ones_own_metric_has_slopes_by_differences():
    metric = Metric(terms=lambda p, y: np.stack([p * y, p]), of=lambda means: means[0] / means[1])
    means = np.array([0.2, 0.4])
    np.testing.assert_allclose(metric.gradient(means), [2.5, -1.25], rtol=1e-9)
    assert not metric.is_mean
