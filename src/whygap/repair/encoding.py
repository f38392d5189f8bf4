"""New tables of the user's kind as the numbers the study was encoded in."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from whygap.domains import Array
from whygap.errors import ColumnError, TableError, did_you_mean
from whygap.tables.columns import RawColumn, raw_column, to_text
from whygap.tables.design import Column

__all__ = ["encode_rows", "refuse_unknown_columns"]

OTHER = "(other)"


def encode_rows(table: Any, columns: tuple[Column, ...]) -> Array:
    """One float64 column per study column; levels never seen count as "(other)" or missing."""
    arrow = _arrow(table)
    refuse_unknown_columns([c.name for c in columns], arrow.column_names)
    return np.column_stack(
        [
            np.zeros((arrow.num_rows, 0)),
            *(
                _codes(raw_column(arrow[c.name].combine_chunks(), c.name, "table"), c)
                for c in columns
            ),
        ]
    )


def refuse_unknown_columns(wanted: list[str], present: list[str]) -> None:
    """Every wanted column must be in the table."""
    for name in wanted:
        if name not in present:
            raise ColumnError(
                f"Column '{name}' is not in the table", hint=did_you_mean(name, present)
            )


def _arrow(table: Any) -> Any:
    try:
        frame = nw.from_native(table)
    except TypeError as error:
        raise TableError(
            "The revised model needs a table",
            got=type(table).__name__,
            hint="Give a pandas, polars or pyarrow table with the study's columns.",
        ) from error
    return frame.collect().to_arrow() if isinstance(frame, nw.LazyFrame) else frame.to_arrow()


def _codes(raw: RawColumn, column: Column) -> Array:
    if column.kind == "numeric":
        if raw.levels:
            raise ColumnError(
                f"Column '{column.name}' must hold numbers, as in the study", got=raw.kind
            )
        return np.asarray(raw.values, dtype=np.float64)
    text = raw if raw.levels or np.isnan(raw.values).all() else to_text(raw)
    position = {level: float(code) for code, level in enumerate(column.levels)}
    unseen = position.get(OTHER, np.nan)
    lookup = np.array([position.get(level, unseen) for level in text.levels] + [np.nan])
    missing = np.isnan(text.values)
    return lookup[np.where(missing, len(text.levels), text.values).astype(np.int64)]
