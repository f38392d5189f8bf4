"""A random forest behind the learner protocol: LightGBM's, which is quick.

Squared error for every kind of target: a leaf is the mean of its rows, so that probabilities stay
probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import lightgbm as lgb
import numpy as np

from whygap.domains import Array
from whygap.learning.boosted import dataset_parameters
from whygap.learning.inputs import Inputs
from whygap.learning.models import Kind, Mean, Model, is_trivial

__all__ = ["Forest"]


@dataclass(frozen=True, slots=True, eq=False)
class ForestModel:
    """Trees, averaged."""

    booster: Any

    def predict(self, inputs: Inputs) -> Array:
        """One number per row."""
        return np.asarray(self.booster.predict(inputs.table), dtype=float)


@dataclass(frozen=True, slots=True)
class Forest:
    """Deep trees on bootstrap-sized parts of the rows, half of the columns at every split."""

    trees: int = 100
    depth: int = 8
    seed: int = 0
    name: str = "forest"

    def fit(self, inputs: Inputs, target: Array, weight: Array, kind: Kind) -> Model:
        """Train on these rows."""
        if is_trivial(inputs, target):
            return Mean().fit(inputs, target, weight, kind)
        data = lgb.Dataset(
            inputs.table,
            label=target,
            weight=weight,
            categorical_feature=list(inputs.categorical),
            params=dataset_parameters(),
        )
        return ForestModel(lgb.train(self._parameters(), data, self.trees))

    def _parameters(self) -> dict[str, Any]:
        return {
            **dataset_parameters(),
            "boosting": "rf",
            "objective": "regression",
            "bagging_fraction": 0.632,
            "bagging_freq": 1,
            "feature_fraction_bynode": 0.5,
            "num_leaves": 2**self.depth,
            "max_depth": self.depth,
            "min_data_in_leaf": 2,
            "lambda_l2": 0.0,
            "seed": self.seed,
        }
