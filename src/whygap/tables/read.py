"""Any table a caller may have -> `OpenedTable`: pandas, polars, pyarrow, duckdb, or a path."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import pyarrow as pa

from whygap.errors import TableError
from whygap.tables import duck, files
from whygap.tables.frame import OpenedTable, TableKind
from whygap.tables.part import TablePart, part_of

__all__ = ["open_table"]

ACCEPTED = "a pandas, polars or pyarrow table, a duckdb relation, or a path to .csv or .parquet"


def open_table(table: Any, label: str) -> OpenedTable:
    """Find out what a table is and which columns it has, without reading its rows.

    Args:
        table: the caller's table, a path, a glob, a folder, or a duckdb relation or query;
            or a `TablePart` of one of these.
        label: what messages call it.
    """
    if isinstance(table, TablePart):
        return part_of(table, open_table(table.table, label))
    native = nw.to_native(table, pass_through=True)
    if isinstance(native, str) and duck.is_query(native):
        native = duck.run_query(native, label)
    if isinstance(native, str | Path):
        names, load = files.open_files(native, label)
        return OpenedTable(label, "pyarrow", checked_names(names, label), load)
    if duck.is_relation(native):
        return OpenedTable(
            label,
            "pyarrow",
            checked_names(native.columns, label),
            lambda columns: duck.read_relation(native, columns, label),
        )
    return open_in_memory(native, label)


def open_in_memory(native: Any, label: str) -> OpenedTable:
    """A table of pandas, polars (eager or lazy) or pyarrow."""
    found = recognise(native, label)
    if found is None:
        raise TableError(
            f"The {label} table must be {ACCEPTED}",
            got=f"an object of type {type(native).__name__}",
            hint=hint_for(native),
        )
    kind, names, select = found
    return OpenedTable(
        label,
        kind,
        checked_names(names(native), label),
        lambda columns: guarded_load(lambda: select(native, columns), label),
    )


Names = Callable[[Any], Sequence[Any]]
Select = Callable[[Any, Sequence[str]], Any]


def recognise(native: Any, label: str) -> tuple[TableKind, Names, Select] | None:
    """Kind of an in-memory table, how to list its columns, how to choose some."""
    is_a = nw.dependencies
    if is_a.is_pandas_dataframe(native):
        return "pandas", lambda t: list(t.columns), lambda t, columns: t[list(columns)]
    if is_a.is_polars_dataframe(native):
        return "polars", lambda t: t.columns, lambda t, columns: t.select(list(columns))
    if is_a.is_polars_lazyframe(native):
        return (
            "polars",
            lambda t: lazy_names(t, label),
            lambda t, columns: t.select(list(columns)).collect(),
        )
    if is_a.is_pyarrow_table(native):
        return "pyarrow", lambda t: t.column_names, lambda t, columns: t.select(list(columns))
    return None


def lazy_names(table: Any, label: str) -> Sequence[str]:
    """Column names of a lazy polars table; its plan may already be wrong here."""
    names: Sequence[str] = guarded_load(lambda: table.collect_schema().names(), label)
    return names


def guarded_load(load: Callable[[], Any], label: str) -> Any:
    """Run a caller's (possibly lazy) table; its own failure becomes ours."""
    try:
        return load()
    except (KeyboardInterrupt, MemoryError):
        raise
    except Exception as err:  # a lazy plan may fail in any way its author chose
        raise TableError(f"The {label} table cannot be read", got=first_line(err)) from err


def first_line(err: BaseException) -> str:
    """The first line of a foreign error, with its type."""
    lines = str(err).strip().splitlines()
    return f"{type(err).__name__}: {lines[0].rstrip('.')}" if lines else type(err).__name__


def checked_names(names: Sequence[Any], label: str) -> tuple[str, ...]:
    """Column names must be text and unique."""
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
    """What to do with arrays, dicts and the like."""
    if isinstance(native, dict) or type(native).__module__ == "numpy":
        return "Name the columns first, for example with pandas.DataFrame(...)."
    if isinstance(native, pa.RecordBatch):
        return "Use pyarrow.Table.from_batches([batch])."
    return ""
