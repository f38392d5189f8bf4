"""The paper's menu: random forests against polynomial (logistic) ridge, 3-fold grid search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from whygap.domains import Array
from whygap.learning.inputs import Inputs
from whygap.learning.models import Kind, Mean, Model, is_trivial
from whygap.learning.own import OwnModel

__all__ = ["PaperMenu"]

_CUBIC_UP_TO = 8


@dataclass(frozen=True, slots=True)
class PaperMenu:
    """Best of a forest and a polynomial model by 3-fold cross-validation, at every fit.

    Degree 3 as in the paper up to eight columns, degree 1 beyond (degree 3 of 34 columns would be
    7,769 terms).
    """

    seed: int = 0
    name: str = "paper"

    def fit(self, inputs: Inputs, target: Array, weight: Array, kind: Kind) -> Model:
        """Train on these rows."""
        if is_trivial(inputs, target):
            return Mean().fit(inputs, target, weight, kind)
        classifies = kind == "probability"
        label = target.astype(int) if classifies else target
        scoring = "neg_log_loss" if classifies else "neg_mean_squared_error"
        best = max(
            (
                self._search(model, grid, scoring, inputs.table, label, weight)
                for model, grid in self._families(inputs.table.shape[1], classifies)
            ),
            key=lambda search: float(search.best_score_),
        )
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

    def _search(
        self,
        model: Any,
        grid: dict[str, list[Any]],
        scoring: str,
        raw: Array,
        label: Array,
        weight: Array,
    ) -> Any:
        search = GridSearchCV(model, grid, scoring=scoring, cv=3, n_jobs=1)
        extra = {} if np.ptp(weight) == 0 else {"model__sample_weight": weight}
        return search.fit(raw, label, **extra)
