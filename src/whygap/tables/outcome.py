"""Outcomes -> numbers: 0 and 1, codes of classes, amounts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.errors import ColumnError, InputError, did_you_mean
from whygap.tables.columns import RawColumn, is_number, present, recode, to_text

__all__ = ["Classes", "distinct_levels", "find_classes", "find_labels"]
__all__ += ["refuse_unusable", "repr_level", "shortened"]

MAX_CLASSES = 50  # distinct values: names and identifiers have more, classes of a model fewer
TRUTH = {"True": "1", "False": "0"}
# Pairs in which it is obvious which value counts as 1 (the second), in small letters
OBVIOUS = (
    *(("0", "1"), ("-1", "1"), ("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t")),
    *(("negative", "positive"), ("neg", "pos")),
)


@dataclass(frozen=True, slots=True)
class Classes:
    """The values of an outcome, as text; the code of a label is its place (1 is the positive)."""

    labels: tuple[str, ...]

    def code(self, value: Any) -> float | None:
        """Return the place of a label (True and 1.0 are 1), None for another value.

        Args:
            value: a label, or a number or truth value to compare with the labels.
        """
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
        """Return codes; missing, and what is none of the labels, is NaN.

        Args:
            column: outcomes or predicted labels, of any kind but dates.
        """
        text = to_text(_numbered(column))
        codes = [self.code(level) for level in text.levels]
        return recode(text.values, [np.nan if code is None else code for code in codes])

    def first_unknown(self, raw: ByDomain[RawColumn]) -> str | None:
        """Return a value that is none of the labels.

        Args:
            raw: a column of labels in each table.
        """
        for column in raw:
            if column.kind in ("number", "boolean"):  # one more than there are labels will do
                lowest = np.unique(present(column.values))[: len(self.labels) + 1]
                levels = [f"{value:.15g}" for value in lowest]
            else:
                levels = list(to_text(column).levels)
            for level in levels:
                if self.code(level) is None:
                    return level
        return None

    def __str__(self) -> str:
        return " and ".join(f"'{label}'" for label in self.labels)


def _same_label(value: Any, label: str) -> bool:
    """Compare words or numbers; true and false are also 1 and 0."""
    first, second = (TRUTH.get(text, text) for text in (str(value), label))
    if first == second or not (is_number(first) and is_number(second)):
        return first == second
    return float(first) == float(second)


def find_labels(name: str, raw: ByDomain[RawColumn], positive: Any) -> Classes:
    """Find the outcome's two values over all rows, and which value is positive.

    Args:
        name: the outcome's column, for messages.
        raw: the outcome in each table.
        positive: the value that counts as 1; None where the two values make it obvious.
    """
    values = distinct_levels(raw)
    if len(values) != 2:
        remedy = "turn it into yes/no first, for example 'above 10'; or say task='multiclass' or "
        remedy = f"{remedy}task='regression'"
        hint = remedy if len(values) > 1 else "with one value there is nothing to predict"
        raise _wrong_number(name, values, f"Two are needed: {hint}.", shortened(values))
    got = f"values {repr_level(values[0])} and {repr_level(values[1])}"
    if positive is not None:
        matching = [value for value in values if _same_label(positive, value)]
        if not matching:
            message = f"positive={positive!r} is not a value of the outcome '{name}'"
            raise ColumnError(message, got=got, hint=did_you_mean(str(positive), values))
        return Classes(tuple(sorted(values, key=lambda value: value == matching[0])))
    for labels in (tuple(values), tuple(reversed(values))):
        if tuple(label.lower() for label in labels) in OBVIOUS:
            return Classes(labels)
    what = f"It is not clear which value of the outcome '{name}' counts as 1"
    raise ColumnError(what, got=got, hint=f"Say it: positive={repr_level(values[1])}.")


def find_classes(name: str, raw: ByDomain[RawColumn]) -> Classes:
    """Find the outcome's values over all rows, numbers in order, text alphabetically.

    Args:
        name: the outcome's column, for messages.
        raw: the outcome in each table.
    """
    values = distinct_levels(raw)
    if not 2 <= len(values) <= MAX_CLASSES:
        hint = f"From 2 to {MAX_CLASSES} classes are needed: group them into larger ones, or for "
        raise _wrong_number(name, values, f"{hint}amounts say task='regression'.")
    return Classes(tuple(sorted(values, key=float) if all(map(is_number, values)) else values))


def _wrong_number(
    name: str, values: Sequence[str], hint: str, examples: str | None = None
) -> ColumnError:
    amount = "one distinct value" if len(values) == 1 else f"{len(values)} distinct values"
    return ColumnError(f"The outcome '{name}' has {amount}", got=examples, hint=hint)


def refuse_unusable(
    subject: str,
    raw: ByDomain[RawColumn],
    error: type[InputError],
    if_infinite: str = "",
    if_dates: str = "",
) -> None:
    """Refuse infinite values, dates, and a column that holds nothing; with hints for the two.

    Args:
        subject: what messages call the column.
        raw: the column in each table.
        error: the class of the error.
        if_infinite: the hint where values are infinite.
        if_dates: the hint where values are dates or times.
    """
    for table, column in raw.items():
        if column.infinite:
            problem = f"{subject} holds {column.infinite} infinite values in {table}"
            raise error(problem, hint=if_infinite)
        if column.missing == len(column.values):
            raise error(f"{subject} is missing in every row of {table}")
        if column.kind in ("date", "time", "duration"):
            raise error(f"{subject} holds dates or times in {table}", hint=if_dates)


def distinct_levels(raw: ByDomain[RawColumn]) -> list[str]:
    """Return the distinct values of two tables as text, sorted; booleans as 0 and 1.

    Args:
        raw: a column in each table.
    """
    return sorted({level for column in raw for level in to_text(_numbered(column)).levels})


def _numbered(column: RawColumn) -> RawColumn:
    return RawColumn("number", column.values) if column.kind == "boolean" else column


def repr_level(level: str) -> str:
    """Write numbers bare, text quoted."""
    return level if is_number(level) else f"'{level}'"


def shortened(values: Sequence[str]) -> str:
    """Write the first four values."""
    return ", ".join(map(repr_level, values[:4])) + (", ..." if len(values) > 4 else "")
