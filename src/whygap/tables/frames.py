"""Tables whose columns are known (`OpenedTable`) and tables that were read (`Frame`)."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from whygap.errors import ColumnError, TableError, did_you_mean, first_line
from whygap.notes import Note

__all__ = ["BATCH_ROWS", "Frame", "Mask", "OpenedTable", "TableKind", "concat_rows"]
__all__ += ["release_arrow_memory", "require_names"]

Mask = NDArray[np.bool_]
TableKind = Literal["pandas", "polars", "pyarrow"]
BATCH_ROWS = 250_000  # rows of a batch: of thirty columns these are some 60 MB


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A table that was read: `native` is of the caller's own kind, needed columns only."""

    label: str
    kind: TableKind
    native: Any
    rows: int
    total: int = 0  # rows of the table it was drawn from

    def arrow(self, name: str) -> pa.Array:
        """Return a column as an Arrow array; mixed Python objects are read as text.

        Args:
            name: a column that was read.
        """
        native = self.native
        if self.kind == "pandas":
            categories: Any = getattr(native[name].dtype, "categories", None)
            if str(getattr(categories, "dtype", "")).startswith("interval"):  # as of pandas.cut
                words = [str(category) for category in categories]
                native = native[name].cat.rename_categories(words).to_frame()
        series = nw.from_native(native, eager_only=True).get_column(name)
        try:
            array = series.to_arrow()
        except (pa.ArrowException, TypeError, ValueError, OverflowError, AttributeError):
            array = pa.array([None if _is_missing(v) else str(v) for v in series.to_list()])
        if isinstance(array, pa.ChunkedArray):
            return array.unify_dictionaries().combine_chunks()
        return array


@dataclass(frozen=True, slots=True, eq=False)
class OpenedTable:
    """A table whose column names are known and whose rows are not read yet.

    Attributes:
        label: what messages call the table, "source" or "target".
        kind: the kind of table that results are handed back in.
        names: column names, unique.
        load: columns -> the native table with these columns, in this order.
        notes: how the table was read, where that is not plain.
        stream: columns -> parts of the native table, where it need not be in memory for that.
    """

    label: str
    kind: TableKind
    names: tuple[str, ...]
    load: Callable[[Sequence[str]], Any]
    notes: tuple[Note, ...] = ()
    stream: Callable[[Sequence[str]], Iterator[Any]] | None = None

    def require(self, name: str, role: str) -> None:
        """Refuse a column that is not in the table.

        Args:
            name: the column asked for.
            role: what the column is for, as messages say.
        """
        if name not in self.names:
            message = f"Column '{name}' ({role}) is not in {self.label}"
            raise ColumnError(message, hint=did_you_mean(name, self.names))

    def read(self, columns: Sequence[str], sample: int | None = None) -> Frame:
        """Read some columns; of a table with more than `sample` rows so many, drawn at random.

        Args:
            columns: names of the columns to read.
            sample: the most rows to keep in memory; None reads all.
        """
        if sample is None:
            native = self.load(columns)
            total = rows_of(native)
        else:
            parts = iter([self.load(columns)]) if self.stream is None else self.stream(columns)
            native, total = _draw(parts, sample, self.label)
        if not total:
            raise TableError(f"The {self.label} table has no rows")
        return Frame(self.label, self.kind, native, rows_of(native), total)


def rows_of(native: Any) -> int:
    """Count the rows of a native table."""
    return len(nw.from_native(native, eager_only=True))


def _draw(batches: Iterator[Any], rows: int, label: str) -> tuple[Any, int]:
    """Draw so many rows: every row gets a random number, and the smallest numbers stay."""
    rng = np.random.default_rng(0)  # fixed: the same table gives the same sample
    numbers: list[NDArray[np.float64]] = []
    parts: list[Any] = []
    total, bound = 0, np.inf
    for native in batches:
        parts.append(native)
        numbers.append(rng.random(rows_of(native)))
        total += len(numbers[-1])
        if sum(map(len, numbers)) > rows:
            bound = min(bound, float(np.partition(np.concatenate(numbers), rows)[rows]))
        parts = [_rows_of(part, n < bound) for part, n in zip(parts, numbers, strict=True)]
        numbers = [n[n < bound] for n in numbers]
    return concat_rows(parts, label), total


def _rows_of(native: Any, rows: Mask) -> Any:
    if rows.all():
        return native
    return nw.from_native(native, eager_only=True)[np.flatnonzero(rows)].to_native()


def concat_rows(parts: Sequence[Any], label: str) -> Any:
    """Stack tables with equal columns.

    Args:
        parts: native tables of one kind, at least one.
        label: what messages call the table.
    """
    filled = [part for part in parts if rows_of(part)] or list(parts[:1])
    if all(isinstance(part, pa.Table) for part in filled):
        try:
            return pa.concat_tables(filled, promote_options="permissive")
        except pa.ArrowException as err:
            message = f"The files of the {label} table have columns of different types"
            raise TableError(message, got=first_line(err)) from err
    frames = [nw.from_native(part, eager_only=True) for part in filled]
    return nw.concat(frames, how="vertical").to_native()


def release_arrow_memory() -> None:
    """Return Arrow's unused memory to the system (over 1 GB after a million rows)."""
    pa.default_memory_pool().release_unused()


def require_names(names: Sequence[Any], label: str) -> tuple[str, ...]:
    """Refuse column names that are missing, no text, or not unique.

    Args:
        names: column names as the table has them.
        label: what messages call the table.
    """
    if not len(names):
        raise TableError(f"The {label} table has no columns")
    for name in names:
        if not isinstance(name, str):
            message = f"Column names of the {label} table must be text"
            hint = "In pandas: table.columns = table.columns.map(str)."
            raise TableError(message, got=f"{name!r} ({type(name).__name__})", hint=hint)
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        message = f"The {label} table has more than one column named '{twice[0]}'"
        raise TableError(message, hint="Rename or drop the extra ones.")
    return tuple(names)


def _is_missing(value: Any) -> bool:
    """Tell None, NaN and NaT (unequal to themselves) and pandas' NA from values."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"
