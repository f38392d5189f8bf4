"""Metrics that are smooth functions of several means, mostly ratios."""

from __future__ import annotations

from functools import partial

import numpy as np

from whygap._metrics.means import brier
from whygap._metrics.metric import Metric
from whygap._metrics.pairs import auc_of, auc_slopes, auc_terms, macro_auc_terms
from whygap.domains import Array

__all__ = ["RATIOS"]


def precision(label: Array, outcome: Array) -> Array:
    return np.stack([label * outcome, label])


def recall(label: Array, outcome: Array) -> Array:
    return np.stack([label * outcome, outcome])


def specificity(label: Array, outcome: Array) -> Array:
    return np.stack([(1 - label) * (1 - outcome), 1 - outcome])


def npv(label: Array, outcome: Array) -> Array:
    return np.stack([(1 - label) * (1 - outcome), 1 - label])


def cells(label: Array, outcome: Array) -> Array:
    """Both, the label, the outcome: with them the whole two-by-two table is known."""
    return np.stack([label * outcome, label, outcome])


def mcc(means: Array) -> float:
    """The correlation of label and outcome."""
    both, label, outcome = means
    spread = label * (1 - label) * outcome * (1 - outcome)
    return float((both - label * outcome) / np.sqrt(spread))


def class_hits(label: Array, outcome: Array, *, classes: int) -> Array:
    """(2 C, rows): seen and predicted; seen."""
    codes = np.arange(classes)[:, None]
    seen = np.equal(outcome, codes)
    return np.concatenate([seen & np.equal(label, codes), seen]).astype(float)


def class_cells(label: Array, outcome: Array, *, classes: int) -> Array:
    """(3 C, rows): seen and predicted; predicted; seen."""
    codes = np.arange(classes)[:, None]
    seen, said = np.equal(outcome, codes), np.equal(label, codes)
    return np.concatenate([seen & said, said, seen]).astype(float)


def mean_ratio(means: Array) -> float:
    """Of each class, averaged; of one class, a ratio of two means."""
    hits, seen = np.reshape(means, (2, -1))
    return float(np.mean(hits / seen))


def mean_ratio_slopes(means: Array) -> Array:
    hits, seen = np.reshape(means, (2, -1))
    return np.concatenate([1 / seen, -hits / seen**2]) / len(seen)


def f1(means: Array) -> float:
    """Of each class, averaged; F1 itself where there is one class."""
    hits, said, seen = np.reshape(means, (3, -1))
    return float(np.mean(2 * hits / (said + seen)))


def f1_slopes(means: Array) -> Array:
    hits, said, seen = np.reshape(means, (3, -1))
    less = -2 * hits / (said + seen) ** 2
    return np.concatenate([2 / (said + seen), less, less]) / len(seen)


def root(means: Array) -> float:
    return float(np.sqrt(means[0]))


def root_slopes(means: Array) -> Array:
    return np.array([0.5 / np.sqrt(means[0])])


def errors_and_moments(prediction: Array, outcome: Array, *, centre: float) -> Array:
    """Squared error, and the first two moments about a centre near the mean, not to lose digits."""
    away = outcome - centre
    return np.stack([(prediction - outcome) ** 2, away, away**2])


def r2(means: Array) -> float:
    error, first, second = means
    return float(1 - error / (second - first**2))


def r2_slopes(means: Array) -> Array:
    error, first, second = means
    variance = second - first**2
    return np.array([-1 / variance, -2 * first * error / variance**2, error / variance**2])


# What metrics of one kind have in common: of labels of two values; a share of the rows called or
# being so; of one number per row; of pairs of rows
_of_labels = partial(Metric, tasks=("binary",), wants="label", higher_is_better=True)
_share_of_rows = partial(_of_labels, of=mean_ratio, slopes=mean_ratio_slopes, is_share=True)
_of_values = partial(Metric, tasks=("regression",), wants="value")
_of_pairs = partial(Metric, of=auc_of, slopes=auc_slopes, pairs=True, higher_is_better=True)

RATIOS = (
    _of_pairs(
        name="auc",
        words="AUC",
        terms=auc_terms,
        tasks=("binary",),
        wants="probability",
        sentence="The chance that a row with outcome 1 has a higher score than one with outcome 0.",
    ),
    _share_of_rows(
        name="precision",
        terms=precision,
        aliases=("ppv",),
        sentence="Of the rows called 1, the share that are.",
    ),
    _share_of_rows(
        name="recall",
        terms=recall,
        aliases=("sensitivity",),
        sentence="Of the rows that are 1, the share called so.",
    ),
    _share_of_rows(
        name="specificity",
        terms=specificity,
        sentence="Of the rows that are 0, the share called so.",
    ),
    _share_of_rows(
        name="npv",
        words="negative predictive value",
        terms=npv,
        sentence="Of the rows called 0, the share that are.",
    ),
    _of_labels(
        name="f1",
        words="F1",
        terms=cells,
        of=f1,
        slopes=f1_slopes,
        sentence="The harmonic mean of precision and recall.",
    ),
    _of_labels(
        name="balanced_accuracy",
        words="balanced accuracy",
        terms=class_hits,
        of=mean_ratio,
        slopes=mean_ratio_slopes,
        tasks=("binary", "multiclass"),
        is_share=True,
        needs=("classes",),
        sentence="The share of right labels within each class, averaged over classes.",
    ),
    _of_labels(
        name="mcc",
        words="Matthews correlation",
        terms=cells,
        of=mcc,
        sentence="The correlation of label and outcome (Matthews).",
    ),
    _of_labels(
        name="macro_f1",
        words="macro F1",
        terms=class_cells,
        of=f1,
        slopes=f1_slopes,
        tasks=("multiclass",),
        needs=("classes",),
        sentence="F1 of each class against the rest, averaged over classes.",
    ),
    _of_pairs(
        name="macro_auc",
        words="macro AUC",
        terms=macro_auc_terms,
        tasks=("multiclass",),
        wants="classes",
        needs=("classes",),
        sentence="The AUC of each class's probability against the rest, averaged over classes.",
    ),
    _of_values(
        name="rmse",
        words="root mean squared error",
        terms=brier,
        of=root,
        slopes=root_slopes,
        higher_is_better=False,
        sentence="The root of the mean squared error, in the outcome's own units.",
    ),
    _of_values(
        name="r2",
        words="R2",
        terms=errors_and_moments,
        of=r2,
        slopes=r2_slopes,
        higher_is_better=True,
        needs=("centre",),
        sentence="The share of the outcome's variance that the predictions account for.",
    ),
)
