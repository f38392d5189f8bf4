"""duckdb relations and queries (the `duckdb` extra)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from whygap.errors import TableError

__all__ = ["is_query", "is_relation", "read_relation", "run_query"]

QUERY = re.compile(r"\s*(select|from|with)\s", re.IGNORECASE)


def is_query(text: str) -> bool:
    """Whether a text is a query rather than a path."""
    return QUERY.match(text) is not None


def is_relation(table: Any) -> bool:
    """Whether an object is a duckdb relation, without importing duckdb."""
    return type(table).__name__ == "DuckDBPyRelation"


def run_query(query: str, label: str, folder: Path | None = None) -> Any:
    """A relation of a query; file names in it are looked up in `folder`."""
    try:
        import duckdb
    except ImportError as err:
        raise TableError(
            f"The {label} table is a query, which needs duckdb",
            hint="Install it: pip install 'whygap[duckdb]'.",
        ) from err
    connection = duckdb.connect()
    try:
        if folder is not None:
            connection.execute("SET file_search_path = ?", [str(folder)])
        return connection.sql(query)
    except duckdb.Error as err:
        raise TableError(
            f"The query of the {label} table failed", got=str(err).splitlines()[0].rstrip(".")
        ) from err


def read_relation(relation: Any, columns: Sequence[str], label: str) -> Any:
    """The chosen columns as a pyarrow table."""
    quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
    import duckdb

    try:
        return relation.project(quoted).to_arrow_table()
    except duckdb.Error as err:
        raise TableError(
            f"The {label} table cannot be read", got=str(err).splitlines()[0].rstrip(".")
        ) from err
