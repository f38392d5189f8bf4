"""Two distinct values -> 0.0 and 1.0: which one counts as 1, and labels of the same kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.errors import ColumnError, did_you_mean
from whygap.tables.columns import RawColumn, to_text

__all__ = ["Labels", "encode_labels", "find_labels"]

OBVIOUS = (
    ("0", "1"),
    ("-1", "1"),
    ("no", "yes"),
    ("n", "y"),
    ("false", "true"),
    ("f", "t"),
    ("negative", "positive"),
    ("neg", "pos"),
)


@dataclass(frozen=True, slots=True)
class Labels:
    """The two values of an outcome, as text: what counts as 0, what counts as 1."""

    negative: str
    positive: str

    def code(self, value: Any) -> float | None:
        """0.0 or 1.0 for one of the two labels (True is 1, 1.0 is 1), else None."""
        for label, code in ((self.negative, 0.0), (self.positive, 1.0)):
            if same_label(value, label):
                return code
        return None

    def __str__(self) -> str:
        return f"'{self.negative}' and '{self.positive}'"


def same_label(value: Any, label: str) -> bool:
    """Whether a value is written as this label, as text or as a number."""
    if str(value) == label:
        return True
    try:
        return float(value) == float(as_number(label))
    except (TypeError, ValueError):
        return False


def as_number(label: str) -> str:
    """True and False are 1 and 0."""
    return {"True": "1", "False": "0"}.get(label, label)


def find_labels(name: str, raw: ByDomain[RawColumn], positive: Any) -> Labels:
    """The outcome's two values over both tables, and which one is positive."""
    for table, column in (("source", raw.source), ("target", raw.target)):
        refuse_unusable(name, table, column)
    values = sorted({level for column in raw for level in distinct_levels(column)})
    if len(values) != 2:
        shown = ", ".join(repr_level(v) for v in values[:4]) + (", ..." if len(values) > 4 else "")
        amount = "one distinct value" if len(values) == 1 else f"{len(values)} distinct values"
        hint = "Two are needed: turn it into yes/no first, for example 'above 10'."
        one = "Two are needed: with one value there is nothing to predict."
        raise ColumnError(
            f"The outcome '{name}' has {amount}", got=shown, hint=one if len(values) == 1 else hint
        )
    return choose_positive(name, values, positive)


def refuse_unusable(name: str, table: str, column: RawColumn) -> None:
    """Non-finite, all-missing and dated outcomes."""
    if column.infinite:
        raise ColumnError(
            f"The outcome '{name}' holds {column.infinite} infinite values in {table}",
            hint="Only two finite values are allowed.",
        )
    if column.missing == len(column.values):
        raise ColumnError(f"The outcome '{name}' is missing in every row of {table}")
    if column.kind in ("date", "time", "duration"):
        raise ColumnError(
            f"The outcome '{name}' holds dates or times in {table}",
            hint="Turn it into yes/no first.",
        )


def distinct_levels(column: RawColumn) -> tuple[str, ...]:
    """Distinct values as text; booleans as 0 and 1, the way the other table may hold them."""
    if column.kind == "boolean":
        column = RawColumn("number", column.values)
    text = to_text(column)
    return text.levels


def repr_level(level: str) -> str:
    """Numbers bare, text quoted."""
    try:
        float(level)
    except ValueError:
        return f"'{level}'"
    return level


def choose_positive(name: str, values: list[str], positive: Any) -> Labels:
    """`positive` when given, the obvious one otherwise."""
    first, second = values
    if positive is not None:
        for value, other in ((first, second), (second, first)):
            if same_label(positive, value):
                return Labels(negative=other, positive=value)
        raise ColumnError(
            f"positive={positive!r} is not a value of the outcome '{name}'",
            got=f"values {repr_level(first)} and {repr_level(second)}",
            hint=did_you_mean(str(positive), values),
        )
    for low, high in OBVIOUS:
        if {first.lower(), second.lower()} == {low, high}:
            return Labels(*sorted(values, key=lambda v: v.lower() == high))
    raise ColumnError(
        f"It is not clear which value of the outcome '{name}' counts as 1",
        got=f"values {repr_level(first)} and {repr_level(second)}",
        hint=f"Say it: positive={example(second)}.",
    )


def example(level: str) -> str:
    """A value as one would type it in Python."""
    return repr_level(level)


def encode_labels(column: RawColumn, labels: Labels) -> tuple[Array, tuple[str, ...]]:
    """0.0, 1.0 or NaN per row, and the first levels that are neither label."""
    if column.kind in ("number", "boolean"):
        distinct = np.unique(column.values[~np.isnan(column.values)])[:5]
        names = {float(value): f"{value:.15g}" for value in distinct}
    else:
        names = {float(i): level for i, level in enumerate(column.levels)}
    codes = {key: labels.code(name) for key, name in names.items()}
    unknown = tuple(names[key] for key, code in codes.items() if code is None)
    encoded = np.full(len(column.values), np.nan)
    for key, code in codes.items():
        if code is not None:
            encoded[column.values == key] = code
    return encoded, unknown
