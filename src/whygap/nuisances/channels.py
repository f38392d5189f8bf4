"""Outcomes as numbers with a squared error: one of two values or of reals, several of classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.learning.models import Kind
from whygap.learning.ridge import logit_clipped
from whygap.tables.design import Design

__all__ = ["Channel", "channels"]

# Scores nearer to 0 or 1 than this tell no more: on the logit scale they would be far away.
_NEAREST = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class Channel:
    """An outcome Y and the model's prediction f of it, at all rows."""

    outcome: ByDomain[Array]
    prediction: ByDomain[Array]
    kind: Kind
    name: str = ""  # of its class, among several

    @property
    def score(self) -> ByDomain[Array]:
        """The prediction as a column: probabilities on the logit scale."""
        if self.kind == "real":
            return self.prediction
        near = self.prediction.map(lambda f: np.clip(f, _NEAREST, 1 - _NEAREST))
        return near.map(logit_clipped)


def channels(design: Design) -> list[Channel]:
    """One, or one per class: its indicator and its probability (or whether it is the label)."""
    if design.task != "multiclass":
        kind: Kind = "probability" if design.task == "binary" else "real"
        return [Channel(design.outcome, design.prediction, kind)]
    return [_class(design, code) for code in range(len(design.classes))]


def _class(design: Design, code: int) -> Channel:
    seen = design.outcome.map(lambda outcome: _is(outcome, code))
    return Channel(seen, _predicted(design, code), "probability", f", class {code}")


def _predicted(design: Design, code: int) -> ByDomain[Array]:
    if design.scores is not None:
        return design.scores.map(lambda scores: scores[:, code])
    return design.prediction.map(lambda label: _is(label, code))


def _is(values: Array, code: int) -> Array:
    return np.equal(values, code).astype(float)
