"""Metrics that are a mean over rows."""

from __future__ import annotations

from functools import partial

import numpy as np

from whygap._metrics.metric import Metric
from whygap.domains import Array

__all__ = ["MEANS"]


def accuracy(prediction: Array, outcome: Array) -> Array:
    return np.equal(prediction, outcome).astype(float)


def zero_one(prediction: Array, outcome: Array) -> Array:
    return np.not_equal(prediction, outcome).astype(float)


def brier(prediction: Array, outcome: Array) -> Array:
    return (prediction - outcome) ** 2


def log_loss(prediction: Array, outcome: Array) -> Array:
    return -np.log(np.where(outcome == 1, prediction, 1 - prediction))


def difference(prediction: Array, outcome: Array) -> Array:
    return prediction - outcome


def net_benefit(prediction: Array, outcome: Array, *, threshold: float) -> Array:
    return prediction * (outcome - (1 - outcome) * threshold / (1 - threshold))


def class_brier(prediction: Array, outcome: Array) -> Array:
    hit = np.equal(outcome[:, None], np.arange(prediction.shape[1]))
    return np.asarray(np.sum((prediction - hit) ** 2, axis=1))


def class_log_loss(prediction: Array, outcome: Array) -> Array:
    given: Array = prediction[np.arange(len(outcome)), outcome.astype(int)]
    return -np.log(given)


def absolute_error(prediction: Array, outcome: Array) -> Array:
    return np.abs(prediction - outcome)


def pinball(prediction: Array, outcome: Array, *, quantile: float) -> Array:
    short = outcome - prediction
    return np.maximum(quantile * short, (quantile - 1) * short)


# What metrics of one kind of prediction have in common
_of_labels = partial(Metric, tasks=("binary", "multiclass"), wants="label", is_share=True)
_of_risk = partial(Metric, tasks=("binary",), wants="probability", higher_is_better=False)
_of_classes = partial(Metric, tasks=("multiclass",), wants="classes", higher_is_better=False)
_of_values = partial(Metric, tasks=("regression",), wants="value", higher_is_better=False)

MEANS = (
    _of_labels(
        name="accuracy",
        terms=accuracy,
        higher_is_better=True,
        sentence="The share of rows whose label is right.",
    ),
    _of_labels(
        name="zero_one",
        words="error rate",
        terms=zero_one,
        higher_is_better=False,
        sentence="The share of rows whose label is wrong.",
    ),
    _of_risk(
        name="brier",
        words="Brier score",
        terms=brier,
        sentence="The mean squared distance of the probability from the outcome.",
    ),
    _of_risk(
        name="log_loss",
        words="log loss",
        terms=log_loss,
        sentence="Minus the mean log of the probability given to what happened.",
    ),
    _of_risk(
        name="calibration",
        words="over-prediction",
        terms=difference,
        higher_is_better=None,
        is_share=True,
        sentence="The mean prediction minus the share of ones: 0 is right, above 0 is too high.",
    ),
    Metric(
        name="net_benefit",
        words="net benefit",
        terms=net_benefit,
        tasks=("binary",),
        wants="label",
        higher_is_better=True,
        needs=("threshold",),
        sentence="True alarms minus false alarms, per row, a false one counted at the odds of the "
        "threshold.",
    ),
    _of_classes(
        name="brier",
        words="Brier score",
        terms=class_brier,
        sentence="The squared distance of the probabilities from the outcome, summed over classes.",
    ),
    _of_classes(
        name="log_loss",
        words="log loss",
        terms=class_log_loss,
        sentence="Minus the mean log of the probability given to the class that was seen.",
    ),
    _of_values(
        name="mse",
        words="mean squared error",
        terms=brier,
        sentence="The mean squared error.",
    ),
    _of_values(
        name="mae",
        words="mean absolute error",
        terms=absolute_error,
        sentence="The mean absolute error.",
    ),
    _of_values(
        name="bias",
        words="over-prediction",
        terms=difference,
        higher_is_better=None,
        sentence="The mean prediction minus the mean outcome: 0 is right, above 0 is too high.",
    ),
    _of_values(
        name="pinball",
        words="pinball loss",
        terms=pinball,
        needs=("quantile",),
        sentence="The loss that the stated quantile minimises.",
    ),
)
