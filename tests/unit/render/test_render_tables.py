"""The tidy table and the printed ones made from it."""

from __future__ import annotations

import csv
import io
import math
import sys

import narwhals as nw
import pytest
from result_factory import NASTY_NAMES, make_gap, many_players
from rich.cells import cell_len as width

from whygap.errors import SettingsError
from whygap.notes import Note
from whygap.render import tables
from whygap.render.formats import shorten, text_table
from whygap.results import Gaps

COLUMNS = [
    "part",
    "term",
    "kind",
    "estimate",
    "standard_error",
    "low",
    "high",
    "level",
    "p_value",
    "unit",
    "plugin",
]


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_frame_is_of_the_kind_that_came_in(kind: str) -> None:
    pytest.importorskip(kind)
    frame = nw.from_native(make_gap(table_kind=kind).to_frame(0.9))
    assert frame.columns == COLUMNS
    assert frame.implementation.name.lower() == kind


def test_frame_of_an_unknown_kind_falls_back_to_pyarrow() -> None:
    frame = nw.from_native(make_gap(table_kind="not_installed_frames").to_frame())
    assert frame.implementation.name == "PYARROW"


def test_a_row_for_every_estimate_with_its_unit() -> None:
    gap = make_gap()
    frame = nw.from_native(gap.to_frame(0.9))
    units = dict(zip(frame["kind"].to_list(), frame["unit"].to_list(), strict=True))
    assert units == tables.UNITS
    rows = {(r["part"], r["kind"], r["term"]): r for r in frame.rows(named=True)}
    assert [key[0] for key in rows if key[1] == "part"] == list(gap.parts)
    for part, kind, own in (
        ("covariate", "points", gap.points["covariate"]),
        ("outcome", "share", gap.shares["outcome"].values),
    ):
        for name, estimate in own.items():
            row = rows[part, kind, name]
            ends = (row["estimate"], row["standard_error"], row["low"], row["high"])
            assert ends == (estimate.value, estimate.standard_error, *estimate.interval(0.9))
            assert row["p_value"] == estimate.p_value()
    group = gap.affected["outcome"].groups[0]
    row = rows["outcome", "group", f"{group.variable}: {group.label}"]
    assert (row["low"], row["high"]) == gap.affected["outcome"].simultaneous(0.9)[0]
    assert math.isnan(row["p_value"])
    rule = gap.affected["outcome"].rules[0]
    row = rows["outcome", "rule", str(rule)]
    assert (row["low"], row["high"], row["level"]) == (*rule.interval, 0.95)


def test_what_was_not_requested_has_no_rows() -> None:
    frame = nw.from_native(make_gap(culprits=(), outcome=None, covariate=None).to_frame())
    assert set(frame["kind"].to_list()) == {"change", "part"}
    assert "share" not in nw.from_native(make_gap(defined=()).to_frame())["kind"].to_list()
    assert "undefined" in tables.render(make_gap(defined=()), "text")


def test_several_targets_have_a_column_target_in_every_table() -> None:
    gaps = Gaps({"March": make_gap(seed=1), "April": make_gap(seed=2)})
    frame = nw.from_native(gaps.to_frame())
    assert frame.columns == ["target", *COLUMNS]
    assert set(frame["target"].to_list()) == {"March", "April"}
    assert "March. Change and its parts (points of accuracy)" in tables.render(gaps, "text")
    assert tables.render(gaps, "csv").startswith("target,part,term,")
    one = Gaps({"March": make_gap()})
    assert tables.render(one, "md") == tables.render(make_gap(), "md")


@pytest.mark.parametrize("players", [1, 6, 60])
def test_text_fits_80_columns(players: int) -> None:
    names = {name * (1 + players // 6): share for name, share in many_players(players).items()}
    text = tables.render(make_gap(outcome=names, covariate=None), "text", 0.999)
    assert max(map(width, text.splitlines())) <= 80


def test_csv_reads_back_as_the_frame() -> None:
    gap = make_gap()
    rows = list(csv.DictReader(io.StringIO(tables.render(gap, "csv"))))
    frame = nw.from_native(gap.to_frame())
    assert list(rows[0]) == COLUMNS
    assert [row["term"] for row in rows] == frame["term"].to_list()
    assert [float(row["estimate"]) for row in rows] == frame["estimate"].to_list()


@pytest.mark.parametrize("format_", tables.FORMATS)
def test_a_problem_stands_before_the_first_number(format_: str) -> None:
    text = tables.render(
        make_gap(notes=[Note("gives_outcome", "problem", {"column": "Broken"})]), format_
    )
    if format_ == "csv":  # has no room for words
        assert "Broken" not in text
        return
    shown = text[text.find("</style>") + 1 :]
    assert 0 < shown.find("Broken") < shown.find("-7.2")


def test_hostile_names_are_escaped_everywhere() -> None:
    pytest.importorskip("great_tables")
    names = dict.fromkeys(NASTY_NAMES, 0.1)
    gap = make_gap(outcome=names, names=(NASTY_NAMES[0], NASTY_NAMES[4]))
    gaps = Gaps({NASTY_NAMES[0]: gap, NASTY_NAMES[4]: gap})
    for result in (gap, gaps):
        html, tex = tables.render(result, "html"), tables.render(result, "tex")
        assert "<script>" not in html
        assert "&lt;script&gt;" in html
        assert r"50\% \& more\_or\_less \#1 \{x\}" in tex
        assert "<script>" not in tex
        assert r"\<script\>" in tables.render(result, "md")
    for format_ in tables.FORMATS:
        assert "العمر" in tables.render(gap, format_)
        assert "🙂" in tables.render(gap, format_)


def test_html_and_latex_are_the_same_every_time() -> None:
    pytest.importorskip("great_tables")
    for format_ in ("html", "tex"):
        assert tables.render(make_gap(), format_) == tables.render(make_gap(), format_)


def test_wide_letters_count_twice() -> None:
    assert shorten("abcdefghij", 7) == "abcd…ij"
    assert width(shorten("年齢と学歴の長い名前", 9)) <= 9


def test_text_tables_align_and_fit() -> None:
    rows = [("a", "1", "no"), ("年齢", "1,000", "[red]yes")]
    assert text_table(("", "rows", "ok"), rows, "lrl").splitlines() == [
        "       rows  ok",
        "a         1  no",
        "年齢  1,000  [red]yes",
    ]
    long = text_table(("name", "n"), [("x" * 100 + "end", "1" * 20)])
    assert [width(line) for line in long.splitlines()] == [80, 80]
    assert "…" in long
    assert long.splitlines()[1].split()[0].endswith("end")


def test_unknown_format_suggests_one() -> None:
    with pytest.raises(SettingsError) as caught:
        tables.render(make_gap(), "text2")
    assert str(caught.value) == "There is no table format 'text2'. Did you mean 'text'?"


def test_great_tables_missing_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "great_tables", None)
    with pytest.raises(SettingsError) as caught:
        tables.render(make_gap(), "html")
    assert str(caught.value) == (
        "Tables as HTML and LaTeX need the package great_tables. Install it with: "
        "pip install 'whygap[tables]'."
    )
