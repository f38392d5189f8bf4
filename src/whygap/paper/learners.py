"""Fit conditional means and density ratios with the paper's learners (appendices C and D)."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, StandardScaler

from whygap.domains import Array, ByDomain

Predict = Callable[[Array], Array]
LearnerName = Literal["paper", "fast"]
FOLDS = 3  # of the cross-validation that selects a model (appendix D)
CUBIC_UP_TO = 8  # columns: 164 terms; the paper's degree 3 of 34 columns would be 7,769 terms
LEAST_PROBABILITY = 1e-3  # of a domain: a forest may say 0, and a ratio must stay finite


def fit_mean(
    features: Array, response: Array, weights: Array, learner: LearnerName, seed: int
) -> Predict:
    """Fit E[response | features] by a classifier if the response is 0 or 1, else by a regressor."""
    varies = np.ptp(features, axis=0) > 0
    if np.ptp(response) == 0 or not varies.any():
        constant = float(np.average(response, weights=weights))
        return lambda rows: np.full(len(rows), constant)
    binary = bool(np.isin(response, (0.0, 1.0)).all())
    model = _paper_menu(int(varies.sum()), binary, seed) if learner == "paper" else _fast(binary)
    model.fit(features[:, varies], response, model__sample_weight=weights)
    if binary:
        return lambda rows: np.asarray(model.predict_proba(rows[:, varies])[:, 1])
    return lambda rows: np.asarray(model.predict(rows[:, varies]))


def fit_ratio(
    features: ByDomain[Array], weights: ByDomain[Array], learner: LearnerName, seed: int
) -> Predict:
    """Fit p_1(x) / p_0(x): the odds of a classifier of the domain, times n_0 / n_1."""
    domain = np.repeat([0.0, 1.0], [len(rows) for rows in features])
    stacked = np.vstack(list(features))
    weight = np.concatenate(list(weights))
    probability = fit_mean(stacked, domain, weight, learner, seed)
    prior = float(weights.source.sum() / weights.target.sum())  # n_0 / n_1

    def ratio(rows: Array) -> Array:
        p = np.clip(probability(rows), LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
        return np.asarray(p / (1 - p) * prior)

    return ratio


def _paper_menu(columns: int, binary: bool, seed: int) -> GridSearchCV:
    """Select among forests and polynomials with a ridge penalty by 3-fold cross-validation."""
    trees: Any = RandomForestClassifier if binary else RandomForestRegressor
    cubic = PolynomialFeatures(3 if columns <= CUBIC_UP_TO else 1, include_bias=False)
    polynomial = make_pipeline(StandardScaler(), cubic, StandardScaler())
    forest = trees(n_estimators=200, random_state=seed)
    ridge = {"model__C": [0.01, 0.1, 1.0]} if binary else {"model__alpha": [1.0, 10.0, 100.0]}
    grid: list[dict[str, list[Any]]] = [
        {"terms": ["passthrough"], "model": [forest], "model__max_depth": [2, 4, 8]},
        {"terms": [polynomial], **ridge},
    ]
    scoring = "neg_log_loss" if binary else "neg_mean_squared_error"
    return GridSearchCV(_fast(binary), grid, scoring=scoring, cv=FOLDS)


def _fast(binary: bool) -> Pipeline:
    """Make one ridge fit on a curve for each column and the products of two columns."""
    curves = SplineTransformer(n_knots=4, include_bias=False, extrapolation="linear")
    products = PolynomialFeatures(2, interaction_only=True, include_bias=False)
    basis = make_pipeline(StandardScaler(), FeatureUnion([("1", curves), ("2", products)]))
    model = LogisticRegression(solver="newton-cholesky", max_iter=500) if binary else Ridge()
    return Pipeline([("terms", basis), ("model", model)])
