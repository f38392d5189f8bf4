"""Conditional means of a plain numeric table: the learners of an analysis, and fixed boosting.

For simulated worlds, and for revised models and comparators in the experiments. In a table NaN is
missing and categories are codes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import lightgbm as lgb
import numpy as np
from threadpoolctl import threadpool_limits

from whygap.domains import Array
from whygap.learning.choose import FAMILIES, Probe, Sight, choose
from whygap.learning.dictionary import Dictionary, build_dictionary
from whygap.learning.models import Kind, Learner, Mean, Model, TrainingRows
from whygap.learning.trees import Given
from whygap.tables.design import Column


@dataclass(frozen=True, slots=True, eq=False)
class Predictor:
    """A fitted conditional mean at rows of a table."""

    dictionary: Dictionary
    model: Model

    def __call__(self, features: Array) -> Array:
        """One number per row."""
        return self.model.predict(self.dictionary.inputs(features))


def fit_mean(
    features: Array,
    response: Array,
    weights: Array,
    categories: tuple[int, ...] = (),
    seed: int = 0,
    start: int | None = None,
) -> Predictor:
    """E[response | features]; a probability when the response is 0 or 1.

    `categories` are positions of columns, `start` that of a column with the logit of a risk that is
    known already: it, and trees that correct it, are candidates too. On one thread: hundreds of
    small problems, on which threads that wait for a busy core have cost a hundred times as much.
    """
    columns = [
        Column(str(j), "category" if j in categories else "numeric")
        for j in range(features.shape[1])
    ]
    dictionary = build_dictionary(features, columns)
    kind: Kind = "probability" if np.isin(response, (0.0, 1.0)).all() else "real"
    rows = TrainingRows(dictionary.inputs(features), response, weights, kind)
    with threadpool_limits(1):
        return Predictor(dictionary, _learner(rows, seed, start).fit(rows))


def _learner(rows: TrainingRows, seed: int, start: int | None) -> Learner:
    """Chosen on three folds of the rows, over which the response is spread evenly."""
    if rows.is_trivial:
        return Mean()
    order = np.lexsort((np.random.default_rng(seed).random(len(rows.target)), rows.target))
    fold = np.empty(len(order), dtype=np.int64)
    fold[order] = np.arange(len(order)) % 3
    probes = []
    for k in range(3):
        train, held = rows.take(np.flatnonzero(fold != k)), rows.take(np.flatnonzero(fold == k))
        probes.append(Probe((Sight(train, held.inputs, held.target),), held.weight))
    given = None if start is None else Given(start)
    return choose(probes, FAMILIES["auto"], seed, given).learner


def boosted_probability(
    x: Array, y: Array, categories: list[int], parameters: dict[str, Any], rounds: int
) -> Callable[[Array], Array]:
    """A LightGBM probability with parameters that are fixed, not chosen."""
    rows = lgb.Dataset(x, y, categorical_feature=categories or "auto")
    booster = lgb.train(parameters, rows, num_boost_round=rounds)
    return lambda at: np.asarray(booster.predict(at, num_threads=1), dtype=float)
