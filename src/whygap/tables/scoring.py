"""How rows are scored: by a prediction column, or by a model that is asked once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from whygap.domains import Array, ByDomain
from whygap.tables.ask import Answers, Told, ask_model, nobody
from whygap.tables.design import Note
from whygap.tables.frame import Frame
from whygap.tables.model import Predictor
from whygap.tables.outcome import Labels

__all__ = ["Coefficients", "ModelScoring", "Scoring"]

Coefficients = Callable[[Array], tuple[Array, Array]]


@dataclass(frozen=True, slots=True, eq=False)
class ModelScoring:
    """A model, the columns it is shown, and who is told how far it is."""

    predictor: Predictor
    columns: Sequence[str]
    notes: tuple[Note, ...] = ()
    told: Told = nobody

    def predict(self, frames: ByDomain[Frame], labels: Labels) -> Answers:
        """Predictions at every row of both tables."""
        prediction, warned = ask_model(self.predictor, frames, self.columns, labels, self.told)
        return prediction, (*self.notes, *warned)


@dataclass(frozen=True, slots=True, eq=False)
class Scoring:
    """How rows are scored.

    Attributes:
        coefficients: predictions -> intercept and slope of the metric.
        metric: its name.
        higher_is_better: None when not known.
        wants: "label", "probability" or "any".
        model: the model, or None when there is a prediction column.
    """

    coefficients: Coefficients
    metric: str
    higher_is_better: bool | None
    wants: str = "any"
    model: ModelScoring | None = None
