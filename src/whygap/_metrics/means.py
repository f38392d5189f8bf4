"""Metrics that are a mean over rows."""

from __future__ import annotations

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


MEANS = (
    Metric(
        name="accuracy",
        terms=accuracy,
        tasks=("binary", "multiclass"),
        wants="label",
        higher_is_better=True,
        is_share=True,
        sentence="The share of rows whose label is right.",
    ),
    Metric(
        name="zero_one",
        words="error rate",
        terms=zero_one,
        tasks=("binary", "multiclass"),
        wants="label",
        higher_is_better=False,
        is_share=True,
        sentence="The share of rows whose label is wrong.",
    ),
    Metric(
        name="brier",
        words="Brier score",
        terms=brier,
        tasks=("binary",),
        wants="probability",
        higher_is_better=False,
        sentence="The mean squared distance of the probability from the outcome.",
    ),
    Metric(
        name="log_loss",
        words="log loss",
        terms=log_loss,
        tasks=("binary",),
        wants="probability",
        higher_is_better=False,
        sentence="Minus the mean log of the probability given to what happened.",
    ),
    Metric(
        name="calibration",
        words="over-prediction",
        terms=difference,
        tasks=("binary",),
        wants="probability",
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
    Metric(
        name="brier",
        words="Brier score",
        terms=class_brier,
        tasks=("multiclass",),
        wants="classes",
        higher_is_better=False,
        sentence="The squared distance of the probabilities from the outcome, summed over classes.",
    ),
    Metric(
        name="log_loss",
        words="log loss",
        terms=class_log_loss,
        tasks=("multiclass",),
        wants="classes",
        higher_is_better=False,
        sentence="Minus the mean log of the probability given to the class that was seen.",
    ),
    Metric(
        name="mse",
        words="mean squared error",
        terms=brier,
        tasks=("regression",),
        wants="value",
        higher_is_better=False,
        sentence="The mean squared error.",
    ),
    Metric(
        name="mae",
        words="mean absolute error",
        terms=absolute_error,
        tasks=("regression",),
        wants="value",
        higher_is_better=False,
        sentence="The mean absolute error.",
    ),
    Metric(
        name="bias",
        words="over-prediction",
        terms=difference,
        tasks=("regression",),
        wants="value",
        sentence="The mean prediction minus the mean outcome: 0 is right, above 0 is too high.",
    ),
    Metric(
        name="pinball",
        words="pinball loss",
        terms=pinball,
        tasks=("regression",),
        wants="value",
        higher_is_better=False,
        needs=("quantile",),
        sentence="The loss that the stated quantile minimises.",
    ),
)
