"""Any dataframe, for the terminal and for files."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from whygap.errors import ResultError

__all__ = ["csv_of", "records_of", "write_parquet"]


def records_of(table: Any) -> list[dict[str, Any]]:
    """One mapping per row."""
    import narwhals as nw

    return list(nw.from_native(table, eager_only=True).iter_rows(named=True))


def csv_of(table: Any) -> str:
    """Comma-separated text, the same for every kind of table."""
    records = records_of(table)
    text = io.StringIO()
    writer = csv.DictWriter(
        text, fieldnames=list(records[0]) if records else [], lineterminator="\n"
    )
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


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
