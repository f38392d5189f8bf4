"""The built-in metrics: an entry is the per-row terms u, and `of=`, the function g of their means.

The name of the function is the name of the metric, and the docstring is its sentence in lists.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from whygap._metrics.metric import Metric
from whygap._metrics.pairs import auc_of
from whygap.domains import Array

__all__ = ["METRICS", "entry"]

METRICS: list[Metric] = []
_Terms = Callable[..., Array]


def entry(*, name: str = "", **fields: Any) -> Callable[[_Terms], _Terms]:
    """Register the decorated function as the terms of a metric; `fields` are those of `Metric`."""

    def register(terms: _Terms) -> _Terms:
        doc = terms.__doc__ or ""
        METRICS.append(Metric(name=name or terms.__name__, terms=terms, sentence=doc, **fields))
        return terms

    return register


_of_cells = partial(entry, tasks=("binary",), wants="label", higher_is_better=True)
_of_labels = partial(entry, tasks=("binary", "multiclass"), wants="label", is_share=True)
_of_risk = partial(entry, tasks=("binary",), wants="probability", higher_is_better=False)
_of_classes = partial(entry, tasks=("multiclass",), wants="classes", higher_is_better=False)
_of_values = partial(entry, tasks=("regression",), wants="value", higher_is_better=False)

# -- means over rows -------------------------------------------------------------------------------


@_of_labels(sklearn=("accuracy_score",), higher_is_better=True)
def accuracy(label: Array, outcome: Array) -> Array:
    """The share of rows whose label is right."""
    return np.equal(label, outcome).astype(float)


@_of_labels(words="error rate", sklearn=("zero_one_loss",), higher_is_better=False)
def zero_one(label: Array, outcome: Array) -> Array:
    """The share of rows whose label is wrong."""
    return np.not_equal(label, outcome).astype(float)


@_of_risk(words="Brier score", sklearn=("brier_score_loss", "brier_score"))
def brier(prediction: Array, outcome: Array) -> Array:
    """The mean squared distance of the probability from the outcome."""
    return (prediction - outcome) ** 2


@_of_risk(words="log loss")
def log_loss(prediction: Array, outcome: Array) -> Array:
    """Minus the mean log of the probability given to what happened."""
    return -np.log(np.where(outcome == 1, prediction, 1 - prediction))


@_of_risk(words="over-prediction", higher_is_better=None, is_share=True)
def calibration(prediction: Array, outcome: Array) -> Array:
    """The mean prediction minus the share of ones: 0 is right, above 0 is too high."""
    return prediction - outcome


@_of_cells(words="net benefit", needs=("threshold",))
def net_benefit(label: Array, outcome: Array, *, threshold: float) -> Array:
    """True alarms minus false alarms, per row, a false one counted at the odds of the threshold."""
    return label * (outcome - (1 - outcome) * threshold / (1 - threshold))


@_of_classes(name="brier", words="Brier score")
def class_brier(prediction: Array, outcome: Array) -> Array:
    """The squared distance of the probabilities from the outcome, summed over classes."""
    indicators = np.equal(outcome[:, None], np.arange(prediction.shape[1]))  # (rows, C)
    return np.asarray(np.sum((prediction - indicators) ** 2, axis=1))


@_of_classes(name="log_loss", words="log loss")
def class_log_loss(prediction: Array, outcome: Array) -> Array:
    """Minus the mean log of the probability given to the class that was seen."""
    probability: Array = prediction[np.arange(len(outcome)), outcome.astype(int)]
    return -np.log(probability)


@_of_values(words="mean squared error", sklearn=("mean_squared_error",))
def mse(prediction: Array, outcome: Array) -> Array:
    """The mean squared error."""
    return (prediction - outcome) ** 2


@_of_values(words="mean absolute error", sklearn=("mean_absolute_error",))
def mae(prediction: Array, outcome: Array) -> Array:
    """The mean absolute error."""
    return np.abs(prediction - outcome)


@_of_values(words="over-prediction", higher_is_better=None)
def bias(prediction: Array, outcome: Array) -> Array:
    """The mean prediction minus the mean outcome: 0 is right, above 0 is too high."""
    return prediction - outcome


@_of_values(words="pinball loss", sklearn=("mean_pinball_loss",), needs=("quantile",))
def pinball(prediction: Array, outcome: Array, *, quantile: float) -> Array:
    """The loss that the stated quantile minimises."""
    short = outcome - prediction
    return np.maximum(quantile * short, (quantile - 1) * short)


# -- smooth functions of several means -------------------------------------------------------------


def _mean_ratio(means: Array) -> float:
    hits, total = np.reshape(means, (2, -1))  # (C,) each
    return float(np.mean(hits / total))


def _f1(means: Array) -> float:
    hits, predicted, observed = np.reshape(means, (3, -1))  # (C,) each
    return float(np.mean(2 * hits / (predicted + observed)))


def _correlation(means: Array) -> float:
    hits, label, outcome = means
    spread = label * (1 - label) * outcome * (1 - outcome)
    return float((hits - label * outcome) / np.sqrt(spread))


def _explained(means: Array) -> float:
    error, first, second = means
    return float(1 - error / (second - first**2))


_of_pairs = partial(entry, of=auc_of, pairs=True, higher_is_better=True)
_ratio = partial(_of_cells, of=_mean_ratio, is_share=True)
_by_class = partial(_of_cells, tasks=("binary", "multiclass"), needs=("classes",))


@_of_pairs(
    words="AUC", sklearn=("roc_auc_score", "roc_auc"), tasks=("binary",), wants="probability"
)
def auc(prediction: Array, outcome: Array) -> Array:
    """The chance that a row with outcome 1 has a higher score than one with outcome 0."""
    return np.stack([outcome, prediction])


@_ratio(aliases=("ppv",), sklearn=("precision_score",))
def precision(label: Array, outcome: Array) -> Array:
    """Of the rows called 1, the share that are."""
    return np.stack([label * outcome, label])


@_ratio(aliases=("sensitivity",), sklearn=("recall_score",))
def recall(label: Array, outcome: Array) -> Array:
    """Of the rows that are 1, the share called so."""
    return np.stack([label * outcome, outcome])


@_ratio()
def specificity(label: Array, outcome: Array) -> Array:
    """Of the rows that are 0, the share called so."""
    return np.stack([(1 - label) * (1 - outcome), 1 - outcome])


@_ratio(words="negative predictive value")
def npv(label: Array, outcome: Array) -> Array:
    """Of the rows called 0, the share that are."""
    return np.stack([(1 - label) * (1 - outcome), 1 - label])


@_of_cells(words="F1", sklearn=("f1_score",), of=_f1)
def f1(label: Array, outcome: Array) -> Array:
    """The harmonic mean of precision and recall."""
    return np.stack([label * outcome, label, outcome])


@_by_class(
    words="balanced accuracy", sklearn=("balanced_accuracy_score",), of=_mean_ratio, is_share=True
)
def balanced_accuracy(label: Array, outcome: Array, *, classes: int) -> Array:
    """The share of right labels within each class, averaged over classes."""
    observed = np.equal(outcome, np.arange(classes)[:, None])
    return np.concatenate([observed & np.equal(label, outcome), observed]).astype(float)


@_of_cells(words="Matthews correlation", sklearn=("matthews_corrcoef",), of=_correlation)
def mcc(label: Array, outcome: Array) -> Array:
    """The correlation of label and outcome (Matthews)."""
    return np.stack([label * outcome, label, outcome])


@_by_class(words="macro F1", sklearn=("f1_macro",), tasks=("multiclass",), of=_f1)
def macro_f1(label: Array, outcome: Array, *, classes: int) -> Array:
    """F1 of each class against the rest, averaged over classes."""
    codes = np.arange(classes)[:, None]
    observed = np.equal(outcome, codes)
    predicted = np.equal(label, codes)
    return np.concatenate([observed & predicted, predicted, observed]).astype(float)


@_of_pairs(
    words="macro AUC",
    sklearn=("roc_auc_ovr",),
    tasks=("multiclass",),
    wants="classes",
    needs=("classes",),
)
def macro_auc(prediction: Array, outcome: Array, *, classes: int) -> Array:
    """The AUC of each class's probability against the rest, averaged over classes."""
    return np.concatenate([np.equal(outcome, np.arange(classes)[:, None]), prediction.T])


@_of_values(
    words="root mean squared error",
    sklearn=("root_mean_squared_error",),
    of=lambda means: np.sqrt(means[0]),
)
def rmse(prediction: Array, outcome: Array) -> Array:
    """The root of the mean squared error, in the outcome's own units."""
    return (prediction - outcome) ** 2


@_of_values(
    words="R2", sklearn=("r2_score",), higher_is_better=True, of=_explained, needs=("centre",)
)
def r2(prediction: Array, outcome: Array, *, centre: float) -> Array:
    """The share of the outcome's variance that the predictions account for."""
    distance = outcome - centre  # moments about a centre near the mean lose no digits
    return np.stack([(prediction - outcome) ** 2, distance, distance**2])
