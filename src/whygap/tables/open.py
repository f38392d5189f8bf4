"""Any table a caller may have -> an `OpenedTable`, without reading rows."""

import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import narwhals as nw
import pyarrow as pa

from whygap.errors import TableError, first_line
from whygap.tables import queries
from whygap.tables.files import open_files
from whygap.tables.frames import OpenedTable, TableKind, require_names, rows_of

__all__ = ["OpenedTable", "TableKind", "TablePart", "native_table", "open_table"]

ACCEPTED = (
    "a pandas, polars or pyarrow table, an Arrow stream, a duckdb relation, or a path to .csv, "
    ".xlsx or .parquet"
)
# What to write instead of an object that is no table, by its type or library
INSTEAD = {
    "pyspark": "Use table.toPandas(), or write it as Parquet and give the path.",
    "dask": "Use table.compute(), or write it as Parquet and give the path.",
    "modin": "Use table._to_pandas(), or write it as Parquet and give the path.",
    "NoneType": "A function that makes it may lack its 'return'.",
    "numpy": "Name the columns first, for example with pandas.DataFrame(...).",
    "builtins": "Name the columns first, for example with pandas.DataFrame(...).",
}


@dataclass(frozen=True, slots=True)
class TablePart:
    """Some rows and columns of a table: one file often holds both domains.

    Attributes:
        table: anything `Study` takes as a table.
        where: column -> the value, or list of values, a row must have. These columns define the
            domain and are left out of it.
        drop: more columns to leave out.
    """

    table: Any
    where: Mapping[str, Any] = field(default_factory=dict)
    drop: Sequence[str] = ()


def open_table(table: Any, label: str) -> OpenedTable:
    """Find out what a table is and which columns a table has, without reading rows.

    Args:
        table: a table in memory, a lazy plan, a path, glob or folder, a duckdb relation or query,
            an Arrow stream, or a `TablePart` of one of these.
        label: what messages call the table.
    """
    if isinstance(table, OpenedTable):
        return table
    if isinstance(table, TablePart):
        return _part_of(table, open_table(table.table, label))
    native = nw.to_native(table, pass_through=True)
    if isinstance(native, str) and queries.is_query(native):
        native = queries.run_query(native, label)
    if isinstance(native, str | Path):
        return open_files(native, label)
    if type(native).__name__ == "DuckDBPyRelation":
        names = require_names(native.columns, label)
        load = partial(queries.read_relation, native, label=label)
        stream = partial(queries.relation_batches, native, label=label)
        return OpenedTable(label, "pyarrow", names, load, stream=stream)
    return _open_in_memory(native, label)


def _open_in_memory(native: Any, label: str) -> OpenedTable:
    library = nw.dependencies
    is_lazy = library.is_polars_lazyframe(native)
    kind: TableKind
    if library.is_pandas_dataframe(native):
        kind, names = "pandas", lambda: list(native.columns)
    elif is_lazy or library.is_polars_dataframe(native):
        kind, names = "polars", lambda: list(native.collect_schema().names())
    elif library.is_pyarrow_table(native):
        kind, names = "pyarrow", lambda: native.column_names
    elif (streamed := _streamed(native, label)) is not None:
        return _open_in_memory(streamed, label)
    else:
        name, library_name = type(native).__name__, type(native).__module__.partition(".")[0]
        hint = INSTEAD.get(name) or INSTEAD.get(library_name, "")
        actual = f"an object of type {name}"
        raise TableError(f"The {label} table must be {ACCEPTED}", got=actual, hint=hint)

    def select(columns: Sequence[str]) -> Any:
        narrowed = native[list(columns)] if kind == "pandas" else native.select(list(columns))
        return narrowed.collect() if is_lazy else narrowed

    checked = require_names(_guarded(names, label), label)
    return OpenedTable(label, kind, checked, lambda c: _guarded(lambda: select(c), label))


def _streamed(native: Any, label: str) -> Any:
    """Read an Arrow stream of columns; None without a stream."""
    try:
        reader = pa.RecordBatchReader.from_stream(native)
    except (pa.ArrowInvalid, TypeError):
        return None
    return _guarded(reader.read_all, label)


def _guarded(load: Callable[[], Any], label: str) -> Any:
    """Run a caller's (possibly lazy) table; a failure of any kind becomes ours."""
    try:
        return load()
    except (MemoryError, TableError):
        raise
    except Exception as err:  # a lazy plan may fail in any way its author chose
        actual = first_line(err, with_type=True)
        raise TableError(f"The {label} table cannot be read", got=actual) from err


def _part_of(part: TablePart, opened: OpenedTable) -> OpenedTable:
    for name in (*part.where, *part.drop):
        opened.require(name, "where" if name in part.where else "drop")
    hidden = {*part.where, *part.drop}
    names = tuple(name for name in opened.names if name not in hidden)

    def _narrowed(native: Any, columns: Sequence[str]) -> Any:
        frame = nw.from_native(native, eager_only=True)
        for name, value in part.where.items():
            values = list(value) if isinstance(value, list | tuple | set) else [value]
            try:
                frame = frame.filter(nw.col(name).is_in(values))
            except Exception as err:  # each library has its own complaint about types
                message = f"Column '{name}' of {opened.label} cannot be compared with {value!r}"
                raise TableError(message, got=f"{type(err).__name__}") from err
        return frame.select(list(columns)).to_native()

    def load(columns: Sequence[str]) -> Any:
        native = _narrowed(opened.load((*columns, *part.where)), columns)
        if part.where and not rows_of(native):
            conditions = " and ".join(f"'{name}' equal to {v!r}" for name, v in part.where.items())
            raise TableError(f"No row of the {opened.label} table has {conditions}")
        return native

    def stream(columns: Sequence[str]) -> Iterator[Any]:
        for native in opened.stream((*columns, *part.where)) if opened.stream else ():
            yield _narrowed(native, columns)

    streamed = stream if opened.stream else None
    return OpenedTable(opened.label, opened.kind, names, load, opened.notes, streamed)


def native_table(columns: Mapping[str, Sequence[Any]], kind: str) -> Any:
    """Make a table of this kind; of pyarrow where that library is not installed any more.

    Args:
        columns: name -> values, all of equal length.
        kind: "pandas", "polars" or "pyarrow".
    """
    backend: Any = kind if importlib.util.find_spec(kind) else "pyarrow"
    return nw.from_dict(columns, backend=backend).to_native()
