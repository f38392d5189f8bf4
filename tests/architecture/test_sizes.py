"""Small files, short functions: what can be read at one glance."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "whygap"
FILES = sorted(SOURCE.rglob("*.py"))
LONGEST_FILE = 320
LONGEST_FUNCTION = 45


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_files_and_functions_are_short(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LONGEST_FILE
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            # Keywords of a public function are its interface, a line each: the body counts.
            lines = (node.end_lineno or node.lineno) - node.body[0].lineno + 1
            assert lines <= LONGEST_FUNCTION, f"{node.name}: {lines} lines"


def test_no_drawer_for_odds_and_ends():
    names = {path.stem for path in FILES}
    assert not names & {"utils", "_utils", "helpers", "common", "misc"}


def test_nothing_is_left_unfinished():
    marks = ("TODO", "FIXME", "XXX", "NotImplementedError")
    found = [
        f"{path.relative_to(SOURCE)}: {mark}"
        for path in FILES
        for mark in marks
        if mark in path.read_text(encoding="utf-8")
    ]
    assert not found
