"""The entrance: any two tables -> one `Design` of plain arrays, and notes on what was done."""

from __future__ import annotations

from whygap.tables.build import build_design
from whygap.tables.design import Column, Design, Note, Player
from whygap.tables.frame import Frame, OpenedTable, TableKind, native_table
from whygap.tables.part import TablePart
from whygap.tables.read import open_table
from whygap.tables.roles import Roles, resolve_roles
from whygap.tables.scoring import ModelScoring, Scoring

__all__ = [
    "Column",
    "Design",
    "Frame",
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
