"""Relations of DuckDB, and the queries of a study file -> pyarrow tables."""

import contextlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from whygap.errors import TableError, did_you_mean_file, first_line
from whygap.tables.frames import BATCH_ROWS

__all__ = ["is_query", "read_relation", "relation_batches", "run_query"]

_QUERY = re.compile(r"\s*(select|from|with)\s", re.IGNORECASE)


def is_query(text: str) -> bool:
    """Tell a query from a path."""
    return _QUERY.match(text) is not None


def run_query(
    query: str, label: str, folder: Path | None = None, database: str | Path | None = None
) -> Any:
    """Return the relation of a query.

    Args:
        query: what DuckDB is asked.
        label: what messages call the table.
        folder: where files are looked up.
        database: a database file, opened for reading only.
    """
    file = None if database is None else (folder or Path()) / Path(database).expanduser()
    if file is not None and not file.is_file():
        message = f"The database '{database}' of the {label} table does not exist"
        raise TableError(message, hint=did_you_mean_file(file))
    try:
        import duckdb
    except ImportError as err:
        hint = "Install it: pip install 'whygap[duckdb]'."
        raise TableError(f"The {label} table is a query, which needs duckdb", hint=hint) from err
    try:
        connection = duckdb.connect() if file is None else duckdb.connect(file, read_only=True)
        if folder is not None:
            connection.execute("SET file_search_path = ?", [str(folder)])
        return connection.sql(query)
    except duckdb.Error as err:
        raise TableError(f"The query of the {label} table failed", got=first_line(err)) from err


def read_relation(relation: Any, columns: Sequence[str], label: str) -> Any:
    """Read some columns of a relation as a pyarrow table.

    Args:
        relation: a DuckDB relation.
        columns: names of the columns to read.
        label: what messages call the table.
    """
    with _refusing(label):
        return relation.project(_quoted(columns)).to_arrow_table()


def relation_batches(relation: Any, columns: Sequence[str], label: str) -> Iterator[Any]:
    """Yield some columns of a relation, some rows at a time.

    Args:
        relation: a DuckDB relation.
        columns: names of the columns to read.
        label: what messages call the table.
    """
    with _refusing(label):
        picked = relation.project(_quoted(columns))
        read = getattr(picked, "to_arrow_reader", None) or picked.fetch_arrow_reader  # before 1.5
        for batch in read(BATCH_ROWS):
            yield pa.Table.from_batches([batch])


def _quoted(columns: Sequence[str]) -> str:
    return ", ".join('"' + name.replace('"', '""') + '"' for name in columns)


@contextlib.contextmanager
def _refusing(label: str) -> Iterator[None]:
    try:
        yield
    except Exception as err:  # DuckDB's own, whose module may be absent
        raise TableError(f"The {label} table cannot be read", got=first_line(err)) from err
