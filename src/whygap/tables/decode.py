"""Encoded rows -> the caller's kind of table, so that a model can be asked about new rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from whygap.domains import Array
from whygap.tables.encode import EncodedColumn
from whygap.tables.features import Features
from whygap.tables.frame import Frame

__all__ = ["can_decode", "decode_rows"]

MICROSECONDS = 1_000_000
DAY = 86_400


def can_decode(features: Features, wanted: Sequence[str]) -> bool:
    """Whether every wanted column is a feature, or one that has a single value."""
    known = {column.name for column in features.columns}
    known |= {name for name, reason in features.dropped.items() if reason != "all_rare"}
    return set(wanted) <= known


def decode_rows(rows: Array, features: Features, wanted: Sequence[str], template: Frame) -> Frame:
    """A table of the template's kind and types, with the wanted columns.

    A pooled level is shown as its most frequent member.

    Args:
        rows: (rows, columns) in the order of `features.columns`.
        features: how the columns were encoded.
        wanted: the columns of the table, in order.
        template: the caller's source table.
    """
    position = {column.name: i for i, column in enumerate(features.columns)}
    arrays = {}
    for name in wanted:
        original = template.arrow(name)
        if name in position:
            column = features.columns[position[name]]
            arrays[name] = cast_like(arrow_values(column, rows[:, position[name]]), original.type)
        else:
            arrays[name] = constant(original, len(rows))
    native = like_template(pa.table(arrays), template)
    return Frame("recombined", template.kind, native, len(rows))


def arrow_values(column: EncodedColumn, values: Array) -> Any:
    """The values a column stood for, in the plainest Arrow type."""
    missing = np.isnan(values)
    if column.standing_for:
        texts = np.array([*column.standing_for, None], dtype=object)
        codes = np.where(missing, len(texts) - 1, values).astype(np.int64)
        return pa.array(texts[codes], type=pa.string())
    if column.raw_kind in ("date", "time", "duration"):
        scale = MICROSECONDS * (1 if column.raw_kind == "time" else DAY)
        whole = np.round(np.where(missing, 0.0, values) * scale).astype(np.int64)
        kinds = {
            "date": pa.timestamp("us"),
            "time": pa.time64("us"),
            "duration": pa.duration("us"),
        }
        return pa.array(whole, mask=missing).cast(kinds[column.raw_kind])
    return pa.array(values, mask=missing)


def cast_like(array: Any, kind: Any) -> Any:
    """The template's type where the values allow it."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    try:
        return array.cast(kind, safe=False)
    except pa.ArrowException:
        return array


def constant(original: Any, rows: int) -> Any:
    """The single value of a column, repeated."""
    return pa.concat_arrays([original.slice(0, 1)]).take(pa.array(np.zeros(rows, dtype=np.int64)))


def like_template(table: Any, template: Frame) -> Any:
    """The template's kind of table, with its column types where they fit."""
    if template.kind == "pyarrow":
        return table
    if template.kind == "pandas":
        frame = nw.from_native(table, eager_only=True).to_pandas()
        return typed_pandas(frame, template.native)
    return typed_polars(table, template.native)


def typed_pandas(frame: Any, template: Any) -> Any:
    """The template's dtypes; a type that cannot hold a missing value is left as it is."""
    for name in frame.columns:
        wanted = template[name].dtype
        if frame[name].dtype != wanted:
            try:
                frame[name] = frame[name].astype(wanted)
            except (TypeError, ValueError):
                continue
    return frame


def typed_polars(table: Any, template: Any) -> Any:
    """The template's dtypes, in polars."""
    import polars as pl

    frame = pl.from_arrow(table)
    types = {name: template.schema[name] for name in table.column_names}
    return frame.cast(types, strict=False)  # type: ignore[arg-type]
