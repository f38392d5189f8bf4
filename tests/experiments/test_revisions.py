"""The table of revisions: read from kept analyses, put into a page between its markers."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from experiments import revisions
from experiments.case_kept import Beside, Difference, Ranked
from experiments.pages import Measured, fill
from whygap.errors import InputError
from whygap.estimate import Estimate

DOCS = Path(__file__).resolve().parents[2] / "docs"


def difference(k, low, high):
    return Difference(k, Measured((low + high) / 2, low, high))


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ([(-0.1, 0.1), (-0.2, 0.1)], "At no k can the two rankings be told apart."),
        (
            [(-0.2, -0.1), (-0.1, 0.1)],
            ("Ours is measurably *worse* at k = 1; elsewhere the two cannot be told apart."),
        ),
        (
            [(0.1, 0.2), (-0.2, -0.1)],
            "Ours is measurably better at k = 1 and ours is measurably *worse* at k = 2.",
        ),
    ],
)
def test_the_table_is_put_into_words(ends, words):
    found = [difference(k, *pair) for k, pair in enumerate(ends, start=1)]
    assert revisions.in_words(found) == words


def outcome(**shares):
    """What the section reads of a `Detailed`."""
    estimates = {name: Estimate(value, 0.01) for name, value in shares.items()}
    return SimpleNamespace(
        defined=True, players=tuple(estimates), shares=estimates, base=Estimate(0.5, 0.1), reason=""
    )


def test_a_section_names_what_each_ranking_adds():
    beside = Beside(
        (Ranked("random_forest_acc", "outcome", ("b", "a"), None),),
        (),
        (difference(1, -0.02, -0.01), difference(2, 0.0, 0.0)),
    )
    text = revisions.section(SimpleNamespace(outcome=outcome(a=0.2, b=0.001)), beside)
    assert "| 1 | -.0150 (-.0200 to -.0100) | a / b |" in text
    assert "| 2 | .0000 (.0000 to .0000) | b / a |" in text
    assert text.endswith("1 of 2 shares can be told from 0 from above (a).")


def test_undefined_shares_rank_nothing():
    silent = SimpleNamespace(defined=False, reason="No shift is told from 0.")
    found = revisions.section(SimpleNamespace(outcome=silent), Beside((), (), ()))
    assert found == (
        "Our outcome shares are undefined, so there is no order to revise by. "
        "No shift is told from 0."
    )


def test_the_comparisons_named_exist():
    known = [comparison.name for comparison in revisions.CASES["insurance"]]
    assert set(revisions.MOVES) <= set(known)


def test_text_is_put_between_its_markers_and_nowhere_else(tmp_path):
    page = tmp_path / "page.md"
    rest = "two\n<!-- begin b --><!-- end b -->\n"
    page.write_text(f"one\n<!-- begin a -->\nold\n<!-- end a -->\n{rest}")
    for _ in range(2):
        fill(page, "a", "new \\1 table\n")
    assert page.read_text() == (f"one\n<!-- begin a -->\n\nnew \\1 table\n\n<!-- end a -->\n{rest}")


@pytest.mark.parametrize("text", ["", "<!-- begin a -->", "<!-- end a --><!-- begin a -->"])
def test_a_page_without_the_markers_is_refused(tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    page.write_text(text)
    with pytest.raises(InputError) as caught:
        fill(page, "a", "new")
    assert str(caught.value) == (
        f"The page '{page}' has no place for 'a'. "
        "Write '<!-- begin a -->' and, below it, '<!-- end a -->', once each."
    )
    assert page.read_text() == text


def test_the_docs_have_a_place_for_every_table():
    text = (DOCS / "rivals.md").read_text(encoding="utf-8")
    for name in ("comparators", "revisions"):
        assert text.count(f"<!-- begin {name} -->") == text.count(f"<!-- end {name} -->") == 1
