"""scikit-learn behind the learner protocol: the user's own estimators, and the paper's menu."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from whygap.domains import Array
from whygap.learning.inputs import Inputs
from whygap.learning.models import TrainingRows

# The paper's degree 3 of 34 columns would be 7,769 terms; up to eight columns it is 164 at most.
_CUBIC_UP_TO = 8


@dataclass(frozen=True, slots=True, eq=False)
class OwnModel:
    """A fitted scikit-learn estimator on the raw columns."""

    estimator: Any
    classifies: bool

    def predict(self, inputs: Inputs) -> Array:
        """One number per row."""
        ask = self.estimator.predict_proba if self.classifies else self.estimator.predict
        found = np.asarray(ask(inputs.table), dtype=float)
        return found[:, 1] if self.classifies else found


@dataclass(frozen=True, slots=True, eq=False)
class OwnEstimators:
    """A classifier for probabilities, a regressor for everything else; cloned, never changed."""

    classifier: Any
    regressor: Any
    seed: int = 0  # where an estimator draws at random and has no random_state of its own
    name: str = "own estimators"

    def fit(self, rows: TrainingRows) -> OwnModel:
        """Train on these rows."""
        classifies = rows.kind == "probability"
        estimator = _seeded(clone(self.classifier if classifies else self.regressor), self.seed)
        _train(estimator, rows, _weight_name(estimator))
        return OwnModel(estimator, classifies)


@dataclass(frozen=True, slots=True)
class PaperMenu:
    """Random forests against polynomial (logistic) ridge by 3-fold grid search, at every fit."""

    seed: int = 0
    name: str = "paper"

    def fit(self, rows: TrainingRows) -> OwnModel:
        """Train on these rows."""
        classifies = rows.kind == "probability"
        scoring = "neg_log_loss" if classifies else "neg_mean_squared_error"
        searches = [
            GridSearchCV(model, grid, scoring=scoring, cv=3, n_jobs=1)
            for model, grid in self._families(rows.inputs.table.shape[1], classifies)
        ]
        for search in searches:
            _train(search, rows, "model__sample_weight")
        best = max(searches, key=lambda search: float(search.best_score_))
        return OwnModel(best.best_estimator_, classifies)

    def _families(self, columns: int, classifies: bool) -> list[tuple[Any, dict[str, list[Any]]]]:
        forest = RandomForestClassifier if classifies else RandomForestRegressor
        trees = forest(n_estimators=200, random_state=self.seed, n_jobs=1)
        linear: Any = LogisticRegression(max_iter=2000) if classifies else Ridge()
        strength = "model__C" if classifies else "model__alpha"
        grid = [0.01, 0.1, 1.0] if classifies else [1.0, 10.0, 100.0]
        whole = SimpleImputer(keep_empty_features=True)
        cubic = PolynomialFeatures(3 if columns <= _CUBIC_UP_TO else 1, include_bias=False)
        terms = make_pipeline(whole, StandardScaler(), cubic, StandardScaler())
        return [
            (Pipeline([("terms", whole), ("model", trees)]), {"model__max_depth": [2, 4, 8]}),
            (Pipeline([("terms", terms), ("model", linear)]), {strength: grid}),
        ]


def _seeded(estimator: Any, seed: int) -> Any:
    """With every random_state that was left open set: the same data give the same model."""
    given = estimator.get_params(deep=True).items()
    states = [name for name, value in given if value is None and name.endswith("random_state")]
    return estimator.set_params(**dict.fromkeys(states, seed))


def _weight_name(estimator: Any) -> str:
    """What `fit` calls the weights: of a pipeline, those of its last step."""
    if get_config()["enable_metadata_routing"]:
        return "sample_weight"  # its owner has said which steps ask for it
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return f"{name}__{_weight_name(last)}"
    if isinstance(estimator, GridSearchCV | RandomizedSearchCV):
        return _weight_name(estimator.estimator)
    return "sample_weight"


def _train(estimator: Any, rows: TrainingRows, weight: str) -> None:
    """Weights are passed on, under this name, when they are not all equal."""
    label = rows.target.astype(int) if rows.kind == "probability" else rows.target
    weights = {} if np.ptp(rows.weight) == 0 else {weight: rows.weight}
    estimator.fit(rows.inputs.table, label, **weights)
