"""Subpackages keep to the lines of `budgets.toml`."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1] / "src" / "whygap"
BUDGETS = tomllib.loads((HERE / "budgets.toml").read_text(encoding="utf-8"))
ALONE = {"mlflow.py"}  # files at the top that have a budget of their own


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def sizes() -> Counter[str]:
    """Lines of every subpackage, and of the files at the top."""
    found: Counter[str] = Counter()
    for path in SOURCE.rglob("*.py"):
        first, *deeper = path.relative_to(SOURCE).parts
        alone = first.removesuffix(".py") if first in ALONE else "top level"
        found[first if deeper else alone] += lines(path)
    return found


def test_every_subpackage_has_a_budget():
    assert set(sizes()) - set(BUDGETS["lines"]) == set()


def test_no_subpackage_is_larger_than_its_budget():
    over = {
        name: f"{size} lines, {BUDGETS['lines'][name]} allowed"
        for name, size in sizes().items()
        if size > BUDGETS["lines"][name]
    }
    assert over == {}


def test_templates_keep_to_their_budget():
    files = [path for path in (SOURCE / "render" / "templates").rglob("*") if path.is_file()]
    assert 0 < sum(map(lines, files)) <= BUDGETS["other"]["templates"]
