"""A model, ready to be asked: what it wants to see and how its answer is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from whygap.tables.design import Note

__all__ = ["Answer", "Predictor", "Sees"]

Answer = Literal["probability", "score", "any"]
Sees = Literal["table", "frame", "pandas", "matrix"]


@dataclass(frozen=True, slots=True, eq=False)
class Predictor:
    """A model, ready to be asked."""

    name: str  # what messages call it
    ask: Callable[[Any], Any]  # table (or matrix) -> the model's own answer
    answer: Answer  # what the answer is: probabilities, scores cut at 0, or any kind (labels too)
    columns: tuple[str, ...] | None = None  # it was trained with, in order, when it says so
    # The number of columns it was trained with, when it says only that; None also when it takes a
    # matrix of any width
    width: int | None = None
    # "table" (the caller's own kind), "frame" (the same, but pandas for files and pyarrow),
    # "pandas", or "matrix" (numbers only)
    sees: Sees = "table"
    classes: tuple[Any, ...] | None = None  # in the order of the answer's columns; None: sorted
    notes: tuple[Note, ...] = ()  # what the user must know about it
    hint: str = ""  # what to write instead when it fails on the table
