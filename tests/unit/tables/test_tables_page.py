"""What docs/tables.md shows runs, and its study file has only known keys."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from whygap.errors import TableError
from whygap.study_file import read_study_file

PAGE = Path(__file__).resolve().parents[3] / "docs" / "tables.md"


def blocks(language: str) -> list[str]:
    text = PAGE.read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def test_python_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for block in blocks("python"):
        exec(block, names)  # noqa: S102 - the page is our own
    assert "ByDomain(source=" in capsys.readouterr().out


def test_the_study_file_has_known_keys_only(tmp_path: Path) -> None:
    (text,) = blocks("toml")
    assert "source" in tomllib.loads(text)
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    with pytest.raises(TableError, match="does not exist"):
        read_study_file(tmp_path / "study.toml")
