"""Small files, short functions: what can be read at one glance."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "whygap"
FILES = sorted(SOURCE.rglob("*.py"))
LONGEST_FILE = 320
LONGEST_FUNCTION = 45


def test_files_and_functions_are_short():
    long = []
    for path in FILES:
        text, name = path.read_text(encoding="utf-8"), path.relative_to(SOURCE)
        if (size := len(text.splitlines())) > LONGEST_FILE:
            long.append(f"{name}: {size} lines")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                # Keywords of a public function are its interface, a line each: the body counts.
                size = (node.end_lineno or node.lineno) - node.body[0].lineno + 1
                long += [f"{name}, {node.name}: {size} lines"] if size > LONGEST_FUNCTION else []
    assert long == []


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
