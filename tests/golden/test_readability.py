"""No sentence of a summary or a report is longer than thirty words; test_docs.py has the pages."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from result_factory import make_gap

SUMMARIES = sorted((Path(__file__).parent / "files").glob("summary_*.txt"))
MOST = 30  # words; numbers and what stands in brackets are not counted


def words(sentence: str) -> list[str]:
    """Those with a letter, outside brackets: intervals are read by eye, not aloud."""
    return re.findall(r"[^\W\d_][\w'’.-]*", re.sub(r"\([^()]*\)", " ", sentence))


def sentences(text: str) -> list[str]:
    """Of one paragraph; a full stop within a number or a name ends none."""
    return re.split(r"(?<=[.!?])[)\"']*\s+(?=\S)", " ".join(text.split()))


def too_long(paragraphs: list[str]) -> list[str]:
    return [one for text in paragraphs for one in sentences(text) if len(words(one)) > MOST]


def bullets(summary: str) -> list[str]:
    return re.split(r"\n\s*\n|\n  - |\n {6}(?=\S)", summary)


class Texts(HTMLParser):
    """What a page says, a text per block."""

    INLINE = frozenset({"span", "strong", "bdi", "a", "small", "i"})
    SILENT = frozenset({"script", "style", "svg", "table", "nav"})

    def __init__(self) -> None:
        super().__init__()
        self.blocks, self.silent = [""], 0

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - the parser's own
        self.silent += tag in self.SILENT
        self._turn(tag)

    def handle_endtag(self, tag: str) -> None:
        self.silent -= tag in self.SILENT
        self._turn(tag)

    def handle_data(self, data: str) -> None:
        self.blocks[-1] += "" if self.silent else data

    def _turn(self, tag: str) -> None:
        if tag not in self.INLINE:
            self.blocks.append("")


@pytest.mark.parametrize("path", SUMMARIES, ids=lambda path: path.stem)
def test_summaries(path: Path) -> None:
    assert too_long(bullets(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("case", [{}, {"corners": (0.8, 0.81, 0.8, 0.795)}, {"defined": ()}])
def test_reports(case: dict[str, object]) -> None:
    from whygap.render import page as pages

    page = Texts()
    page.feed(pages.html(make_gap(**case), 0.95))
    assert any("These are associations" in text for text in page.blocks)
    assert too_long(page.blocks) == []


def test_a_long_sentence_is_found() -> None:
    assert too_long(["word " * 30 + "end."]) != []
    assert too_long(["word " * 29 + "end. Another (of 12.5 words) begins."]) == []
