"""Imports go one way, as the table in docs/architecture.md says.

A room may import rooms on the lines above its own, and rooms on its own line as long as these do
not go in circles. Methods of `results` may import `render` when called.
"""

from __future__ import annotations

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "whygap"
LATE_IMPORTS_ALLOWED = {"results": {"render"}}


def lines_of_the_table() -> list[set[str]]:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    return [set(re.findall(r"`(\w+)/?`", row.split("|")[1])) for row in rows]


LEVEL = {room: level for level, rooms in enumerate(lines_of_the_table()) for room in rooms}
FILES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def late(tree: ast.AST) -> set[int]:
    """Imports inside functions."""
    functions = (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef))
    return {id(node) for function in functions for node in ast.walk(function)}


def modules_named_by(node: ast.AST) -> list[str]:
    """Full dotted names of what an import statement imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module is not None:
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


def rooms_imported_by(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside, allowed = late(tree), LATE_IMPORTS_ALLOWED.get(room_of(path), set())
    found = set()
    for node in ast.walk(tree):
        for name in modules_named_by(node):
            package, room, *_ = [*name.split("."), "", ""]
            if package == "whygap" and not (id(node) in inside and room in allowed):
                found.add(room)
    return found - {"", room_of(path)}


def test_every_room_is_in_the_table():
    rooms = {room_of(path) for path in FILES}
    assert rooms <= set(LEVEL), f"add to docs/architecture.md: {sorted(rooms - set(LEVEL))}"


def test_imports_point_upwards_in_the_table():
    wrong = []
    for path in FILES:
        own = LEVEL[room_of(path)]
        rooms = {room for room in rooms_imported_by(path) if LEVEL.get(room, own + 1) > own}
        wrong += [f"{path.relative_to(SOURCE)} may not import {room}" for room in sorted(rooms)]
    assert wrong == []


def test_rooms_do_not_import_each_other_in_circles():
    graph: dict[str, set[str]] = {}
    for path in FILES:
        graph.setdefault(room_of(path), set()).update(rooms_imported_by(path))
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as err:
        pytest.fail(f"rooms import each other: {' -> '.join(err.args[1])}")


def test_relative_imports_are_not_used():
    for path in FILES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        levels = [node.level for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        assert not any(levels), path


LEARNING_LIBRARIES = {"sklearn", "lightgbm"}


def names_imported_by(path: Path) -> set[str]:
    """Top-level packages of every import statement, also inside functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {n.split(".")[0] for node in ast.walk(tree) for n in modules_named_by(node)}


MAY_LEARN = {"learning", "paper"}


def test_only_learning_and_paper_import_scikit_learn_and_lightgbm():
    wrong = [
        f"{path.relative_to(SOURCE)}: ask whygap.learning instead of importing {library}"
        for path in FILES
        if room_of(path) not in MAY_LEARN
        for library in sorted(names_imported_by(path) & LEARNING_LIBRARIES)
    ]
    assert wrong == []


def test_learning_is_where_they_are_imported():
    inside = [path for path in FILES if room_of(path) == "learning"]
    assert set.union(*map(names_imported_by, inside)) >= LEARNING_LIBRARIES
