"""Some rows and columns of a table: one file often holds both domains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw

from whygap.errors import ColumnError, TableError, did_you_mean
from whygap.tables.frame import OpenedTable

__all__ = ["TablePart", "part_of"]


@dataclass(frozen=True, slots=True)
class TablePart:
    """A table, the rows wanted, and the columns not wanted.

    Attributes:
        table: anything `Study` takes as a table.
        where: column -> the value, or list of values, a row must have. These columns define the
            domain and are left out of it.
        drop: more columns to leave out.
    """

    table: Any
    where: Mapping[str, Any] = field(default_factory=dict)
    drop: Sequence[str] = ()


def part_of(part: TablePart, opened: OpenedTable) -> OpenedTable:
    """The part of an opened table, itself unread."""
    for name in (*part.where, *part.drop):
        if name not in opened.names:
            role = "where" if name in part.where else "drop"
            raise ColumnError(
                f"Column '{name}' ({role}) is not in {opened.label}",
                hint=did_you_mean(name, opened.names),
            )
    hidden = {*part.where, *part.drop}
    names = tuple(name for name in opened.names if name not in hidden)

    def load(columns: Sequence[str]) -> Any:
        native = opened.load((*columns, *part.where))
        return choose_rows(native, part.where, columns, opened.label)

    return OpenedTable(opened.label, opened.kind, names, load)


def choose_rows(native: Any, where: Mapping[str, Any], columns: Sequence[str], label: str) -> Any:
    """Rows that have the wanted values, without the columns that say so."""
    frame = nw.from_native(native, eager_only=True)
    for name, wanted in where.items():
        values = wanted if isinstance(wanted, list | tuple | set) else [wanted]
        try:
            frame = frame.filter(nw.col(name).is_in(list(values)))
        except Exception as err:  # each library has its own complaint about types
            raise TableError(
                f"Column '{name}' of {label} cannot be compared with {wanted!r}",
                got=f"{type(err).__name__}",
            ) from err
        if not len(frame):
            raise TableError(f"No row of the {label} table has '{name}' equal to {wanted!r}")
    return frame.select(list(columns)).to_native()
