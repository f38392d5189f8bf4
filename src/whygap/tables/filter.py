"""A rule as a filter: which rows of any table fulfil conditions on its columns."""

import functools
import operator
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import narwhals as nw
import numpy as np

from whygap.errors import ColumnError, InputError, did_you_mean
from whygap.tables.columns import RawColumn, is_number, one_type, present, raw_column, to_text
from whygap.tables.design import MODEL_LABEL, MODEL_SCORE, Condition
from whygap.tables.frames import Mask
from whygap.tables.open import open_table

__all__ = ["rows_that_fulfil", "rule_expression"]

_TRUTH = {"True": "1", "False": "0"}
_PREDICTION_HINT = "rule.mask(table, prediction=...): an array, or the name of a column."


def rule_expression(conditions: Sequence[Condition]) -> nw.Expr:
    """Return a narwhals expression that is true where all conditions hold.

    Text levels are compared as text, true and false as such, dates as dates; conditions on the
    model's own prediction name no column, so use `rows_that_fulfil` for these.

    Args:
        conditions: the rule, at least one condition.
    """

    def expression(condition: Condition) -> Any:
        column, bound = nw.col(condition.variable), condition.number
        if condition.kind == "is":
            return column == {"True": True, "False": False}.get(condition.level, condition.level)
        if condition.kind == "missing":
            return column.is_null()
        date = datetime(1970, 1, 1) + timedelta(days=bound) if condition.level else bound
        return column > date if condition.kind == "above" else column <= date

    result: nw.Expr = functools.reduce(operator.and_, map(expression, conditions))
    return result


def rows_that_fulfil(conditions: Sequence[Condition], table: Any, prediction: Any = None) -> Mask:
    """Return a truth value per row; all conditions must hold.

    Args:
        conditions: the rule.
        table: any table `Study` takes, with the rule's columns.
        prediction: the model's scores or labels, or the name of their column.
    """
    opened = open_table(table, "given")
    predicted = prediction if isinstance(prediction, str) else None
    model_outputs = (MODEL_SCORE, MODEL_LABEL)
    names = [predicted if c.variable in model_outputs else c.variable for c in conditions]
    needed = [name for name in dict.fromkeys(names) if name is not None]
    for name in needed:
        if name not in opened.names:
            hint = did_you_mean(name, opened.names)
            raise ColumnError(f"The rule needs column '{name}', which the table lacks", hint=hint)
    frame = opened.read(needed or opened.names[:1])
    masks = []
    for condition, column in zip(conditions, names, strict=True):
        if column is None:
            raw = _own_prediction(condition, prediction, frame.rows)
        else:
            raw = raw_column(frame.arrow(column), column, "the table")
            _require_kind(condition, column, raw)
        masks.append(_holds(condition, raw))
    return np.asarray(np.logical_and.reduce(masks))


def _holds(condition: Condition, raw: RawColumn) -> Mask:
    if condition.kind == "missing":
        return np.isnan(raw.values)
    if condition.kind == "above":
        return np.asarray(raw.values > condition.number)
    if condition.kind == "at most":
        return np.asarray(raw.values <= condition.number)
    level = condition.level
    if raw.kind in ("number", "boolean"):  # true and false are also 1 and 0
        raw = replace(raw, kind="number")
        level = _TRUTH.get(level, level)
    text = to_text(raw)
    code = text.levels.index(level) if level in text.levels else -1
    return np.asarray(text.values == code)


def _require_kind(condition: Condition, name: str, raw: RawColumn) -> None:
    dated = bool(condition.level)
    fitting = ("date", "time") if dated else ("number", "boolean", "duration")
    if condition.kind in ("above", "at most") and raw.kind not in (*fitting, "missing"):
        message = f"The rule compares column '{name}' with {'a date' if dated else 'a number'}"
        actual = f"{raw.kind} in the table"
        raise ColumnError(message, got=actual, hint="Give it the type it has in the study.")


def _own_prediction(condition: Condition, prediction: Any, rows: int) -> RawColumn:
    """Read the model's scores or labels, given beside the table."""
    noun = "score" if condition.variable == MODEL_SCORE else "label"
    values_ = [] if prediction is None else prediction
    try:
        values: Any = np.asarray(values_, dtype=float if noun == "score" else None)
    except (TypeError, ValueError) as err:
        raise InputError(
            "The model's scores must be numbers", got=str(err), hint=_PREDICTION_HINT
        ) from err
    if values.shape != (rows,):
        text = f"The rule speaks of the model's {noun}, which must be one per row of the table"
        actual = "none" if prediction is None else f"shape {values.shape} for {rows:,} rows"
        raise InputError(text, got=actual, hint=_PREDICTION_HINT)
    if noun == "score":
        return RawColumn("number", values)
    raw = raw_column(one_type(values, "The model's labels", InputError), "prediction", "the table")
    if raw.kind in ("number", "boolean"):
        # Numbers are no labels where labels are words; fractions are none where they are whole
        numbers = present(raw.values)
        label = _TRUTH.get(condition.level, condition.level)
        is_whole = is_number(label) and float(label).is_integer()
        fractions = numbers[numbers != np.round(numbers)]
        if not is_number(label) or (is_whole and len(fractions)):
            text = f"The rule asks whether the model's label is '{condition.level}'"
            actual = f"{fractions[0]:g}" if len(fractions) else "numbers"
            raise InputError(
                text, got=actual, hint="Give labels as the outcome has them, not scores."
            )
    return raw
