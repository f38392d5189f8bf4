"""Which rows of any table fulfil conditions on its columns: a rule as a filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from whygap.domains import Array
from whygap.errors import ColumnError, InputError, did_you_mean
from whygap.tables.columns import raw_column
from whygap.tables.design import MODEL_SCORE
from whygap.tables.open import Mask, OpenedTable, open_table

__all__ = ["rows_that_fulfil"]


class Condition(Protocol):
    """`results.Condition`, read only."""

    @property
    def variable(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def level(self) -> str: ...
    @property
    def number(self) -> float: ...


def rows_that_fulfil(conditions: Sequence[Condition], table: Any, prediction: Any = None) -> Mask:
    """One truth value per row; all conditions must hold."""
    opened = open_table(table, "given")
    found = [_fulfilled(one, opened, prediction) for one in conditions]
    return np.asarray(np.logical_and.reduce(found))


def _fulfilled(condition: Condition, opened: OpenedTable, prediction: Any) -> Mask:
    if condition.variable == MODEL_SCORE and not isinstance(prediction, str):
        return _compared(condition, _scores(prediction))
    name = prediction if condition.variable == MODEL_SCORE else condition.variable
    if name not in opened.names:
        hint = did_you_mean(name, opened.names)
        raise ColumnError(f"The rule needs column '{name}', which the table lacks", hint=hint)
    raw = raw_column(opened.read([name]).arrow(name), name, "the table")
    if condition.kind != "is" or not raw.levels:
        return _compared(condition, raw.values)
    code = raw.levels.index(condition.level) if condition.level in raw.levels else -1
    return np.asarray(raw.values == code)


def _scores(prediction: Any) -> Array:
    if prediction is None:
        raise InputError(
            "The rule speaks of the model's score, which was not given",
            hint="rule.mask(table, prediction=...): an array, or the name of a column.",
        )
    return np.asarray(prediction, dtype=float)


def _compared(condition: Condition, values: Array) -> Mask:
    match condition.kind:
        case "missing":
            return np.isnan(values)
        case "above":
            return np.asarray(values > condition.number)
        case "at most":
            return np.asarray(values <= condition.number)
        case _:
            return np.asarray(values == condition.number)
