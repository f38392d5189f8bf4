"""What docs/reading_the_report.md tells people to type is typed here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reading_the_report.md"


def blocks() -> list[str]:
    text = PAGE.read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("great_tables")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    assert len(blocks()) == 2
    for block in blocks():
        exec(compile(block, str(PAGE), "exec"), names)  # noqa: S102 - our own page
    assert (tmp_path / "gap.svg").stat().st_size > 1000


def test_every_picture_is_there() -> None:
    pictures = re.findall(r"\]\((images/[^)]+)\)", PAGE.read_text(encoding="utf-8"))
    assert len(pictures) == 11
    for picture in pictures:
        assert (PAGE.parent / picture).stat().st_size < 300_000
