"""Any dataframe, for the terminal and for files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from whygap.errors import ResultError

__all__ = ["csv_of", "records_of", "text_of", "write_parquet"]


def records_of(table: Any) -> list[dict[str, Any]]:
    """One mapping per row."""
    import narwhals as nw

    return list(nw.from_native(table, eager_only=True).iter_rows(named=True))


def text_of(table: Any) -> str:
    """Columns aligned for a terminal: text to the left, numbers to the right."""
    records = records_of(table)
    if not records:
        return "(no rows)"
    columns = []
    for name in records[0]:
        values = [record[name] for record in records]
        cells = [name, *(_cell(value) for value in values)]
        width = max(map(len, cells))
        numeric = all(value is None or isinstance(value, int | float) for value in values)
        columns.append([c.rjust(width) if numeric else c.ljust(width) for c in cells])
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def csv_of(table: Any) -> str:
    """Comma-separated text."""
    import narwhals as nw

    return str(nw.from_native(table, eager_only=True).write_csv())


def write_parquet(table: Any, path: Path) -> None:
    """To a temporary file, then renamed."""
    import pyarrow.parquet

    unfinished = path.with_name(f".{path.name}.part")
    try:
        pyarrow.parquet.write_table(table, unfinished)
        unfinished.replace(path)
    except OSError as err:
        unfinished.unlink(missing_ok=True)
        raise ResultError(f"The file '{path}' cannot be written", got=err.strerror) from err


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
