"""Learners: each turns training rows into a model; all speak `Inputs` in, one number a row out.

To add one: a frozen dataclass with `name` and `fit(inputs, target, weight, kind) -> Model`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from scipy import special

from whygap.domains import Array
from whygap.learning import ridge
from whygap.learning.inputs import Inputs

__all__ = ["Blend", "Fast", "Kind", "Learner", "Mean", "Model"]

Kind = Literal["probability", "bounded", "real"]

# Second derivatives shared by many fits are taken at a point that is not overfitted.
_FIRM_PENALTY = 1e-3


class Model(Protocol):
    """A fitted conditional mean."""

    def predict(self, inputs: Inputs) -> Array:
        """One number per row."""


class Learner(Protocol):
    """A recipe for a conditional mean."""

    @property
    def name(self) -> str:
        """Shown in diagnostics."""

    def fit(self, inputs: Inputs, target: Array, weight: Array, kind: Kind) -> Model:
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

    def fit(self, inputs: Inputs, target: Array, weight: Array, kind: Kind) -> Constant:  # noqa: ARG002 - the protocol
        """Train on these rows."""
        return Constant(float(weight @ target) / float(weight.sum()))


def is_trivial(inputs: Inputs, target: Array) -> bool:
    """No columns, or nothing to learn."""
    return inputs.table.shape[1] == 0 or float(np.ptp(target)) == 0.0


@dataclass(frozen=True, slots=True, eq=False)
class BasisModel:
    """A linear predictor on basis columns, possibly through the logistic function."""

    coefficients: Array
    low: float
    high: float
    logistic: bool

    def score(self, inputs: Inputs) -> Array:
        """The linear predictor."""
        return inputs.forward(self.coefficients)

    def predict(self, inputs: Inputs) -> Array:
        """One number per row."""
        score = self.score(inputs)
        if not self.logistic:
            return score
        return np.asarray(self.low + (self.high - self.low) * special.expit(score))


@dataclass(frozen=True, slots=True)
class Fast:
    """Penalised regression on the shared dictionary: logistic for 0..1, least squares else.

    `penalty` weighs the nonlinear terms, per unit of training weight and standardised column;
    linear terms get `simple_penalty`.
    """

    penalty: float = 1e-3
    simple_penalty: float = 1e-4
    name: str = "fast"

    def fit(
        self, inputs: Inputs, target: Array, weight: Array, kind: Kind
    ) -> BasisModel | Constant:
        """Train on these rows."""
        if is_trivial(inputs, target):
            return Mean().fit(inputs, target, weight, kind)
        inputs = inputs.in_full_precision()
        known = None if inputs.known is None else inputs.known(self)
        if kind == "real":
            coefficients = ridge.least_squares(inputs, target, weight, self._penalty(inputs), known)
            return BasisModel(coefficients, 0.0, 1.0, False)
        scaled, low, high = to_unit(target, kind)
        coefficients = ridge.logistic(inputs, scaled, weight, self._penalty(inputs), known)
        return BasisModel(coefficients, low, high, True)

    def curvature(
        self, inputs: Inputs, target: Array, weight: Array, kind: Kind
    ) -> ridge.Curvature:
        """Second derivatives, from which fits on fewer columns start."""
        inputs = inputs.in_full_precision()
        if kind == "real":
            return ridge.Curvature.of_least_squares(inputs, target, weight)
        scaled = to_unit(target, kind)[0]
        penalty = np.maximum(self._penalty(inputs), _FIRM_PENALTY)
        return ridge.Curvature.of_logistic(inputs, scaled, weight, penalty)

    def _penalty(self, inputs: Inputs) -> Array:
        light = min(self.simple_penalty, self.penalty)
        return np.where(inputs.simple > 0, light, self.penalty)


def to_unit(target: Array, kind: Kind) -> tuple[Array, float, float]:
    """The target between 0 and 1, and what these stand for."""
    if kind == "probability":
        return target, 0.0, 1.0
    low, high = float(target.min()), float(target.max())
    return (target - low) / (high - low), low, high


@dataclass(frozen=True, slots=True, eq=False)
class BlendModel:
    """Weighted sum of models."""

    weights: tuple[float, ...]
    models: tuple[Model, ...]

    def predict(self, inputs: Inputs) -> Array:
        """One number per row."""
        total = np.zeros(len(inputs))
        for weight, model in zip(self.weights, self.models, strict=True):
            total += weight * model.predict(inputs)
        return total


@dataclass(frozen=True, slots=True)
class Blend:
    """Several learners with fixed non-negative weights that sum to 1."""

    weights: tuple[float, ...]
    learners: tuple[Any, ...]

    @property
    def name(self) -> str:
        """Shown in diagnostics: 0.70 fast + 0.30 boosted."""
        return describe(self.weights, [learner.name for learner in self.learners])

    def fit(self, inputs: Inputs, target: Array, weight: Array, kind: Kind) -> Model:
        """Train on these rows."""
        if is_trivial(inputs, target):
            return Mean().fit(inputs, target, weight, kind)
        models = tuple(learner.fit(inputs, target, weight, kind) for learner in self.learners)
        return models[0] if len(models) == 1 else BlendModel(self.weights, models)


def describe(weights: Sequence[float], names: Sequence[str]) -> str:
    """Weights and names in words."""
    if len(names) == 1:
        return names[0]
    return " + ".join(f"{w:.2f} {n}" for w, n in zip(weights, names, strict=True))
