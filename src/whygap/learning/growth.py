"""Boosted trees grown stage by stage beside held-out rows, and stopped when they get worse.

Every number of trees of one shape is a candidate; all are read off one fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from whygap.domains import Array
from whygap.learning.boosted import Boosted, BoostedModel, OnTop
from whygap.learning.inputs import Inputs
from whygap.learning.models import Kind, Model

__all__ = ["Growth", "shaped", "staged"]

Candidate = TypeVar("Candidate")


@dataclass(slots=True, eq=False)
class Growth:
    """A model at held-out rows, while it grows."""

    model: Model
    held_out: Inputs
    score: Array
    rounds: int = 0

    @classmethod
    def begin(
        cls,
        learner: Boosted | OnTop,
        train: tuple[Inputs, Array, Array],
        kind: Kind,
        held_out: Inputs,
    ) -> Growth:
        """No trees yet."""
        model = shaped(learner, leaves_of(learner), 0).fit(*train, kind)
        return cls(model, held_out, np.zeros(len(held_out)))

    def after(self, rounds: int) -> Array:
        """Predictions of the first so many trees; `rounds` never falls."""
        if not isinstance(self.model, BoostedModel):
            return self.model.predict(self.held_out)
        self.score = self.score + self.model.grow(self.held_out, self.rounds, rounds)
        self.rounds = rounds
        return self.model.finished(self.held_out, self.score)


def staged(
    stages: Sequence[int],
    measure: Callable[[int], Candidate],
    hopeless: Callable[[Candidate, Sequence[Candidate]], bool],
) -> list[Candidate]:
    """Candidates of growing size, until one is hopeless beside the earlier ones."""
    found: list[Candidate] = []
    for stage in stages:
        found.append(measure(stage))
        if hopeless(found[-1], found[:-1]):
            break
    return found


def leaves_of(learner: Boosted | OnTop) -> int:
    """Its shape."""
    return learner.boosted.leaves if isinstance(learner, OnTop) else learner.leaves


def shaped(start: Boosted | OnTop, leaves: int, rounds: int) -> Any:
    """The same boosted learner with another shape."""
    if isinstance(start, OnTop):
        return replace(start, boosted=replace(start.boosted, leaves=leaves, rounds=rounds))
    return replace(start, leaves=leaves, rounds=rounds)
