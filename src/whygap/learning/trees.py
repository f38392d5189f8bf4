"""LightGBM behind the learner protocol: small-data shapes, native categories and missing values."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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

    def __init__(self, table: Array, categorical: Sequence[int] = ()) -> None:
        self.data = _data(table, categorical, label=np.zeros(len(table)))

    def take(self, rows: IntArray, beside: Binned | None = None) -> Any:
        """A data set of these rows, ascending; a table of further columns comes last."""
        some = self.data.subset(())
        some.used_indices = rows  # given to `subset`, they would be sorted one by one
        some.construct()
        if beside is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that raw values are gone: nobody asks for them
                some.add_features_from(beside.data)
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
        return self.scale.back(self._sums(inputs) + self.start_at(inputs))

    def grow(self, rounds: int) -> None:
        """Train up to so many trees."""
        while self.booster.current_iteration() < rounds:
            if self.booster.update():
                break

    def trees(self, table: Array, since: int = 0) -> Array:
        """What the trees after the first `since` add at some rows."""
        found = self.booster.current_iteration() - since
        if found <= 0:
            return np.zeros(len(table))
        added = self.booster.predict(
            table, start_iteration=since, num_iteration=found, raw_score=True
        )
        return np.asarray(added, dtype=float)

    def start_at(self, inputs: Inputs) -> Array | float:
        """What the trees are added to."""
        return self.start if isinstance(self.start, float) else self.start.score(inputs)

    def _sums(self, inputs: Inputs) -> Array:
        """All trees; rows that were seen with the same value of the extra column are known."""
        if inputs.lift is None or inputs.grown is None:
            return self.trees(inputs.table)
        sums, new = np.empty(len(inputs)), np.ones(len(inputs), dtype=bool)
        position, known = inputs.lift.position, inputs.grown.setdefault(self, [])
        for other, found in known:
            same = new & (position == other).reshape(len(new), -1).all(axis=1)
            sums[same] = found[same]
            new &= ~same
        if new.any():
            sums[new] = self.trees(inputs.table[new])
        known.append((position, sums))
        return sums


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """What trees of any shape are grown on: rows as they see them, and what they start from."""

    data: Any
    rows: int
    kind: Kind
    scale: Scale
    start: BasisModel | Given | float

    @classmethod
    def of(cls, rows: TrainingRows, learner: Fast | BasisModel | Given | None) -> Ground:
        """Trees start from another learner's score, or from the mean."""
        scale, inputs = rows.scale, rows.inputs
        label = scale.put(rows.target)
        start: BasisModel | Given | float
        if learner is None:
            mean = float(rows.weight @ label) / float(rows.weight.sum())
            start = float(logit_clipped(np.array(mean))) if scale.logistic else mean
            score = np.full(len(label), start)
        else:
            start = learner.fit(rows)
            score = start.score(inputs)
        binned = inputs.binned
        data = _data(inputs.table, inputs.categorical) if binned is None else binned()
        data.set_label(label)
        data.set_weight(rows.weight)
        data.set_init_score(score)
        return cls(data, len(label), rows.kind, scale, start)


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
        model = self.planted(Ground.of(rows, self.start))
        model.grow(self.rounds)
        return model

    def planted(self, ground: Ground) -> BoostedModel:
        """A model without trees as yet."""
        from lightgbm import Booster

        parameters = self._parameters(ground.kind, ground.rows)
        return BoostedModel(Booster(parameters, ground.data), ground.scale, ground.start)

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


def staged(model: BoostedModel, held_out: Inputs, stages: Sequence[int]) -> Iterator[Array]:
    """Predictions at held-out rows with more and more trees; these grow as they are asked for."""
    table, start = held_out.table, model.start_at(held_out)
    trees, since = np.zeros(len(table)), 0
    for rounds in stages:
        model.grow(rounds)
        trees = trees + model.trees(table, since)
        since = rounds
        yield model.scale.back(trees + start)


def side_by_side(
    shapes: Sequence[Boosted], rows: TrainingRows, held_out: Inputs, stages: Sequence[int]
) -> list[Iterator[Array]]:
    """The same of several shapes, which have their ground in common."""
    if rows.is_trivial:
        return [repeat(np.full(len(held_out), rows.mean), len(stages)) for _ in shapes]
    ground = Ground.of(rows, shapes[0].start)
    return [staged(shape.planted(ground), held_out, stages) for shape in shapes]
