"""What the model said, read as labels, probabilities, probabilities of classes, or values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.errors import ColumnError, InputError, ModelError, did_you_mean, listed
from whygap.notes import Note
from whygap.tables.columns import RawColumn, is_number, present, to_text
from whygap.tables.model import Answer
from whygap.tables.outcome import (
    Classes,
    as_predictions,
    in_unit_interval,
    refuse_unusable,
    repr_level,
)

__all__ = [
    "ClassPredictions",
    "Said",
    "binary_predictions",
    "class_predictions",
    "real_predictions",
]

ONE_EACH = "One column per class is needed, for every class."
OFF_BY = 0.01  # probabilities of classes that were rounded to two digits add up to 1 within this


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    """Predictions at every row of both tables as they were given: a column, or one per class."""

    what: str  # what messages call them
    who: str  # and who said them
    error: type[InputError] = ColumnError
    column: ByDomain[RawColumn] | None = None  # one prediction per row
    table: ByDomain[Array] | None = None  # (rows, C): one number per class
    classes: tuple[Any, ...] | None = None  # what the numbers' columns, or a score, stand for
    answer: Answer = "any"  # what the numbers are: probabilities, scores cut at 0, or any kind
    notes: tuple[Note, ...] = ()

    @property
    def of_classes(self) -> bool:
        """Whether they tell several classes apart."""
        several = self.classes is not None and len(self.classes) > 2
        return several or (self.table is not None and self.table.source.shape[1] > 2)

    @property
    def is_text(self) -> bool:
        """Whether they are labels in words."""
        return self.column is not None and any(one.kind == "text" for one in self.column)

    @property
    def within_one(self) -> bool:
        """Whether all of them could be probabilities."""
        found = self._numbers()
        return bool(len(found) and found.min() >= 0 and found.max() <= 1)

    @property
    def advice(self) -> str:
        """How several classes are predicted."""
        if self.error is ModelError:
            return "For classes a model must give labels, or a probability for each."
        columns = "prediction={'class': 'column', ...}"
        return f"Probabilities of several classes take a column each: {columns}."

    def only_among(self, values: Array) -> bool:
        """Whether all of them are such values."""
        return bool(np.isin(self._numbers(), values).all())

    def _numbers(self) -> Array:
        if self.column is None:
            return np.zeros(0)
        return np.concatenate([present(column.values) for column in self.column])


def binary_predictions(said: Said, labels: Classes) -> ByDomain[Array]:
    """Probabilities of the positive label, or labels as 0 and 1."""
    if said.classes is not None and len(said.classes) != 2:
        raise said.error(
            f"{said.who} must tell two classes apart", got=f"{len(said.classes)} classes"
        )
    if said.table is not None:
        return positive_column(said, said.table, labels)
    column = the_column(said)
    if said.answer == "score":
        place = positive_place(said, labels)
        return column.map(lambda one: ((one.values > 0) == place).astype(float))
    if said.answer == "probability":
        return in_unit_interval(said.what, column, said.error)
    if said.classes is not None and are_codes(said.classes):
        positive_place(said, labels)  # refuses codes of which it is not clear what they stand for
    return as_predictions(said.what, column, labels, said.error)


def the_column(said: Said) -> ByDomain[RawColumn]:
    if said.column is None:
        raise said.error(f"{said.what} must be one column", got="several")
    return said.column


def positive_column(said: Said, table: ByDomain[Array], labels: Classes) -> ByDomain[Array]:
    """The column of the positive label; without `classes_`, columns are in sorted order."""
    columns = table.source.shape[1]
    if columns != 2:
        raise said.error(
            f"{said.who} must tell two classes apart", got=f"{columns} columns of probabilities"
        )
    place = positive_place(said, labels)
    chosen = table.map(lambda values: RawColumn("number", values[:, place]))
    return in_unit_interval(said.what, chosen, said.error)


def positive_place(said: Said, labels: Classes) -> int:
    """0 or 1: where the positive label stands among the model's classes.

    A model that does not say has them in scikit-learn's order: numbers first, then text.
    """

    def place(label: str) -> tuple[float, str]:
        return (float(label), "") if is_number(label) else (np.inf, label)

    classes = said.classes or sorted(labels.labels, key=place)
    codes = [labels.code(label) for label in classes]
    if codes == [0.0, 1.0] or codes == [1.0, 0.0]:
        return codes.index(1.0)
    if not are_codes(classes):
        raise said.error(
            f"{said.who} knows other classes than the outcome",
            got=f"{classes[0]!r} and {classes[1]!r}; the outcome has {labels}",
        )
    if labels.turned or codes[0] == 1.0 or codes[1] == 0.0:
        raise said.error(
            f"{said.who} knows the classes {classes[0]} and {classes[1]}, and it is not clear "
            f"which one is '{labels.labels[1]}'",
            got=f"positive='{labels.labels[1]}'; the outcome has {labels}",
            hint="Write the outcome as it was when the model was trained, or leave positive= out.",
        )
    return 1


def are_codes(classes: Sequence[Any]) -> bool:
    """Whether a model's classes only say 0 and 1, whatever the outcome calls them."""
    return [str(label) for label in classes] in (["0", "1"], ["False", "True"])


@dataclass(frozen=True, slots=True, eq=False)
class ClassPredictions:
    """Codes of the predicted classes, and (rows, C) probabilities where they were given."""

    codes: ByDomain[Array]
    scores: ByDomain[Array] | None = None
    notes: tuple[Note, ...] = ()


def class_predictions(said: Said, classes: Classes) -> ClassPredictions:
    """The outcome's own labels, or the most probable class of each row."""
    if said.table is not None:
        return most_probable(said, said.table, classes)
    column = the_column(said)
    refuse_unusable(said.what, column, said.error, "", "")
    for one in column.map(to_text):
        unknown = [level for level in one.levels if classes.code(level) is None]
        if unknown:
            raise said.error(
                f"{said.what} holds {repr_level(unknown[0])}, which is not a value of the outcome",
                got=f"outcome values {listed(classes.labels)}",
                hint=did_you_mean(unknown[0], classes.labels) or said.advice,
            )
    return ClassPredictions(column.map(classes.encode))


def most_probable(said: Said, table: ByDomain[Array], classes: Classes) -> ClassPredictions:
    order = columns_in_order(said, classes, table.source.shape[1])
    scores = table.map(lambda values: values[:, order])
    require_probabilities(said, scores)
    return ClassPredictions(scores.map(best_class), scores, unseen_notes(said, classes, order))


def columns_in_order(said: Said, classes: Classes, columns: int) -> list[int]:
    """Where the outcome's classes stand among the columns; classes no row has come last."""
    known = said.classes
    if known is None:
        if columns != len(classes.labels):
            raise said.error(
                f"{said.who} gives {columns} columns for {len(classes.labels)} classes",
                got=f"classes {listed(classes.labels)}",
                hint="One column per class is needed, in sorted order.",
            )
        return list(range(columns))
    if columns != len(known):
        raise said.error(
            f"{said.who} gives {columns} columns", got=f"{len(known)} classes", hint=ONE_EACH
        )
    codes = [classes.code(label) for label in known]
    for code, label in enumerate(classes.labels):
        if float(code) not in codes:
            names = [str(one) for one in known]
            raise said.error(
                f"{said.who} does not know the class {repr_level(label)} of the outcome",
                got=f"classes {listed(names)}",
                hint=did_you_mean(label, names),
            )
    first = [codes.index(float(code)) for code in range(len(classes.labels))]
    return first + [place for place, code in enumerate(codes) if code is None]


def unseen_notes(said: Said, classes: Classes, order: list[int]) -> tuple[Note, ...]:
    unseen = order[len(classes.labels) :]
    if not unseen or said.classes is None:
        return ()
    names = tuple(str(said.classes[place]) for place in unseen)
    return (Note("unseen_classes", "warning", {"who": said.who, "values": names}),)


def best_class(scores: Array) -> Array:
    """The first of the largest; a row with a missing one has none."""
    missing = np.isnan(scores).any(axis=1)
    return np.where(missing, np.nan, np.where(np.isnan(scores), -np.inf, scores).argmax(axis=1))


def require_probabilities(said: Said, scores: ByDomain[Array]) -> None:
    """From 0 to 1, adding up to 1 in every row."""
    for domain, values in scores.items():
        known = values[~np.isnan(values).any(axis=1)]
        if not len(known):
            raise said.error(f"{said.what} is missing in every row of {domain}")
        if known.min() < -1e-6 or known.max() > 1 + 1e-6:  # float32 models round that much
            got = f"values from {known.min():g} to {known.max():g} in {domain}"
            raise said.error(f"{said.what} must hold probabilities from 0 to 1", got=got)
        sums = known.sum(axis=1)
        worst = float(sums[np.abs(sums - 1).argmax()])
        if abs(worst - 1) > OFF_BY:
            got = f"{worst:.4g} in a row of {domain}"
            raise said.error(f"{said.what} must add up to 1 in every row", got=got, hint=ONE_EACH)


def real_predictions(said: Said) -> ByDomain[Array]:
    """Numbers of any size; missing stays NaN."""
    if said.table is not None or said.answer in ("probability", "score"):
        raise said.error(
            f"{said.who} tells classes apart, but the outcome has real values",
            hint="For real values one column of numbers is needed, or a regression model.",
        )
    column = the_column(said)
    refuse_unusable(said.what, column, said.error, "", "")
    for domain, one in column.items():
        if one.kind not in ("number", "boolean"):
            raise said.error(f"{said.what} must hold numbers", got=f"{one.kind} in {domain}")
    return column.map(lambda one: one.values)
