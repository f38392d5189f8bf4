"""One Arrow column -> numbers: what kind of column it is and its values, missing as NaN."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from whygap.domains import Array
from whygap.errors import ColumnError

__all__ = ["RawColumn", "RawKind", "raw_column", "to_text"]

RawKind = Literal["number", "boolean", "text", "ordered", "date", "time", "duration", "missing"]

PER_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
DAY = 86_400.0


@dataclass(frozen=True, slots=True, eq=False)
class RawColumn:
    """One column of one table.

    Attributes:
        kind: what it holds.
        values: the numbers; codes into `levels` for text and ordered; days since 1970-01-01 for
            dates, seconds for times of day, days for durations. Missing is NaN.
        levels: sorted (text) or in the stated order (ordered).
        whole: all numbers came from a whole-number type.
        infinite: how many infinite values were turned into missing ones.
    """

    kind: RawKind
    values: Array
    levels: tuple[str, ...] = ()
    whole: bool = False
    infinite: int = 0

    @property
    def missing(self) -> int:
        """Number of missing values."""
        return int(np.isnan(self.values).sum())


def raw_column(array: Any, name: str, label: str) -> RawColumn:
    """Read an Arrow array; types that hold no single value are refused."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        return dictionary_column(array, ordered=bool(kind.ordered))
    if is_text(kind):
        return dictionary_column(pc.dictionary_encode(array), ordered=False)
    if pa.types.is_null(kind):
        return RawColumn("missing", np.full(len(array), np.nan))
    if pa.types.is_boolean(kind):
        return RawColumn("boolean", floats(array.cast(pa.int8())))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return number_column(array)
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        return temporal_column(array)
    raise ColumnError(
        f"Column '{name}' of {label} holds values that are neither numbers, text nor dates",
        got=f"type {kind}",
        hint="Drop it, or turn it into plain columns.",
    )


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is one of the text types."""
    checks = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(check(kind) for check in checks)


def floats(array: Any) -> Array:
    """Float64 values of a numeric Arrow array, missing as NaN."""
    values = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.array(values, dtype=np.float64)


def number_column(array: Any) -> RawColumn:
    """Whole numbers, fractions, decimals; an infinite value counts as missing and is reported."""
    values = floats(array)
    infinite = np.isinf(values)
    values[infinite] = np.nan
    return RawColumn(
        "number",
        values,
        whole=bool(pa.types.is_integer(array.type)),
        infinite=int(infinite.sum()),
    )


def temporal_column(array: Any) -> RawColumn:
    """Dates and times as one number each (see `RawColumn.values`)."""
    kind = array.type
    if pa.types.is_date32(kind):
        return RawColumn("date", floats(array.cast(pa.int32())))
    unit = "ms" if pa.types.is_date64(kind) else kind.unit
    storage = pa.int32() if pa.types.is_time32(kind) else pa.int64()
    seconds = floats(array.cast(storage)) / PER_SECOND[unit]
    if pa.types.is_time(kind):
        return RawColumn("time", seconds)
    return RawColumn("duration" if pa.types.is_duration(kind) else "date", seconds / DAY)


def dictionary_column(array: Any, *, ordered: bool) -> RawColumn:
    """Categories and text as codes into sorted levels (or into the stated order)."""
    texts = [None if value is None else str(value) for value in array.dictionary.to_pylist()]
    present = dict.fromkeys(text for text in texts if text is not None)
    levels = tuple(present) if ordered else tuple(sorted(present))
    position = {level: float(i) for i, level in enumerate(levels)}
    lookup = np.array([np.nan if t is None else position[t] for t in texts] + [np.nan])
    codes = array.indices.cast(pa.int64()).fill_null(len(texts)).to_numpy(zero_copy_only=False)
    raw = RawColumn("ordered" if ordered else "text", lookup[codes], levels)
    if np.isnan(raw.values).all():
        return RawColumn("missing", raw.values)
    return raw if ordered else only_observed(raw)


def only_observed(raw: RawColumn) -> RawColumn:
    """Levels that no row has are forgotten; order is kept."""
    used = np.unique(raw.values[~np.isnan(raw.values)]).astype(np.int64)
    if len(used) == len(raw.levels):
        return raw
    lookup = np.full(len(raw.levels) + 1, np.nan)
    lookup[used] = np.arange(len(used))
    codes = np.where(np.isnan(raw.values), len(raw.levels), raw.values).astype(np.int64)
    return RawColumn(raw.kind, lookup[codes], tuple(raw.levels[i] for i in used))


def to_text(raw: RawColumn) -> RawColumn:
    """A numeric column as text levels, for a column that is text in the other table."""
    if raw.kind in ("text", "missing"):
        return raw
    if raw.kind == "ordered":
        names = raw.levels
        order = np.argsort(np.array(names, dtype=object), kind="stable")
        rank = np.empty(len(names) + 1)
        rank[order] = np.arange(len(names))
        rank[-1] = np.nan
        codes = np.where(np.isnan(raw.values), len(names), raw.values).astype(np.int64)
        return only_observed(RawColumn("text", rank[codes], tuple(names[i] for i in order)))
    distinct = np.unique(raw.values[~np.isnan(raw.values)])
    words = [f"{value:.15g}" for value in distinct]
    if raw.kind == "boolean":
        words = ["True" if value else "False" for value in distinct]
    levels = tuple(sorted(set(words)))
    position = {level: float(i) for i, level in enumerate(levels)}
    lookup = np.array([position[word] for word in words])
    texts = np.full(len(raw.values), np.nan)
    seen = ~np.isnan(raw.values)
    texts[seen] = lookup[np.searchsorted(distinct, raw.values[seen])]
    return RawColumn("text", texts, levels)
