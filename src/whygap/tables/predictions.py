"""Predictions as they were given -> labels, probabilities, scores of classes, or values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.errors import ColumnError, InputError, ModelError, did_you_mean, listed
from whygap.notes import Note
from whygap.tables.columns import RawColumn, is_number, present, require_numbers
from whygap.tables.model import Answer
from whygap.tables.outcome import Classes, refuse_unusable, repr_level

__all__ = ["ClassPredictions", "RawPredictions", "binary_predictions"]
__all__ += ["class_predictions", "real_predictions"]

SUM_TOLERANCE = 0.01  # from 1, of a sum of probabilities that were rounded to two digits
ROUNDING = 1e-6  # distance by which probabilities of float32 models leave [0, 1]


@dataclass(frozen=True, slots=True, eq=False)
class RawPredictions:
    """Predictions at every row of both tables as they were given: a column, or one per class.

    Attributes:
        subject: what messages call the predictions.
        author: what messages call their author.
        error: the error that refuses them.
        column: one prediction per row; or
        table: (rows, C), one number per class.
        classes: what the columns of `table`, or a score, stand for.
        answer: what the numbers are: probabilities, scores cut at 0, or any kind.
        notes: what the model warned of.
    """

    subject: str
    author: str
    error: type[InputError] = ColumnError
    column: ByDomain[RawColumn] | None = None
    table: ByDomain[Array] | None = None
    classes: tuple[Any, ...] | None = None
    answer: Answer = "any"
    notes: tuple[Note, ...] = ()

    @property
    def of_classes(self) -> bool:
        """Whether the predictions are of several classes: more than two, or in words."""
        is_multiclass = self.classes is not None and len(self.classes) > 2
        text = self.column is not None and any(column.kind == "text" for column in self.column)
        return is_multiclass or text or (self.table is not None and self.table.source.shape[1] > 2)

    def single(self) -> ByDomain[RawColumn]:
        """Return the column of predictions that are no table."""
        return cast("ByDomain[RawColumn]", self.column)


def _refuse_unknown(
    raw: RawPredictions, column: ByDomain[RawColumn], classes: Classes, hint: str
) -> None:
    """Refuse a prediction that is none of the outcome's values."""
    if (unknown := classes.first_unknown(column)) is not None:
        text = f"{raw.subject} holds {repr_level(unknown)}, which is not a value of the outcome"
        actual = f"outcome values {listed(classes.labels)}"
        raise raw.error(text, got=actual, hint=did_you_mean(unknown, classes.labels) or hint)


def binary_predictions(raw: RawPredictions, labels: Classes) -> ByDomain[Array]:
    """Return probabilities of the positive label, or labels as 0 and 1; missing is NaN.

    Numbers that are all among the outcome's two values are labels; other numbers must lie in
    [0, 1].

    Args:
        raw: the predictions as given.
        labels: the outcome's two values, the positive one second.
    """
    columns = 2 if raw.table is None else raw.table.source.shape[1]
    classes = 2 if raw.classes is None else len(raw.classes)
    if (classes, columns) != (2, 2):
        actual = f"{classes} classes" if classes != 2 else f"{columns} columns of probabilities"
        raise raw.error(f"{raw.author} must tell two classes apart", got=actual)
    if raw.table is not None:
        place = _positive_place(raw, labels)
        return _in_unit_interval(raw, raw.table.map(lambda values: values[:, place]))
    column = raw.single()
    if raw.answer == "score":
        place = _positive_place(raw, labels)
        return column.map(lambda c: ((c.values > 0) == place).astype(float))
    if raw.answer == "any":
        if raw.classes is not None and _are_codes(raw.classes):
            _positive_place(raw, labels)  # refuses codes that may stand for either value
        refuse_unusable(raw.subject, column, raw.error)
        if labels.first_unknown(column) is None:
            return column.map(labels.encode)
        if any(c.kind in ("text", "ordered") for c in column):
            _refuse_unknown(raw, column, labels, "")
    return _in_unit_interval(raw, column.map(lambda c: c.values))


def _in_unit_interval(raw: RawPredictions, columns: ByDomain[Array]) -> ByDomain[Array]:
    """Enforce probabilities from 0 to 1; a rounding excess is cut off."""
    for table, column in columns.items():
        low, high = (float(limit(present(column))) for limit in (np.min, np.max))
        if low < -ROUNDING or high > 1 + ROUNDING:
            hint = "It looks like a score: turn it into a probability or a label first."
            if low >= 0 and 1 < high <= 100:
                hint = "It looks like percent: divide by 100."
            elif low < 0:
                hint = "It looks like a score or logit: turn it into a probability first."
            message = f"{raw.subject} must be a probability from 0 to 1, or a label"
            raise raw.error(message, got=f"values from {low:g} to {high:g} in {table}", hint=hint)
    return columns.map(lambda column: np.clip(column, 0.0, 1.0))


def _positive_place(raw: RawPredictions, labels: Classes) -> int:
    """Return where the positive label stands (0 or 1) among the model's classes.

    A model that does not say has them in scikit-learn's order: numbers first, then text.
    """

    def order(label: str) -> tuple[float, str]:
        return (float(label), "") if is_number(label) else (np.inf, label)

    classes = raw.classes or sorted(labels.labels, key=order)
    codes = [labels.code(label) for label in classes]
    if codes in ([0.0, 1.0], [1.0, 0.0]):
        return codes.index(1.0)
    if not _are_codes(classes):
        message = f"{raw.author} knows other classes than the outcome"
        raise raw.error(message, got=f"{classes[0]!r} and {classes[1]!r}; the outcome has {labels}")
    if labels.positive_is_the_negative_word or codes[0] == 1.0 or codes[1] == 0.0:
        raise raw.error(
            f"{raw.author} knows the classes {classes[0]} and {classes[1]}, and it is not clear "
            f"which one is '{labels.labels[1]}'",
            got=f"positive='{labels.labels[1]}'; the outcome has {labels}",
            hint="Write the outcome as it was when the model was trained, or leave positive= out.",
        )
    return 1


def _are_codes(classes: Sequence[Any]) -> bool:
    """Tell classes that only say 0 and 1, whatever the outcome's values are called."""
    return [str(label) for label in classes] in (["0", "1"], ["False", "True"])


@dataclass(frozen=True, slots=True, eq=False)
class ClassPredictions:
    """Codes of the predicted classes, and (rows, C) probabilities where they were given."""

    codes: ByDomain[Array]
    scores: ByDomain[Array] | None = None
    notes: tuple[Note, ...] = ()


def class_predictions(raw: RawPredictions, classes: Classes) -> ClassPredictions:
    """Return the outcome's own labels, or the most probable class of each row.

    Args:
        raw: the predictions as given.
        classes: the outcome's values.
    """
    if raw.table is not None:
        order = _columns_in_order(raw, classes, raw.table.source.shape[1])
        scores = raw.table.map(lambda values: values[:, order])
        _require_probabilities(raw, scores)
        unseen = tuple(str((raw.classes or ())[k]) for k in order[len(classes.labels) :])
        note = Note("unseen_classes", "warning", {"who": raw.author, "values": unseen})
        return ClassPredictions(scores.map(_best_class), scores, (note,) if unseen else ())
    column = raw.single()
    refuse_unusable(raw.subject, column, raw.error)
    advice = "For classes a model must give labels, or a probability for each."
    if raw.error is not ModelError:
        columns = "prediction={'class': 'column', ...}"
        advice = f"Probabilities of several classes take a column each: {columns}."
    _refuse_unknown(raw, column, classes, advice)
    return ClassPredictions(column.map(classes.encode))


def _columns_in_order(raw: RawPredictions, classes: Classes, columns: int) -> list[int]:
    """Find the outcome's classes among the columns; classes no row has come last."""
    expected = classes.labels if raw.classes is None else tuple(map(str, raw.classes))
    if columns != len(expected):
        message = f"{raw.author} gives {columns} columns for {len(expected)} classes"
        actual = f"classes {listed(expected)}"
        raise raw.error(
            message, got=actual, hint="One column per class is needed, in sorted order."
        )
    if raw.classes is None:
        return list(range(columns))
    codes = [classes.code(label) for label in raw.classes]
    for code, label in enumerate(classes.labels):
        if float(code) not in codes:
            message = f"{raw.author} does not know the class {repr_level(label)} of the outcome"
            actual = f"classes {listed(expected)}"
            raise raw.error(message, got=actual, hint=did_you_mean(label, expected))
    first = [codes.index(float(code)) for code in range(len(classes.labels))]
    return first + [place for place, code in enumerate(codes) if code is None]


def _best_class(scores: Array) -> Array:
    """Return the first of the largest; a row with a missing score has none."""
    missing = np.isnan(scores).any(axis=1)
    return np.where(missing, np.nan, np.where(np.isnan(scores), -np.inf, scores).argmax(axis=1))


def _require_probabilities(raw: RawPredictions, scores: ByDomain[Array]) -> None:
    """Refuse all except numbers from 0 to 1 that add up to 1 in every row."""
    for domain, values in scores.items():
        complete = values[~np.isnan(values).any(axis=1)]
        if not len(complete):
            raise raw.error(f"{raw.subject} is missing in every row of {domain}")
        if complete.min() < -ROUNDING or complete.max() > 1 + ROUNDING:
            actual = f"values from {complete.min():g} to {complete.max():g} in {domain}"
            raise raw.error(f"{raw.subject} must hold probabilities from 0 to 1", got=actual)
        sums = complete.sum(axis=1)
        worst = float(sums[np.abs(sums - 1).argmax()])
        if abs(worst - 1) > SUM_TOLERANCE:
            hint = "Give one probability column for each class."
            actual = f"{worst:.4g} in a row of {domain}"
            raise raw.error(f"{raw.subject} must add up to 1 in every row", got=actual, hint=hint)


def real_predictions(raw: RawPredictions) -> ByDomain[Array]:
    """Return numbers of any size; missing stays NaN.

    Args:
        raw: the predictions as given.
    """
    if raw.table is not None or raw.answer in ("probability", "score"):
        message = f"{raw.author} tells classes apart, but the outcome has real values"
        hint = "For real values one column of numbers is needed, or a regression model."
        raise raw.error(message, hint=hint)
    refuse_unusable(raw.subject, raw.single(), raw.error)
    return require_numbers(raw.subject, raw.single(), raw.error)
