"""The user's own scikit-learn estimators behind the learner protocol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline

from whygap.domains import Array
from whygap.learning.inputs import Inputs
from whygap.learning.models import TrainingRows


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
