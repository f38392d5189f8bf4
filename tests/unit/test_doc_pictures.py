"""The pictures of the documentation; examples of its pages run with every other page's."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_picture_is_there_and_none_is_left_over() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    shown = {
        picture.rpartition("/")[2]
        for page in pages
        for picture in re.findall(r"\]\((\S*images/[^)]+)\)", page.read_text(encoding="utf-8"))
    }
    stored = {path.name: path.stat().st_size for path in (ROOT / "docs" / "images").iterdir()}
    assert shown == set(stored)
    assert max(stored.values()) < 300_000
