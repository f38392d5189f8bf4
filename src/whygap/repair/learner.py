"""The learner of a revision: logistic models and boosting, stacked; a scikit-learn classifier."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.optimize import nnls
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

from whygap.domains import Array, IntArray
from whygap.repair.boosting import CorrectedRisk, boosted_trees

__all__ = ["StackedRisk"]

MOST_SQUARED = 12
SMALLEST = 1e-4


class StackedRisk(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """P(Y=1 | X) from a linear logistic model, a quadratic one and boosted trees.

    Their weights are not negative, sum to one and are chosen on three folds of the training rows
    (least squares on the outcome), so that few rows lean on the simple model by themselves. Where
    one column is the logit of a risk that is known already, trees that start from it join them.

    Args:
        categories: positions of the columns whose codes have no order.
        rounds: boosting rounds.
        seed: of folds and trees.
        start: position of the column with the logit of a known risk; None where there is none.
    """

    def __init__(
        self,
        categories: tuple[int, ...] = (),
        rounds: int = 100,
        seed: int = 0,
        start: int | None = None,
    ) -> None:
        self.categories = categories
        self.rounds = rounds
        self.seed = seed
        self.start = start

    def fit(self, X: Array, y: Array, sample_weight: Array | None = None) -> Self:
        """Train on rows without order; `y` is 0 or 1, gaps in `X` are NaN."""
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        happened = np.asarray(y).astype(np.int64)
        self.classes_ = np.array([0, 1])
        self.n_features_in_ = X.shape[1]
        self.share_ = float(np.average(happened, weights=weight))
        self.models_: list[Any] = []
        self.weights_ = np.zeros(0)
        if X.shape[1] and 0 < happened.sum() < len(happened):
            self._fit_models(X, happened, weight)
        return self

    def _fit_models(self, X: Array, happened: IntArray, weight: Array) -> None:
        weights = self._stack_weights(X, happened, weight)
        kept = np.flatnonzero(weights > 0.01)
        models = self._candidates(X.shape[1], len(X))
        self.models_ = [fitted(models[i], X, happened, weight) for i in kept]
        self.weights_ = weights[kept] / weights[kept].sum()

    def predict_proba(self, X: Array) -> Array:
        """Columns P(Y=0), P(Y=1)."""
        risk = np.full(len(X), self.share_)
        if self.models_:
            risks = [model.predict_proba(X)[:, 1] for model in self.models_]
            risk = np.asarray(np.column_stack(risks) @ self.weights_, dtype=np.float64)
        risk = np.clip(risk, SMALLEST, 1 - SMALLEST)
        return np.column_stack([1 - risk, risk])

    def predict(self, X: Array) -> IntArray:
        """1 where the risk is at least one half."""
        return np.asarray(self.predict_proba(X)[:, 1] >= 0.5, dtype=np.int64)

    def _stack_weights(self, X: Array, happened: IntArray, weight: Array) -> Array:
        models = len(self._candidates(X.shape[1], len(X)))
        simplest: Array = np.array([1.0] + [0.0] * (models - 1))
        rarer = int(min(happened.sum(), len(happened) - happened.sum()))
        if rarer < 3:
            return simplest
        held_out = np.zeros((len(X), models))
        folds = StratifiedKFold(3, shuffle=True, random_state=self.seed)
        for train, held in folds.split(X, happened):
            for i, model in enumerate(self._candidates(X.shape[1], len(train))):
                fitted(model, X[train], happened[train], weight[train])
                held_out[held, i] = model.predict_proba(X[held])[:, 1]
        root = np.sqrt(weight)
        found = nnls(held_out * root[:, None], happened * root)[0]
        return np.asarray(found / found.sum()) if found.sum() > 0 else simplest

    def _candidates(self, columns: int, rows: int) -> list[Any]:
        """Unfitted models, the simplest first."""
        models: list[Any] = [logistic_pipeline(columns, self.categories, degree=1)]
        if columns - len(self.categories) <= MOST_SQUARED:
            models.append(logistic_pipeline(columns, self.categories, degree=2))
        models.append(boosted_trees(rows, self.rounds, self.seed))
        if self.start is not None:
            models.append(CorrectedRisk(self.start, self.rounds, self.seed))
        return models


def fitted(model: Any, X: Array, y: IntArray, weight: Array) -> Any:
    """The model, trained with row weights."""
    if isinstance(model, Pipeline):
        return model.fit(X, y, **{f"{model.steps[-1][0]}__sample_weight": weight})
    return model.fit(X, y, sample_weight=weight)


def logistic_pipeline(columns: int, categories: tuple[int, ...], degree: int) -> Pipeline:
    """Fill gaps, scale numbers (and square them), expand categories, logistic regression."""
    numbers = [j for j in range(columns) if j not in categories]
    steps: list[Any] = [SimpleImputer(keep_empty_features=True, add_indicator=True)]
    if degree > 1:
        steps += [StandardScaler(), PolynomialFeatures(degree, include_bias=False)]
    expand = make_pipeline(
        SimpleImputer(strategy="constant", fill_value=-1.0, keep_empty_features=True),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    )
    spread = ColumnTransformer(
        [
            ("numbers", make_pipeline(*steps, StandardScaler()), numbers),
            ("categories", expand, list(categories)),
        ]
    )
    return make_pipeline(spread, LogisticRegression(C=1.0, max_iter=2000))
