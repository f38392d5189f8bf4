"""The entrance: any two tables -> one `Design` of plain arrays, and notes on what was done."""

from whygap.tables.design import Design
from whygap.tables.open import TableKind, TablePart, native_table

__all__ = ["Design", "TableKind", "TablePart", "native_table"]
