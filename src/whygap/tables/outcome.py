"""Outcomes -> numbers: 0 and 1, codes of classes, amounts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.errors import ColumnError, InputError, did_you_mean
from whygap.tables.columns import RawColumn, is_number, present, recode, to_text

__all__ = [
    "Classes",
    "distinct_levels",
    "find_classes",
    "find_labels",
    "real_outcome",
    "refuse_unusable",
    "repr_level",
]

MAX_CLASSES = 50  # names and identifiers have more values, classes of a model have not
TRUTH = {"True": "1", "False": "0"}
# Pairs in which it is obvious which value counts as 1 (the second), in small letters
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
class Classes:
    """The values of an outcome, as text; the code of a label is its place (1 is the positive)."""

    labels: tuple[str, ...]

    def code(self, value: Any) -> float | None:
        """Return the place of a label (True and 1.0 are 1), None for another value."""
        if str(value) in self.labels:
            return float(self.labels.index(str(value)))
        places = (k for k, label in enumerate(self.labels) if _same_label(value, label))
        return next(map(float, places), None)

    @property
    def positive_is_the_negative_word(self) -> bool:
        """Whether the label that counts as 1 means 0 as a rule, like 'no' of yes and no."""
        positive, negative = (label.lower() for label in reversed(self.labels))
        return (positive, negative) in OBVIOUS

    def encode(self, column: RawColumn) -> Array:
        """Return codes; missing, and what is none of the labels, is NaN."""
        text = to_text(_numbered(column))
        codes = [self.code(level) for level in text.levels]
        return recode(text.values, [np.nan if code is None else code for code in codes])

    def first_unknown(self, column: RawColumn) -> str | None:
        """Return a value that is none of the labels; of many numbers the lowest are looked at."""
        levels = column.levels
        if column.kind in ("number", "boolean"):
            levels = tuple(f"{value:.15g}" for value in np.unique(present(column.values))[:5])
        return next((level for level in levels if self.code(level) is None), None)

    def __str__(self) -> str:
        return " and ".join(f"'{label}'" for label in self.labels)


def _same_label(value: Any, label: str) -> bool:
    """Compare words or numbers; true and false are also 1 and 0."""
    first, second = (TRUTH.get(text, text) for text in (str(value), label))
    if first == second or not (is_number(first) and is_number(second)):
        return first == second
    return float(first) == float(second)


def find_labels(name: str, raw: ByDomain[RawColumn], positive: Any) -> Classes:
    """Find the outcome's two values over both tables, and which of them is positive."""
    values = sorted({level for column in raw for level in distinct_levels(column)})
    if len(values) != 2:
        shown = ", ".join(map(repr_level, values[:4])) + (", ..." if len(values) > 4 else "")
        amount = "one distinct value" if len(values) == 1 else f"{len(values)} distinct values"
        hint = "Two are needed: with one value there is nothing to predict."
        if len(values) != 1:
            hint = (
                "Two are needed: turn it into yes/no first, for example 'above 10'; or say "
                "task='multiclass' or task='regression'."
            )
        raise ColumnError(f"The outcome '{name}' has {amount}", got=shown, hint=hint)
    first, second = values
    got = f"values {repr_level(first)} and {repr_level(second)}"
    if positive is not None:
        matching = [value for value in values if _same_label(positive, value)]
        if not matching:
            raise ColumnError(
                f"positive={positive!r} is not a value of the outcome '{name}'",
                got=got,
                hint=did_you_mean(str(positive), values),
            )
        return Classes((second, first) if matching[0] == first else (first, second))
    for pair in ((first, second), (second, first)):
        if (pair[0].lower(), pair[1].lower()) in OBVIOUS:
            return Classes(pair)
    raise ColumnError(
        f"It is not clear which value of the outcome '{name}' counts as 1",
        got=got,
        hint=f"Say it: positive={repr_level(second)}.",
    )


def find_classes(name: str, raw: ByDomain[RawColumn]) -> Classes:
    """Find the outcome's values over both tables, numbers in order, text alphabetically."""
    values = {level for column in raw for level in distinct_levels(column)}
    if not 2 <= len(values) <= MAX_CLASSES:
        amount = "one distinct value" if len(values) == 1 else f"{len(values)} distinct values"
        raise ColumnError(
            f"The outcome '{name}' has {amount}",
            hint=f"From 2 to {MAX_CLASSES} classes are needed: group them into larger ones, or "
            "for amounts say task='regression'.",
        )
    if all(is_number(value) for value in values):
        return Classes(tuple(sorted(values, key=float)))
    return Classes(tuple(sorted(values)))


def real_outcome(name: str, raw: ByDomain[RawColumn]) -> ByDomain[Array]:
    """Return numbers as they are, and refuse anything else."""
    for table, column in raw.items():
        if column.kind not in ("number", "boolean"):
            raise ColumnError(
                f"The outcome '{name}' must hold numbers for a regression",
                got=f"{column.kind} in {table}",
                hint="For classes say task='multiclass'.",
            )
    return raw.map(lambda column: column.values)


def refuse_unusable(
    what: str,
    raw: ByDomain[RawColumn],
    error: type[InputError],
    if_infinite: str = "",
    if_dates: str = "",
) -> None:
    """Refuse infinite values, dates, and a column that holds nothing.

    Args:
        what: what messages call the column.
        raw: the column in both tables.
        error: the error to raise.
        if_infinite: the hint for infinite values.
        if_dates: the hint for dates and times.
    """
    for table, column in raw.items():
        if column.infinite:
            problem = f"{what} holds {column.infinite} infinite values in {table}"
            raise error(problem, hint=if_infinite)
        if column.missing == len(column.values):
            raise error(f"{what} is missing in every row of {table}")
        if column.kind in ("date", "time", "duration"):
            raise error(f"{what} holds dates or times in {table}", hint=if_dates)


def distinct_levels(column: RawColumn) -> tuple[str, ...]:
    """Return distinct values as text; booleans as 0 and 1, as the other table may hold them."""
    return to_text(_numbered(column)).levels


def _numbered(column: RawColumn) -> RawColumn:
    return RawColumn("number", column.values) if column.kind == "boolean" else column


def repr_level(level: str) -> str:
    """Write numbers bare, text quoted."""
    return level if is_number(level) else f"'{level}'"
