"""Test files are modules side by side: two of one name cannot be collected together."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]


def test_no_two_files_of_the_tests_share_a_name():
    names = (path.name for path in TESTS.rglob("*.py") if path.name != "conftest.py")
    assert [name for name, count in Counter(names).items() if count > 1] == []
