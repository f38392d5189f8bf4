"""Learners: each turns training rows into a model; all speak `Inputs` in, one number a row out.

To add one: a frozen dataclass with `name` and `fit(rows) -> Model`; `fitted` spares it rows with
nothing to learn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from scipy import special

from whygap.domains import Array, IntArray
from whygap.learning import ridge
from whygap.learning.inputs import Inputs

Kind = Literal["probability", "bounded", "real"]

# A penalty under which a standardised column has no say.
_CLOSED = 1e6


@dataclass(frozen=True, slots=True)
class Scale:
    """Where a target lives: anywhere, or between two numbers that stand for 0 and 1 of a logit."""

    low: float = 0.0
    high: float = 1.0
    logistic: bool = True

    @classmethod
    def of(cls, kind: Kind, target: Array) -> Scale:
        """Of a kind of target, seen in training."""
        if kind == "bounded":
            return cls(float(target.min()), float(target.max()))
        return cls(logistic=kind == "probability")

    def put(self, target: Array) -> Array:
        """Between 0 and 1; as it is where it may be anywhere."""
        return (target - self.low) / (self.high - self.low)

    def back(self, score: Array) -> Array:
        """A prediction from a linear predictor or a sum of trees."""
        if not self.logistic:
            return score
        return np.asarray(self.low + (self.high - self.low) * special.expit(score))


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRows:
    """What a learner is trained on: inputs, a target of some kind (n,) and weights (n,)."""

    inputs: Inputs
    target: Array
    weight: Array
    kind: Kind

    @property
    def is_trivial(self) -> bool:
        """No columns, or nothing to learn."""
        nothing_seen = self.inputs.raw.shape[1] == 0 and self.inputs.lift is None
        return nothing_seen or float(np.ptp(self.target)) == 0.0

    @property
    def mean(self) -> float:
        """Of the target."""
        return float(self.weight @ self.target) / float(self.weight.sum())

    @property
    def scale(self) -> Scale:
        """Of the target."""
        return Scale.of(self.kind, self.target)

    def take(self, rows: IntArray) -> TrainingRows:
        """Some of the rows."""
        return TrainingRows(self.inputs.rows(rows), self.target[rows], self.weight[rows], self.kind)


class Model(Protocol):
    """A fitted conditional mean."""

    def predict(self, inputs: Inputs) -> Array:
        """One number per row."""


class Learner(Protocol):
    """A recipe for a conditional mean."""

    @property
    def name(self) -> str:
        """Shown in diagnostics."""

    def fit(self, rows: TrainingRows) -> Model:
        """Train on these rows."""


@dataclass(frozen=True, slots=True)
class Constant:
    """The same number everywhere."""

    value: float

    def predict(self, inputs: Inputs) -> Array:
        """One number per row."""
        return np.full(len(inputs), self.value)


@dataclass(frozen=True, slots=True)
class Mean:
    """The weighted mean; what every learner does without columns or with a constant target."""

    name: str = "mean"

    def fit(self, rows: TrainingRows) -> Constant:
        """Train on these rows."""
        return Constant(rows.mean)


def fitted(learner: Learner, rows: TrainingRows) -> Model:
    """The learner's model, or the mean where there is nothing to learn."""
    return Mean().fit(rows) if rows.is_trivial else learner.fit(rows)


@dataclass(frozen=True, slots=True, eq=False)
class BasisModel:
    """A linear predictor on basis columns, possibly through the logistic function."""

    coefficients: Array
    scale: Scale
    name: str = "fast"

    def fit(self, rows: TrainingRows) -> BasisModel:  # noqa: ARG002 - the protocol
        """Nothing left to train: trees may start from it as from a learner."""
        return self

    def score(self, inputs: Inputs) -> Array:
        """The linear predictor."""
        return inputs.forward(self.coefficients)

    def predict(self, inputs: Inputs) -> Array:
        """One number per row."""
        return self.scale.back(self.score(inputs))


@dataclass(frozen=True, slots=True)
class Fast:
    """Penalised regression on the shared dictionary: logistic for 0..1, least squares else.

    `penalty` weighs the nonlinear terms, per unit of training weight and standardised column;
    linear terms get `simple_penalty`.
    """

    penalty: float = 1e-3
    simple_penalty: float = 1e-3
    name: str = "fast"

    def fit(self, rows: TrainingRows) -> BasisModel:
        """Train on these rows."""
        inputs, scale = rows.inputs.in_full_precision(), rows.scale
        known = None if inputs.known is None else inputs.known()
        solve = ridge.logistic if scale.logistic else ridge.least_squares
        target, penalty = scale.put(rows.target), self.penalties(inputs.simple)
        return BasisModel(solve(inputs, target, rows.weight, penalty, known), scale)

    def penalties(self, simple: Array) -> Array:
        """One for each basis column: lightly penalised (1), closed (-1) or neither."""
        light = min(self.simple_penalty, self.penalty)
        penalty = np.where(simple > 0, light, self.penalty)
        return np.where(simple < 0, _CLOSED, penalty)


def curvature(rows: TrainingRows) -> ridge.Curvature:
    """Second derivatives from which other fits start: at a penalty that does not overfit."""
    inputs, target = rows.inputs.in_full_precision(), rows.scale.put(rows.target)
    if rows.kind == "real":
        return ridge.Curvature.of_least_squares(inputs, target, rows.weight)
    return ridge.Curvature.of_logistic(inputs, target, rows.weight, Fast().penalties(inputs.simple))
