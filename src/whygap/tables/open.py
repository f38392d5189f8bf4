"""Any table a caller may have -> opened (names known) -> read (the needed columns only)."""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from whygap.errors import ColumnError, TableError, did_you_mean, first_line
from whygap.notes import Note
from whygap.tables import batches, files, queries

__all__ = [
    "Frame",
    "Mask",
    "OpenedTable",
    "Query",
    "TableKind",
    "TablePart",
    "native_table",
    "open_table",
]

Mask = NDArray[np.bool_]
TableKind = Literal["pandas", "polars", "pyarrow"]

ACCEPTED = (
    "a pandas, polars or pyarrow table, an Arrow stream, a duckdb relation, or a path to .csv, "
    ".xlsx or .parquet"
)


@dataclass(frozen=True, slots=True, eq=False)
class OpenedTable:
    """A table whose column names are known and whose rows are not read yet."""

    label: str  # what messages call it: "source" or "target"
    kind: TableKind  # the kind of table that results are handed back in
    names: tuple[str, ...]  # column names, unique
    load: Callable[[Sequence[str]], Any]  # columns -> the native table with these, in this order
    notes: tuple[Note, ...] = ()  # how it was read, where that is not plain
    # The same by batches, where it need not be in memory for that
    stream: batches.Stream | None = None

    def require(self, name: str, role: str) -> None:
        """Refuse a column that is not there."""
        if name not in self.names:
            raise ColumnError(
                f"Column '{name}' ({role}) is not in {self.label}",
                hint=did_you_mean(name, self.names),
            )

    def read(self, columns: Sequence[str]) -> Frame:
        """Read these columns; an empty table is refused."""
        return self.frame(self.load(columns))

    def batches(self, columns: Sequence[str]) -> Iterator[Frame]:
        """These columns, some rows at a time."""
        parts = batches.slices(self.load(columns)) if self.stream is None else self.stream(columns)
        read = (Frame(self.label, self.kind, native, rows_of(native)) for native in parts)
        yield from (frame for frame in read if frame.rows)

    def frame(self, native: Any) -> Frame:
        """Rows that were read; none at all are refused."""
        if rows_of(native) == 0:
            raise TableError(f"The {self.label} table has no rows")
        return Frame(self.label, self.kind, native, rows_of(native))


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A table that was read: `native` is of the caller's own kind, needed columns only."""

    label: str
    kind: TableKind
    native: Any
    rows: int

    def arrow(self, name: str) -> pa.Array:
        """One column as an Arrow array; mixed Python objects are read as text."""
        series = nw.from_native(text_intervals(self.native, name), eager_only=True).get_column(name)
        try:
            array = series.to_arrow()
        except (pa.ArrowException, TypeError, ValueError, OverflowError, AttributeError):
            array = pa.array([None if is_missing(v) else str(v) for v in series.to_list()])
        if isinstance(array, pa.ChunkedArray):
            return array.unify_dictionaries().combine_chunks()
        return array


@dataclass(frozen=True, slots=True)
class TablePart:
    """Some rows and columns of a table: one file often holds both domains."""

    table: Any  # anything `Study` takes as a table
    # Column -> the value, or list of values, a row must have. These columns define the domain and
    # are left out of it.
    where: Mapping[str, Any] = field(default_factory=dict)
    drop: Sequence[str] = ()  # more columns to leave out


@dataclass(frozen=True, slots=True)
class Query:
    """What a query finds in a database file of DuckDB, which is opened for reading only."""

    database: str | Path
    query: str


def rows_of(native: Any) -> int:
    return len(nw.from_native(native, eager_only=True))


def open_table(table: Any, label: str) -> OpenedTable:
    """Find out what a table is and which columns it has, without reading its rows.

    It may be a table in memory, a path, a glob, a folder, an Arrow stream, a duckdb relation or
    query, or a `TablePart` of one of these; messages call it `label`.
    """
    if isinstance(table, OpenedTable):
        return table
    if isinstance(table, TablePart):
        return part_of(table, open_table(table.table, label))
    native = nw.to_native(table, pass_through=True)
    if isinstance(native, Query):
        native = queries.run_query(native.query, label, database=native.database)
    if isinstance(native, str) and queries.is_query(native):
        native = queries.run_query(native, label)
    if isinstance(native, str | Path):
        found = files.open_files(native, label)
        names = checked_names(found.names, label)
        return OpenedTable(label, "pyarrow", names, found.load, found.notes(), found.batches)
    if type(native).__name__ == "DuckDBPyRelation":
        names, read = native.columns, partial(queries.read_relation, native, label=label)
        stream = partial(queries.relation_batches, native, label=label)
        return OpenedTable(label, "pyarrow", checked_names(names, label), read, stream=stream)
    if kind_of(native) is None and (reader := arrow_reader(native)) is not None:
        return open_stream(reader, label)
    return open_in_memory(native, label)


def arrow_reader(native: Any) -> Any:
    """An Arrow stream of columns; None where there is no stream, or one of a single column."""
    try:
        return pa.RecordBatchReader.from_stream(native)
    except (pa.ArrowInvalid, TypeError):
        return None


def open_stream(reader: Any, label: str) -> OpenedTable:
    names, stream = checked_names(reader.schema.names, label), batches.ArrowStream(reader, label)

    def load(columns: Sequence[str]) -> Any:
        return guarded(lambda: stream.load(columns), label)

    return OpenedTable(label, "pyarrow", names, load, stream=stream.batches)


def open_in_memory(native: Any, label: str) -> OpenedTable:
    kind = kind_of(native)
    if kind is None:
        raise TableError(
            f"The {label} table must be {ACCEPTED}",
            got=f"an object of type {type(native).__name__}",
            hint=hint_for(native),
        )

    def names() -> Sequence[Any]:
        if kind == "polars":
            return list(native.collect_schema().names())
        return list(native.columns if kind == "pandas" else native.column_names)

    def select(columns: Sequence[str]) -> Any:
        chosen = native[list(columns)] if kind == "pandas" else native.select(list(columns))
        return chosen.collect() if nw.dependencies.is_polars_lazyframe(chosen) else chosen

    def by_slices(columns: Sequence[str]) -> Iterator[Any]:
        return batches.lazy_slices(native.select(list(columns)))

    known = checked_names(guarded(names, label), label)
    stream = by_slices if nw.dependencies.is_polars_lazyframe(native) else None
    return OpenedTable(
        label, kind, known, lambda cols: guarded(lambda: select(cols), label), stream=stream
    )


def kind_of(native: Any) -> TableKind | None:
    """The library of a table in memory, without importing any."""
    library = nw.dependencies
    if library.is_pandas_dataframe(native):
        return "pandas"
    if library.is_polars_dataframe(native) or library.is_polars_lazyframe(native):
        return "polars"
    return "pyarrow" if library.is_pyarrow_table(native) else None


def guarded(load: Callable[[], Any], label: str) -> Any:
    """Run a caller's (possibly lazy) table; its own failure becomes ours."""
    try:
        return load()
    except (KeyboardInterrupt, MemoryError, TableError):
        raise
    except Exception as err:  # a lazy plan may fail in any way its author chose
        got = first_line(err, with_type=True)
        raise TableError(f"The {label} table cannot be read", got=got) from err


def checked_names(names: Sequence[Any], label: str) -> tuple[str, ...]:
    if not len(names):
        raise TableError(f"The {label} table has no columns")
    for name in names:
        if not isinstance(name, str):
            raise TableError(
                f"Column names of the {label} table must be text",
                got=f"{name!r} ({type(name).__name__})",
                hint="In pandas: table.columns = table.columns.map(str).",
            )
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise TableError(
            f"The {label} table has more than one column named '{twice[0]}'",
            hint="Rename or drop the extra ones.",
        )
    return tuple(names)


def hint_for(native: Any) -> str:
    """What to write instead of an object that is not a table."""
    library = type(native).__module__.partition(".")[0]
    if native is None:
        return "A function that makes it may lack its 'return'."
    if isinstance(native, dict | list | tuple) or library == "numpy":
        return "Name the columns first, for example with pandas.DataFrame(...)."
    if isinstance(native, pa.RecordBatch):
        return "Use pyarrow.Table.from_batches([batch])."
    if library in ("pyspark", "dask", "modin"):
        call = {"pyspark": "toPandas", "dask": "compute", "modin": "_to_pandas"}[library]
        return f"Use table.{call}(), or write it as Parquet and give the path."
    if isinstance(native, Iterable):
        return "Make a table of its rows first: pandas.DataFrame(list(rows))."
    return ""


def part_of(part: TablePart, opened: OpenedTable) -> OpenedTable:
    for name in (*part.where, *part.drop):
        opened.require(name, "where" if name in part.where else "drop")
    hidden = {*part.where, *part.drop}
    names = tuple(name for name in opened.names if name not in hidden)

    def load(columns: Sequence[str]) -> Any:
        native = opened.load((*columns, *part.where))
        return choose_rows(native, part.where, columns, opened.label)

    def stream(columns: Sequence[str]) -> Iterator[Any]:
        for frame in opened.batches((*columns, *part.where)):
            chosen = nw.from_native(frame.native, eager_only=True)
            for name, wanted in part.where.items():
                chosen = matching(chosen, name, wanted, opened.label)
            yield chosen.select(list(columns)).to_native()

    return OpenedTable(opened.label, opened.kind, names, load, opened.notes, stream)


def choose_rows(native: Any, where: Mapping[str, Any], columns: Sequence[str], label: str) -> Any:
    """Rows that have the wanted values, without the columns that say so."""
    frame = nw.from_native(native, eager_only=True)
    for name, wanted in where.items():
        frame = matching(frame, name, wanted, label)
        if not len(frame):
            raise TableError(f"No row of the {label} table has '{name}' equal to {wanted!r}")
    return frame.select(list(columns)).to_native()


def matching(frame: Any, name: str, wanted: Any, label: str) -> Any:
    values = wanted if isinstance(wanted, list | tuple | set) else [wanted]
    try:
        return frame.filter(nw.col(name).is_in(list(values)))
    except Exception as err:  # each library has its own complaint about types
        raise TableError(
            f"Column '{name}' of {label} cannot be compared with {wanted!r}",
            got=f"{type(err).__name__}",
        ) from err


def text_intervals(native: Any, name: str) -> Any:
    """One column; intervals, as `pandas.cut` makes them, as categories with text names."""
    if not nw.dependencies.is_pandas_dataframe(native):
        return native
    column = native[name]
    categories = getattr(column.dtype, "categories", None)
    if categories is not None and str(categories.dtype).startswith("interval"):
        column = column.cat.rename_categories([str(category) for category in categories])
    return column.to_frame()


def is_missing(value: Any) -> bool:
    """None, NaN and NaT (unequal to themselves) and pandas' NA."""
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
