"""The user's own scikit-learn estimators behind the learner protocol; cloned, never mutated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from whygap.domains import Array
from whygap.learning.inputs import Inputs
from whygap.learning.models import Kind, Mean, Model, is_trivial

__all__ = ["OwnEstimators"]


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
    """A classifier for probabilities and a regressor for everything else."""

    classifier: Any
    regressor: Any
    name: str = "own estimators"

    def fit(self, inputs: Inputs, target: Array, weight: Array, kind: Kind) -> Model:
        """Train on these rows; weights are passed on when they are not all equal."""
        if is_trivial(inputs, target):
            return Mean().fit(inputs, target, weight, kind)
        classifies = kind == "probability"
        estimator = clone(self.classifier if classifies else self.regressor)
        label = target.astype(int) if classifies else target
        if np.ptp(weight) == 0:
            estimator.fit(inputs.table, label)
        else:
            estimator.fit(inputs.table, label, sample_weight=weight)
        return OwnModel(estimator, classifies)
