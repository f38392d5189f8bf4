"""LightGBM behind the learner protocol: small-data shapes, native categories and missing values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import lightgbm as lgb
import numpy as np
from scipy import special

from whygap.domains import Array
from whygap.learning.inputs import Inputs
from whygap.learning.models import BasisModel, Constant, Fast, Kind, Mean, Model, is_trivial

__all__ = ["Boosted", "OnTop", "dataset_parameters"]

_OBJECTIVES = {"probability": "binary", "bounded": "cross_entropy", "real": "regression"}


@dataclass(frozen=True, slots=True, eq=False)
class BoostedModel:
    """A booster, its target's range, and the model it was started from (if any)."""

    booster: Any
    low: float
    high: float
    logistic: bool
    start: BasisModel | None
    level: float
    rounds: int

    def predict(self, inputs: Inputs) -> Array:
        """One number per row."""
        return self.finished(inputs, self._trees(inputs, 0, self.rounds))

    def grow(self, inputs: Inputs, since: int, rounds: int) -> Array:
        """Train up to so many trees; what those after the first `since` add at some rows."""
        while self.booster.current_iteration() < rounds:
            if self.booster.update():
                break
        return self._trees(inputs, since, rounds)

    def _trees(self, inputs: Inputs, since: int, rounds: int) -> Array:
        rounds = min(rounds, self.booster.current_iteration())
        if rounds <= since:
            return np.zeros(len(inputs))
        found = self.booster.predict(
            inputs.table, start_iteration=since, num_iteration=rounds - since, raw_score=True
        )
        return np.asarray(found, dtype=float)

    def finished(self, inputs: Inputs, score: Array) -> Array:
        """Predictions from the sum of trees."""
        score = score + (self.level if self.start is None else self.start.score(inputs))
        if not self.logistic:
            return score
        return np.asarray(self.low + (self.high - self.low) * special.expit(score))


@dataclass(frozen=True, slots=True)
class Boosted:
    """Gradient boosted trees."""

    rounds: int = 40
    leaves: int = 12
    rate: float = 0.15
    rows_per_leaf: int = 20
    seed: int = 0
    random_cuts: bool = False
    name: str = "boosted"

    def fit(self, inputs: Inputs, target: Array, weight: Array, kind: Kind) -> Model:
        """Train on these rows."""
        if is_trivial(inputs, target):
            return Mean().fit(inputs, target, weight, kind)
        return self.boost(inputs, target, weight, kind, start=None)

    def boost(
        self, inputs: Inputs, target: Array, weight: Array, kind: Kind, start: BasisModel | None
    ) -> BoostedModel:
        """Grow trees on top of a starting score (the mean when there is none)."""
        low, high = (target.min(), target.max()) if kind == "bounded" else (0.0, 1.0)
        label = (target - low) / (high - low)
        mean = float(weight @ label) / float(weight.sum())
        level = mean if kind == "real" else float(special.logit(np.clip(mean, 1e-6, 1 - 1e-6)))
        score = np.full(len(label), level) if start is None else start.score(inputs)
        data = lgb.Dataset(
            inputs.table,
            label=label,
            weight=weight,
            init_score=score,
            categorical_feature=list(inputs.categorical),
            params=dataset_parameters(),
            free_raw_data=True,
        )
        booster = lgb.Booster(self._parameters(kind, len(label)), data)
        model = BoostedModel(
            booster, float(low), float(high), kind != "real", start, level, self.rounds
        )
        model.grow(inputs.rows(slice(0, 0)), self.rounds, self.rounds)
        return model

    def _parameters(self, kind: Kind, rows: int) -> dict[str, Any]:
        return {
            **dataset_parameters(),
            "objective": _OBJECTIVES[kind],
            "num_leaves": self.leaves,
            "learning_rate": self.rate,
            "min_data_in_leaf": min(self.rows_per_leaf, max(rows // 10, 1)),
            "min_sum_hessian_in_leaf": 1e-3 if kind == "real" else 1.0,
            "lambda_l2": 1.0,
            "extra_trees": self.random_cuts,
            "boost_from_average": False,
            "seed": self.seed,
        }


@dataclass(frozen=True, slots=True)
class OnTop:
    """Boosted trees that correct the fast learner's score."""

    fast: Fast
    boosted: Boosted
    name: str = "boosted on fast"

    def fit(self, inputs: Inputs, target: Array, weight: Array, kind: Kind) -> Model:
        """Train on these rows."""
        start = self.fast.fit(inputs, target, weight, kind)
        if isinstance(start, Constant):
            return start
        return self.boosted.boost(inputs, target, weight, kind, start)


def dataset_parameters() -> dict[str, Any]:
    """What all trees have in common."""
    return {
        "max_bin": 63,
        "min_data_in_bin": 3,
        "num_threads": 1,
        "force_col_wise": True,
        "deterministic": True,
        "verbosity": -1,
        "cat_smooth": 10.0,
        "max_cat_to_onehot": 8,
        "feature_pre_filter": False,
    }
