"""The entrance: any two tables -> one `Design` of plain arrays, and notes on what was done."""

from __future__ import annotations

from whygap.tables.build import build_design
from whygap.tables.design import Column, Design, Note, Player
from whygap.tables.open import OpenedTable, TableKind, TablePart, native_table, open_table
from whygap.tables.roles import Roles, resolve_roles
from whygap.tables.score import ModelScoring, Scoring

__all__ = [
    "Column",
    "Design",
    "ModelScoring",
    "Note",
    "OpenedTable",
    "Player",
    "Roles",
    "Scoring",
    "TableKind",
    "TablePart",
    "build_design",
    "native_table",
    "open_table",
    "resolve_roles",
]
