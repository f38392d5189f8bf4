"""Outcomes -> numbers: 0 and 1, codes of classes, amounts; predictions of a 0/1 outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.errors import ColumnError, InputError, did_you_mean
from whygap.tables.columns import RawColumn, is_number, present, recode, to_text

__all__ = [
    "Classes",
    "as_predictions",
    "find_classes",
    "find_labels",
    "in_unit_interval",
    "real_outcome",
    "refuse_unusable",
    "repr_level",
]

MOST_CLASSES = 50  # names and identifiers have more values, classes of a model have not
TRUTH = {"True": "1", "False": "0"}
# Where it is obvious which value counts as 1: pairs, in small letters.
NEGATIVE = ("0", "-1", "no", "n", "false", "f", "negative", "neg")
POSITIVE = ("1", "1", "yes", "y", "true", "t", "positive", "pos")


@dataclass(frozen=True, slots=True)
class Classes:
    """The values of an outcome, as text; its code is a label's place: of two, 1 is the positive."""

    labels: tuple[str, ...]

    def code(self, value: Any) -> float | None:
        """The place of a label (True and 1.0 are 1), None for another value."""
        if str(value) in self.labels:
            return float(self.labels.index(str(value)))
        for code, label in enumerate(self.labels):
            if same_label(value, label):
                return float(code)
        return None

    @property
    def turned(self) -> bool:
        """Whether the label that counts as 1 is one that means 0 as a rule, like 'no' of yes/no."""
        negative, positive = (label.lower() for label in reversed(self.labels))
        return (negative, positive) in zip(NEGATIVE, POSITIVE, strict=True)

    def encode(self, column: RawColumn) -> Array:
        """Codes; missing, and what is none of the labels, is NaN."""
        text = to_text(numbered(column))
        codes = [self.code(level) for level in text.levels]
        return recode(text.values, [np.nan if code is None else code for code in codes])

    def first_unknown(self, column: RawColumn) -> str | None:
        """A value that is none of the labels; of many numbers the lowest few are looked at."""
        levels = column.levels
        if column.kind in ("number", "boolean"):
            levels = tuple(f"{value:.15g}" for value in np.unique(present(column.values))[:5])
        return next((level for level in levels if self.code(level) is None), None)

    def __str__(self) -> str:
        return " and ".join(f"'{label}'" for label in self.labels)


def same_label(value: Any, label: str) -> bool:
    """Whether they are the same word or number; true and false are also 1 and 0."""
    given, known = (TRUTH.get(text, text) for text in (str(value), label))
    if given == known or not (is_number(given) and is_number(known)):
        return given == known
    return float(given) == float(known)


def find_labels(name: str, raw: ByDomain[RawColumn], positive: Any) -> Classes:
    """The outcome's two values over both tables, and which one is positive."""
    values = sorted({level for column in raw for level in distinct_levels(column)})
    if len(values) == 2:
        return choose_positive(name, values, positive)
    shown = ", ".join(repr_level(v) for v in values[:4]) + (", ..." if len(values) > 4 else "")
    amount = f"{len(values)} distinct values"
    hint = (
        "Two are needed: turn it into yes/no first, for example 'above 10'; or say "
        "task='multiclass' or task='regression'."
    )
    if len(values) == 1:
        amount = "one distinct value"
        hint = "Two are needed: with one value there is nothing to predict."
    raise ColumnError(f"The outcome '{name}' has {amount}", got=shown, hint=hint)


def find_classes(name: str, raw: ByDomain[RawColumn]) -> Classes:
    """The outcome's values over both tables: numbers in their order, text in the alphabet's."""
    values = {level for column in raw for level in distinct_levels(column)}
    if not 2 <= len(values) <= MOST_CLASSES:
        amount = "one distinct value" if len(values) == 1 else f"{len(values)} distinct values"
        raise ColumnError(
            f"The outcome '{name}' has {amount}",
            hint=f"From 2 to {MOST_CLASSES} classes are needed: group them into larger ones, or "
            "for amounts say task='regression'.",
        )
    if all(is_number(value) for value in values):
        return Classes(tuple(sorted(values, key=float)))
    return Classes(tuple(sorted(values)))


def real_outcome(name: str, raw: ByDomain[RawColumn]) -> ByDomain[Array]:
    """Numbers as they are."""
    for table, column in raw.items():
        if column.kind not in ("number", "boolean"):
            raise ColumnError(
                f"The outcome '{name}' must hold numbers for a regression",
                got=f"{column.kind} in {table}",
                hint="For classes say task='multiclass'.",
            )
    return raw.map(lambda column: column.values)


def refuse_unusable(
    what: str, raw: ByDomain[RawColumn], error: type[InputError], if_infinite: str, if_dates: str
) -> None:
    """Refuse infinite values, dates, and a column that holds nothing."""
    for table, column in raw.items():
        if column.infinite:
            found = f"{what} holds {column.infinite} infinite values in {table}"
            raise error(found, hint=if_infinite)
        if column.missing == len(column.values):
            raise error(f"{what} is missing in every row of {table}")
        if column.kind in ("date", "time", "duration"):
            raise error(f"{what} holds dates or times in {table}", hint=if_dates)


def distinct_levels(column: RawColumn) -> tuple[str, ...]:
    """Distinct values as text; booleans as 0 and 1, the way the other table may hold them."""
    return to_text(numbered(column)).levels


def numbered(column: RawColumn) -> RawColumn:
    return RawColumn("number", column.values) if column.kind == "boolean" else column


def repr_level(level: str) -> str:
    """Numbers bare, text quoted."""
    return level if is_number(level) else f"'{level}'"


def choose_positive(name: str, values: list[str], positive: Any) -> Classes:
    first, second = values
    got = f"values {repr_level(first)} and {repr_level(second)}"
    if positive is not None:
        for value, other in ((first, second), (second, first)):
            if same_label(positive, value):
                return Classes((other, value))
        raise ColumnError(
            f"positive={positive!r} is not a value of the outcome '{name}'",
            got=got,
            hint=did_you_mean(str(positive), values),
        )
    for low, high in zip(NEGATIVE, POSITIVE, strict=True):
        if {first.lower(), second.lower()} == {low, high}:
            return Classes(tuple(sorted(values, key=lambda v: v.lower() == high)))
    raise ColumnError(
        f"It is not clear which value of the outcome '{name}' counts as 1",
        got=got,
        hint=f"Say it: positive={repr_level(second)}.",
    )


def as_predictions(
    what: str, raw: ByDomain[RawColumn], labels: Classes, error: type[InputError] = ColumnError
) -> ByDomain[Array]:
    """Probabilities as they are, the outcome's own labels as 0 and 1; missing stays NaN.

    Numbers that are all among the outcome's two values are labels; other numbers must lie in
    [0, 1] (a rounding excess up to 1e-6 is cut off). Messages call the predictions `what`.
    """
    refuse_unusable(what, raw, error, "", "")
    other = next((level for level in raw.map(labels.first_unknown) if level is not None), None)
    if other is None:
        return raw.map(labels.encode)
    if any(column.kind in ("text", "ordered") for column in raw):
        raise error(
            f"{what} holds {repr_level(other)}, which is not a value of the outcome",
            got=f"outcome values {labels}",
            hint=did_you_mean(other, labels.labels),
        )
    return in_unit_interval(what, raw, error)


def in_unit_interval(
    what: str, raw: ByDomain[RawColumn], error: type[InputError]
) -> ByDomain[Array]:
    """Probabilities: they lie in [0, 1], but for rounding, which is cut off."""
    for table, column in raw.items():
        values = present(column.values)
        low, high = float(values.min()), float(values.max())
        if low < -1e-6 or high > 1 + 1e-6:  # float32 models round that much
            raise error(
                f"{what} must be a probability from 0 to 1, or a label",
                got=f"values from {low:g} to {high:g} in {table}",
                hint=scale_hint(low, high),
            )
    return raw.map(lambda column: np.clip(column.values, 0.0, 1.0))


def scale_hint(low: float, high: float) -> str:
    if low >= 0 and 1 < high <= 100:
        return "It looks like percent: divide by 100."
    if low < 0:
        return "It looks like a score or logit: turn it into a probability first."
    return "It looks like a score: turn it into a probability or a label first."
