"""Excel workbooks (.xlsx) -> pyarrow: the first sheet that holds anything, its first row names."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from whygap.errors import TableError

__all__ = ["Sheet", "read_sheet", "sheet_of"]

ERRORS = ("#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!")  # cells without value


@dataclass(frozen=True, slots=True)
class Sheet:
    """Where the table is in a workbook."""

    title: str
    names: tuple[str, ...]  # of the columns, in order
    others: int  # sheets that are not read


def sheet_of(path: Path, label: str) -> Sheet:
    """The sheet that is read, and its columns."""
    with workbook(path, label) as book:
        filled = [sheet for sheet in book.worksheets if next(rows_of(sheet), None)]
        if not filled:
            raise TableError(f"The {label} table '{path}' holds no filled sheet")
        header = list(next(rows_of(filled[0])))
        while header and header[-1] is None:
            header.pop()
        names = tuple(f"Unnamed: {i}" if n is None else str(n) for i, n in enumerate(header))
        return Sheet(filled[0].title, names, len(filled) - 1)


def read_sheet(path: Path, sheet: Sheet, columns: Sequence[str], label: str) -> Any:
    """The chosen columns; empty rows are passed over."""
    places = [sheet.names.index(name) for name in columns]
    values: list[list[Any]] = [[] for _ in columns]
    with workbook(path, label) as book:
        rows = rows_of(book[sheet.title])
        next(rows)
        for row in rows:
            for column, place in zip(values, places, strict=True):
                column.append(row[place] if place < len(row) else None)
    return pa.table([cells(column) for column in values], names=list(columns))


def cells(values: list[Any]) -> Any:
    """One column; cells of several kinds are text."""
    present = [None if value in ERRORS or value == "" else value for value in values]
    try:
        return pa.array(present)
    except pa.ArrowException:
        return pa.array([None if value is None else str(value) for value in present])


def rows_of(sheet: Any) -> Iterator[tuple[Any, ...]]:
    """Rows that hold anything."""
    sheet.reset_dimensions()  # what a workbook says of its size is often wrong
    return (row for row in sheet.iter_rows(values_only=True) if any(c is not None for c in row))


@contextlib.contextmanager
def workbook(path: Path, label: str) -> Iterator[Any]:
    """An open workbook, values instead of formulas."""
    try:
        import openpyxl
    except ImportError as err:
        raise TableError(
            f"The {label} table '{path}' is an Excel file, which needs openpyxl",
            hint="Install it: pip install 'whygap[excel]'; or save the sheet as .csv.",
        ) from err
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of styles and charts, which are not read
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        try:
            yield book
        finally:
            book.close()
