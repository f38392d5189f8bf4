"""Numbers that someone chose: few where models are learned, each with its reason beside it."""

from __future__ import annotations

import ast
from pathlib import Path

LEARNING = Path(__file__).resolve().parents[2] / "src" / "whygap" / "learning"
MOST = 21  # with those of the cut of the rows, which moved into learning


def numbers(text: str) -> dict[str, int]:
    """Names at the top of a module that stand for a number or for several, with their lines."""
    found = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            (target,) = node.targets if isinstance(node, ast.Assign) else (node.target,)
            leaves = [n.value for n in ast.walk(node.value) if isinstance(n, ast.Constant)]
            if leaves and all(isinstance(leaf, int | float) for leaf in leaves):
                found[ast.unparse(target)] = node.lineno
    return found


def without_a_reason(text: str) -> list[str]:
    """Those with no comment in the line, nor in the one above."""
    lines = ["", *text.splitlines()]
    return [
        name
        for name, at in numbers(text).items()
        if "# " not in lines[at] and not lines[at - 1].startswith("# ")
    ]


def test_models_are_learned_by_few_chosen_numbers_each_with_its_reason():
    texts = {path.name: path.read_text(encoding="utf-8") for path in LEARNING.glob("*.py")}
    assert [f"{file}: {name}" for file in texts for name in without_a_reason(texts[file])] == []
    assert sum(len(numbers(text)) for text in texts.values()) <= MOST


def test_a_number_is_noticed_however_it_is_written():
    text = "A = 1\n# why\nB = (1.0, 2)\nC: int = 10**6  # why\nD = f(2)\nE = 'x'\nF = {'a': -1}\n"
    assert list(numbers(text)) == ["A", "B", "C", "D"]
    assert without_a_reason(text) == ["A", "D"]
