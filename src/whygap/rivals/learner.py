"""A flexible conditional mean for the rivals that need one: boosting and a linear model, blended.

The blend's weight is chosen on three folds of the training rows, so that smooth and rough worlds
are both served.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lightgbm as lgb
import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from whygap.domains import Array, IntArray

__all__ = ["Predictor", "cross_fitted", "fit_mean", "fold_numbers"]

Predictor = Callable[[Array], Array]
ROUNDS = 80
SMALLEST = 1e-3


def fit_mean(features: Array, response: Array, weights: Array, seed: int) -> Predictor:
    """E[response | features] as a function; probabilities when the response is 0/1."""
    centre = float(np.average(response, weights=weights))
    if features.shape[1] == 0 or np.ptp(response) == 0:
        return lambda rows: np.full(len(rows), centre)
    binary = bool(np.isin(response, (0.0, 1.0)).all())
    share = _boosted_share(features, response, weights, seed, binary)
    candidates = [(_boosted, share), (_linear, 1.0 - share)]
    fitted = [
        (fit(features, response, weights, seed, binary), part)
        for fit, part in candidates
        if part > 0
    ]
    return lambda rows: sum(
        (part * predict(rows) for predict, part in fitted), start=np.zeros(len(rows))
    )


def fold_numbers(units: IntArray, folds: int, rng: np.random.Generator) -> IntArray:
    """A fold for every row; rows of one unit (a cluster) share theirs."""
    count = int(units.max()) + 1
    return np.asarray(rng.permutation(np.arange(count) % folds)[units], dtype=np.int64)


def cross_fitted(
    features: Array, response: Array, weights: Array, fold: IntArray, seed: int
) -> tuple[Array, list[Predictor]]:
    """Out-of-fold means at the rows themselves, and the function of every fold."""
    fitted = np.zeros(len(features))
    predictors = []
    for k in np.unique(fold):
        train = fold != k
        predictor = fit_mean(features[train], response[train], weights[train], seed)
        fitted[~train] = predictor(features[~train])
        predictors.append(predictor)
    return fitted, predictors


def _boosted_share(
    features: Array, response: Array, weights: Array, seed: int, binary: bool
) -> float:
    """The weight of boosting that predicts best out of fold (least squares, kept in [0, 1])."""
    tree, line = np.zeros(len(response)), np.zeros(len(response))
    for train, held in KFold(3, shuffle=True, random_state=seed).split(features):
        part = features[train], response[train], weights[train], seed, binary
        tree[held] = _boosted(*part)(features[held])
        line[held] = _linear(*part)(features[held])
    spread = tree - line
    bottom = float(weights @ spread**2)
    if bottom == 0:
        return 0.0
    return float(np.clip(weights @ (spread * (response - line)) / bottom, 0.0, 1.0))


def _boosted(
    features: Array, response: Array, weights: Array, seed: int, binary: bool
) -> Predictor:
    kind = lgb.LGBMClassifier if binary else lgb.LGBMRegressor
    model = kind(
        n_estimators=ROUNDS,
        num_leaves=8,
        learning_rate=0.06,
        min_child_samples=20,
        random_state=seed,
        n_jobs=1,
        verbosity=-1,
    )
    return _predictor(model, features, response, weights, binary)


def _linear(features: Array, response: Array, weights: Array, seed: int, binary: bool) -> Predictor:
    del seed  # the linear model has no random part
    degree = 3 if features.shape[1] <= 3 else 2 if features.shape[1] <= 8 else 1
    end = LogisticRegression(max_iter=1000) if binary else Ridge(alpha=1.0)
    model = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True),
        StandardScaler(),
        PolynomialFeatures(degree, include_bias=False),
        StandardScaler(),
        end,
    )
    return _predictor(model, features, response, weights, binary)


def _predictor(
    model: Any, features: Array, response: Array, weights: Array, binary: bool
) -> Predictor:
    if binary and np.ptp(response) == 0:
        constant = float(response[0])
        return lambda rows: np.full(len(rows), constant)
    target = response.astype(int) if binary else response
    if isinstance(model, Pipeline):
        model.fit(features, target, **{f"{model.steps[-1][0]}__sample_weight": weights})
    else:
        model.fit(features, target, sample_weight=weights)
    if not binary:
        return lambda rows: np.asarray(model.predict(rows), dtype=np.float64)
    return lambda rows: np.clip(model.predict_proba(rows)[:, 1], SMALLEST, 1 - SMALLEST)
