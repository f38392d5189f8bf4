"""LightGBM behind the learner protocol: small-data shapes, native categories and missing values."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

import numpy as np

from whygap.domains import Array, IntArray
from whygap.learning.inputs import Inputs
from whygap.learning.models import BasisModel, Fast, Kind, Scale, TrainingRows
from whygap.learning.ridge import logit_clipped

_OBJECTIVES = {"probability": "binary", "bounded": "cross_entropy", "real": "regression"}
# What all trees have in common: coarse bins for small data, the same numbers on every machine.
_DATASET: dict[str, Any] = {
    "max_bin": 63,
    "min_data_in_bin": 3,
    "num_threads": 1,
    "force_row_wise": True,
    "deterministic": True,
    "verbosity": -1,
    "cat_smooth": 10.0,
    "max_cat_to_onehot": 8,
    "feature_pre_filter": False,
}


class Binned:
    """A table that is binned once; each training set takes its rows."""

    def __init__(self, table: Array, categorical: Sequence[int]) -> None:
        self.data = _data(table, categorical, label=np.zeros(len(table)))

    def take(self, rows: IntArray, beside: Array | None = None) -> Any:
        """A data set of these rows, ascending; their values of further columns come last."""
        some = self.data.subset(rows).construct()
        if beside is not None:
            more = _data(beside.reshape(len(rows), -1), (), label=np.zeros(len(rows)))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that raw values are gone: nobody asks for them
                some.add_features_from(more)
        return some


def _data(table: Array, categorical: Sequence[int], **more: Any) -> Any:
    """LightGBM comes in here: workers without trees save a second and a hundred megabytes."""
    import lightgbm as lgb

    found = lgb.Dataset(table, params=_DATASET, categorical_feature=list(categorical), **more)
    return found.construct()


@dataclass(frozen=True, slots=True)
class Given:
    """A risk that is known already: one raw column holds its logit (a gap counts as one half)."""

    column: int
    name: str = "given"

    def fit(self, rows: TrainingRows) -> Given:  # noqa: ARG002 - the protocol
        """Nothing to train."""
        return self

    def score(self, inputs: Inputs) -> Array:
        """The logit."""
        return np.nan_to_num(inputs.raw[:, self.column])

    def predict(self, inputs: Inputs) -> Array:
        """One number per row."""
        return Scale().back(self.score(inputs))


@dataclass(frozen=True, slots=True, eq=False)
class BoostedModel:
    """A booster, its target's scale, and the model (or level) it was started from."""

    booster: Any
    scale: Scale
    start: BasisModel | Given | float

    def predict(self, inputs: Inputs) -> Array:
        """One number per row."""
        return self.finished(inputs, self.trees(inputs, 0))

    def grow(self, rounds: int) -> None:
        """Train up to so many trees."""
        while self.booster.current_iteration() < rounds:
            if self.booster.update():
                break

    def trees(self, inputs: Inputs, since: int) -> Array:
        """What the trees after the first `since` add at some rows."""
        found = self.booster.current_iteration() - since
        if found <= 0:
            return np.zeros(len(inputs))
        added = self.booster.predict(
            inputs.table, start_iteration=since, num_iteration=found, raw_score=True
        )
        return np.asarray(added, dtype=float)

    def finished(self, inputs: Inputs, trees: Array) -> Array:
        """Predictions from the sum of trees."""
        start = self.start if isinstance(self.start, float) else self.start.score(inputs)
        return self.scale.back(trees + start)


@dataclass(frozen=True, slots=True)
class Boosted:
    """Gradient boosted trees, from nothing or on top of another score."""

    rounds: int = 40
    leaves: int = 12
    rate: float = 0.15
    rows_per_leaf: int = 20
    seed: int = 0
    start: Fast | BasisModel | Given | None = None

    @property
    def name(self) -> str:
        """Shown in diagnostics."""
        return "boosted" if self.start is None else f"boosted on {self.start.name}"

    def fit(self, rows: TrainingRows) -> BoostedModel:
        """Train on these rows."""
        from lightgbm import Booster

        scale, inputs = rows.scale, rows.inputs
        label = scale.put(rows.target)
        start: BasisModel | Given | float
        if self.start is None:
            mean = float(rows.weight @ label) / float(rows.weight.sum())
            start = float(logit_clipped(np.array(mean))) if scale.logistic else mean
            score = np.full(len(label), start)
        else:
            start = self.start.fit(rows)
            score = start.score(inputs)
        binned = inputs.binned
        data = _data(inputs.table, inputs.categorical) if binned is None else binned()
        data.set_label(label)
        data.set_weight(rows.weight)
        data.set_init_score(score)
        booster = Booster(self._parameters(rows.kind, len(label)), data)
        model = BoostedModel(booster, scale, start)
        model.grow(self.rounds)
        return model

    def _parameters(self, kind: Kind, rows: int) -> dict[str, Any]:
        return {
            **_DATASET,
            "objective": _OBJECTIVES[kind],
            "num_leaves": self.leaves,
            "learning_rate": self.rate,
            "min_data_in_leaf": min(self.rows_per_leaf, max(rows // 10, 1)),
            "min_sum_hessian_in_leaf": 1e-3 if kind == "real" else 1.0,
            "lambda_l2": 1.0,
            "boost_from_average": False,
            "seed": self.seed,
        }


def staged(
    learner: Boosted, rows: TrainingRows, held_out: Inputs, stages: Sequence[int]
) -> Iterator[Array]:
    """Predictions at held-out rows with more and more trees; these grow as they are asked for."""
    if rows.is_trivial:
        yield from repeat(np.full(len(held_out), rows.mean), len(stages))
        return
    model = replace(learner, rounds=0).fit(rows)
    trees, since = np.zeros(len(held_out)), 0
    for rounds in stages:
        model.grow(rounds)
        trees = trees + model.trees(held_out, since)
        since = rounds
        yield model.finished(held_out, trees)
