"""scikit-learn behind the learner protocol: the user's own estimators, and the paper's menu."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from whygap.domains import Array
from whygap.learning.inputs import Inputs
from whygap.learning.models import TrainingRows

__all__ = ["OwnEstimators", "PaperMenu"]

# The paper's degree 3 of 34 columns would be 7,769 terms; up to eight columns it is 164 at most.
_CUBIC_UP_TO = 8


@dataclass(frozen=True, slots=True, eq=False)
class OwnModel:
    """A fitted scikit-learn estimator on the raw columns."""

    estimator: Any
    classifies: bool

    def predict(self, inputs: Inputs) -> Array:
        """One number per row."""
        if self.classifies:
            return np.asarray(self.estimator.predict_proba(inputs.table)[:, 1], dtype=float)
        return np.asarray(self.estimator.predict(inputs.table), dtype=float)


@dataclass(frozen=True, slots=True, eq=False)
class OwnEstimators:
    """A classifier for probabilities, a regressor for everything else; cloned, never changed."""

    classifier: Any
    regressor: Any
    name: str = "own estimators"

    def fit(self, rows: TrainingRows) -> OwnModel:
        """Train on these rows; weights are passed on when they are not all equal."""
        classifies = rows.kind == "probability"
        estimator = clone(self.classifier if classifies else self.regressor)
        label = rows.target.astype(int) if classifies else rows.target
        extra = {} if np.ptp(rows.weight) == 0 else {"sample_weight": rows.weight}
        estimator.fit(rows.inputs.table, label, **extra)
        return OwnModel(estimator, classifies)


@dataclass(frozen=True, slots=True)
class PaperMenu:
    """Random forests against polynomial (logistic) ridge by 3-fold grid search, at every fit."""

    seed: int = 0
    name: str = "paper"

    def fit(self, rows: TrainingRows) -> OwnModel:
        """Train on these rows."""
        classifies = rows.kind == "probability"
        label = rows.target.astype(int) if classifies else rows.target
        scoring = "neg_log_loss" if classifies else "neg_mean_squared_error"
        extra = {} if np.ptp(rows.weight) == 0 else {"model__sample_weight": rows.weight}
        table = rows.inputs.table
        searches = [
            GridSearchCV(model, grid, scoring=scoring, cv=3, n_jobs=1).fit(table, label, **extra)
            for model, grid in self._families(table.shape[1], classifies)
        ]
        best = max(searches, key=lambda search: float(search.best_score_))
        return OwnModel(best.best_estimator_, classifies)

    def _families(self, columns: int, classifies: bool) -> list[tuple[Any, dict[str, list[Any]]]]:
        forest = RandomForestClassifier if classifies else RandomForestRegressor
        trees = forest(n_estimators=200, random_state=self.seed, n_jobs=1)
        linear: Any = LogisticRegression(max_iter=2000) if classifies else Ridge()
        strength = "model__C" if classifies else "model__alpha"
        grid = [0.01, 0.1, 1.0] if classifies else [1.0, 10.0, 100.0]
        degree = 3 if columns <= _CUBIC_UP_TO else 1
        steps = [
            ("impute", SimpleImputer(keep_empty_features=True)),
            ("scale", StandardScaler()),
            ("terms", PolynomialFeatures(degree, include_bias=False)),
            ("rescale", StandardScaler()),
            ("model", linear),
        ]
        forest_steps = [("impute", SimpleImputer(keep_empty_features=True)), ("model", trees)]
        return [
            (Pipeline(forest_steps), {"model__max_depth": [2, 4, 8]}),
            (Pipeline(steps), {strength: grid}),
        ]
