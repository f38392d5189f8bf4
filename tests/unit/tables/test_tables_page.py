"""What docs/tables.md shows runs, and its study file has only known keys."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from whygap.study_file import check_keys

PAGE = Path(__file__).resolve().parents[3] / "docs" / "tables.md"


def blocks(language: str) -> list[str]:
    text = PAGE.read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def test_python_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for block in blocks("python"):
        exec(block, names)  # noqa: S102 - the page is our own
    assert "ByDomain(source=" in capsys.readouterr().out


def test_the_study_file_has_known_keys_only() -> None:
    (text,) = blocks("toml")
    check_keys(tomllib.loads(text), PAGE)
