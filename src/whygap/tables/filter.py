"""Which rows of any table fulfil conditions on its columns: a rule as a filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from whygap.domains import Array
from whygap.errors import ColumnError, InputError, did_you_mean
from whygap.tables.columns import (
    RawColumn,
    is_number,
    one_type,
    present,
    raw_column,
    to_text,
)
from whygap.tables.design import MODEL_LABEL, MODEL_SCORE, Condition
from whygap.tables.encode import HUGE
from whygap.tables.open import Frame, Mask, open_table

__all__ = ["rows_that_fulfil"]

_TRUTH = {"True": "1", "False": "0"}


def rows_that_fulfil(conditions: Sequence[Condition], table: Any, prediction: Any = None) -> Mask:
    """One truth value per row; all conditions must hold."""
    opened = open_table(table, "given")
    of_score = prediction if isinstance(prediction, str) else None
    said = (MODEL_SCORE, MODEL_LABEL)
    named = [of_score if one.variable in said else one.variable for one in conditions]
    needed = [name for name in dict.fromkeys(named) if name is not None]
    for name in needed:
        if name not in opened.names:
            hint = did_you_mean(name, opened.names)
            raise ColumnError(f"The rule needs column '{name}', which the table lacks", hint=hint)
    frame = opened.read(needed or opened.names[:1])
    found = [
        _said(one, prediction, frame.rows) if name is None else _fulfilled(one, name, frame)
        for one, name in zip(conditions, named, strict=True)
    ]
    return np.asarray(np.logical_and.reduce(found))


def _fulfilled(condition: Condition, name: str, frame: Frame) -> Mask:
    raw = raw_column(frame.arrow(name), name, "the table")
    if condition.kind == "is":
        return _has_level(condition.level, raw)
    if condition.kind != "missing":
        _refuse_other_kind(condition, name, raw)
    # Numbers too large to be squared count as missing, here as in the analysis.
    is_number = raw.kind == "number"
    huge = np.abs(raw.values) > HUGE
    return _compared(condition, np.where(huge & is_number, np.nan, raw.values))


def _has_level(level: str, raw: RawColumn) -> Mask:
    """Levels as the analysis reads them; true and false are also 1 and 0."""
    if raw.kind in ("number", "boolean"):
        raw, level = replace(raw, kind="number"), _TRUTH.get(level, level)
    text = to_text(raw)
    code = text.levels.index(level) if level in text.levels else -1
    return np.asarray(text.values == code)


def _refuse_other_kind(condition: Condition, name: str, raw: RawColumn) -> None:
    dated = bool(condition.level)
    fitting = ("date", "time") if dated else ("number", "boolean", "duration")
    if raw.kind not in (*fitting, "missing"):
        raise ColumnError(
            f"The rule compares column '{name}' with {'a date' if dated else 'a number'}",
            got=f"{raw.kind} in the table",
            hint="Give it the type it has in the study.",
        )


def _said(condition: Condition, prediction: Any, rows: int) -> Mask:
    """What was asked of the model's own prediction."""
    if condition.variable == MODEL_SCORE:
        return _compared(condition, _scores(prediction, rows))
    labels = np.asarray([] if prediction is None else prediction)
    if labels.shape != (rows,):
        raise InputError(
            "The rule speaks of the model's label, which must be one per row of the table",
            got="none" if prediction is None else f"shape {labels.shape} for {rows:,} rows",
            hint="rule.mask(table, prediction=...): an array, or the name of a column.",
        )
    raw = raw_column(one_type(labels, "The model's labels", InputError), "prediction", "the table")
    _refuse_scores(condition.level, raw)
    return _has_level(condition.level, raw)


def _refuse_scores(level: str, raw: RawColumn) -> None:
    """Numbers are no labels where labels are words; fractions are none where they are whole."""
    if raw.kind not in ("number", "boolean"):
        return
    values, wanted = present(raw.values), _TRUTH.get(level, level)
    whole = is_number(wanted) and float(wanted).is_integer()
    fractions = values[values != np.round(values)]
    if not is_number(wanted) or (whole and len(fractions)):
        raise InputError(
            f"The rule asks whether the model's label is '{level}'",
            got=f"{fractions[0]:g}" if len(fractions) else "numbers",
            hint="Give labels as the outcome has them, not scores.",
        )


def _scores(prediction: Any, rows: int) -> Array:
    how = "rule.mask(table, prediction=...): an array, or the name of a column."
    if prediction is None:
        raise InputError("The rule speaks of the model's score, which was not given", hint=how)
    try:
        scores = np.asarray(prediction, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError("The model's scores must be numbers", got=str(error), hint=how) from error
    if scores.shape != (rows,):
        raise InputError(
            "The model's scores must be one number per row of the table",
            got=f"shape {scores.shape} for {rows:,} rows",
        )
    return scores


def _compared(condition: Condition, values: Array) -> Mask:
    match condition.kind:
        case "missing":
            return np.isnan(values)
        case "above":
            return np.asarray(values > condition.number)
        case _:
            return np.asarray(values <= condition.number)
