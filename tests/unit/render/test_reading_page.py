"""The pictures of docs/reading_the_report.md; its examples run with every other page's."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reading_the_report.md"


def test_every_picture_is_there() -> None:
    pictures = re.findall(r"\]\((images/[^)]+)\)", PAGE.read_text(encoding="utf-8"))
    assert len(pictures) == 8
    for picture in pictures:
        assert (PAGE.parent / picture).stat().st_size < 300_000
