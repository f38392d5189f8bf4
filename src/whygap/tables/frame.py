"""One table at the door: opened (names known), then read (only the columns that are needed)."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from whygap.errors import TableError

__all__ = ["Frame", "Mask", "OpenedTable", "TableKind", "native_table"]

Mask = NDArray[np.bool_]
TableKind = Literal["pandas", "polars", "pyarrow"]


@dataclass(frozen=True, slots=True, eq=False)
class OpenedTable:
    """A table whose column names are known and whose rows are not read yet.

    Attributes:
        label: what messages call it: "source" or "target".
        kind: the kind of table that results are handed back in.
        names: column names, unique.
        load: columns -> the native table with these columns, in this order.
    """

    label: str
    kind: TableKind
    names: tuple[str, ...]
    load: Callable[[Sequence[str]], Any]

    def read(self, columns: Sequence[str]) -> Frame:
        """Read these columns; an empty table is refused."""
        native = self.load(columns)
        frame = Frame(self.label, self.kind, native, row_count(native))
        if frame.rows == 0:
            raise TableError(f"The {self.label} table has no rows")
        return frame


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A table that was read: `native` is of the caller's own kind, needed columns only."""

    label: str
    kind: TableKind
    native: Any
    rows: int

    def arrow(self, name: str) -> pa.Array:
        """One column as an Arrow array; mixed Python objects are read as text."""
        series = nw.from_native(plain(self.native, name), eager_only=True).get_column(name)
        try:
            array = series.to_arrow()
        except (pa.ArrowException, TypeError, ValueError, OverflowError, AttributeError):
            array = as_text([*series.to_list()])
        if isinstance(array, pa.ChunkedArray):
            return array.unify_dictionaries().combine_chunks()
        return array


def plain(native: Any, name: str) -> Any:
    """One column; intervals, as `pandas.cut` makes them, as categories with text names."""
    if not nw.dependencies.is_pandas_dataframe(native):
        return native
    column = native[name]
    categories = getattr(column.dtype, "categories", None)
    if categories is not None and str(categories.dtype).startswith("interval"):
        column = column.cat.rename_categories([str(category) for category in categories])
    return column.to_frame()


def row_count(native: Any) -> int:
    """Rows of a native eager table."""
    return len(nw.from_native(native, eager_only=True))


def as_text(values: list[Any]) -> pa.Array:
    """Text of arbitrary Python objects; None and NaN (unequal to itself) stay missing."""
    return pa.array([None if is_missing(value) else str(value) for value in values])


def is_missing(value: Any) -> bool:
    """None, NaN, NaT and pandas' NA."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"


def native_table(columns: Mapping[str, Sequence[Any]], kind: str) -> Any:
    """A table of this kind; of pyarrow where that library is not installed any more."""
    backend: Any = kind if importlib.util.find_spec(kind) else "pyarrow"
    return nw.from_dict(columns, backend=backend).to_native()
