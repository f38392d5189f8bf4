"""`whygap.__all__` is exactly what `__init__.py` imports of ours, sorted, and all there."""

from __future__ import annotations

import ast
from pathlib import Path

import whygap

INIT = Path(whygap.__file__)


def names_imported_by_init() -> set[str]:
    tree = ast.parse(INIT.read_text(encoding="utf-8"))
    ours = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "whygap"
    ]
    return {alias.asname or alias.name for node in ours for alias in node.names}


def test_all_equals_the_public_names():
    assert set(whygap.__all__) - {"__version__"} == names_imported_by_init()


def test_all_is_sorted_and_every_name_is_there():
    assert list(whygap.__all__) == sorted(whygap.__all__)
    for name in whygap.__all__:
        assert getattr(whygap, name) is not None


def test_every_public_thing_says_what_it_is():
    for name in whygap.__all__:
        thing = getattr(whygap, name)
        assert isinstance(thing, str) or (thing.__doc__ or "").strip(), name
