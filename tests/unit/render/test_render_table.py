"""The tidy frame and the tables made from it."""

from __future__ import annotations

import csv
import io
import json
import math
import sys

import narwhals as nw
import pytest
from result_factory import NASTY_NAMES, make_gap, many_players
from rich.cells import cell_len as width

from whygap.errors import SettingsError
from whygap.render import table
from whygap.render.formats import escape_latex, shorten, text_table

COLUMNS = ["part", "term", "estimate", "standard_error", "low", "high", "unit", "plugin"]


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_frame_is_of_the_kind_that_came_in(kind: str) -> None:
    pytest.importorskip(kind)
    made = make_gap(table_kind=kind).to_frame(0.9)
    assert type(made).__module__.split(".")[0] in (kind, "pyarrow")
    frame = nw.from_native(made)
    assert frame.columns == COLUMNS
    assert frame.implementation.name.lower() == kind


def test_frame_of_an_unknown_kind_falls_back_to_pyarrow() -> None:
    frame = nw.from_native(make_gap(table_kind="not_installed_frames").to_frame())
    assert frame.implementation.name == "PYARROW"


def test_frame_holds_every_term_and_its_interval() -> None:
    gap = make_gap()
    frame = nw.from_native(gap.to_frame(0.9))
    terms = list(zip(frame["part"].to_list(), frame["term"].to_list(), strict=True))
    assert terms[:4] == [("gap", t) for t in ("total", "baseline", "covariate", "outcome")]
    assert ("shares outcome", "(base)") in terms
    assert [t for p, t in terms if p == "shares outcome"][1:] == list(gap.shares["outcome"].players)
    row = frame.row(terms.index(("shares outcome", "schooling")))
    assert row[4:6] == gap.shares["outcome"].values["schooling"].interval(0.9)


def test_frame_holds_the_three_answers_with_their_units() -> None:
    gap = make_gap()
    rows = {(r[0], r[1]): r for r in nw.from_native(gap.to_frame(0.9)).rows()}
    units = {part: unit for (part, _), (*_, unit, _) in rows.items()}
    assert units == {
        "gap": "metric",
        "points baseline": "metric",
        "points covariate": "metric",
        "affected outcome": "metric",
        "recoverable": "squared error",
        "recoverable reweighted": "squared error",
        "recoverable source": "squared error",
        "shares covariate": "share",
        "shares outcome": "share",
    }
    points = gap.points["covariate"]["schooling"]
    assert rows["points covariate", "schooling"][2:6] == (
        points.value,
        points.standard_error,
        *points.interval(0.9),
    )
    affected = gap.affected["outcome"]
    group, rule = affected.groups[0], affected.rules[0]
    ends = rows["affected outcome", f"{group.variable}: {group.label}"][4:6]
    assert ends == affected.simultaneous(0.9)[0]
    assert rows["affected outcome", f"rule: {rule}"][4:6] == rule.interval
    here = [term for part, term in rows if part == "recoverable"]
    assert here[:2] == ["(total)", "(recalibration)"]
    assert here[-2:] == ["(irreducible)", "(total less source)"]
    mix = [term for part, term in rows if part == "recoverable reweighted"]
    assert mix == ["(total)", "(irreducible)"]
    total = rows["recoverable", "(total)"][2]
    inner = sum(rows["recoverable", term][2] for term in here[1:-2])
    assert inner == pytest.approx(total, abs=1e-12)


def test_what_was_not_asked_for_has_no_rows() -> None:
    gap = make_gap(culprits=(), outcome=None, covariate=None)
    assert set(nw.from_native(gap.to_frame())["part"].to_list()) == {"gap"}


def test_undefined_shares_are_missing_never_numbers() -> None:
    frame = nw.from_native(make_gap(defined=()).to_frame()).filter(
        nw.col("part") == "shares outcome"
    )
    assert all(math.isnan(value) for value in frame["estimate"].to_list())
    assert "undefined" in table.render(make_gap(defined=()), "text")


@pytest.mark.parametrize("players", [1, 6, 60])
def test_text_fits_80_columns(players: int) -> None:
    names = {name * (1 + players // 6): share for name, share in many_players(players).items()}
    text = table.render(make_gap(outcome=names, covariate=None), "text", 0.999)
    assert max(map(width, text.splitlines())) <= 80


def test_shares_come_from_the_largest_down() -> None:
    lines = table.render(make_gap(), "md").splitlines()
    names = [line.split("|")[1].strip() for line in lines if "|" in line]
    start = names.index("source risk, recalibrated")
    assert names[start + 1 : start + 4] == ["schooling", "ancestry", "mobility"]


def test_csv_reads_back_as_the_frame() -> None:
    gap = make_gap()
    rows = list(csv.DictReader(io.StringIO(table.render(gap, "csv"))))
    frame = nw.from_native(gap.to_frame())
    assert list(rows[0]) == COLUMNS
    assert [row["term"] for row in rows] == frame["term"].to_list()
    assert [float(row["estimate"]) for row in rows] == frame["estimate"].to_list()


def test_hostile_names_are_escaped_everywhere() -> None:
    gap = make_gap(outcome=dict.fromkeys(NASTY_NAMES, 0.1))
    assert "<script>" not in table.render(gap, "html")
    assert "&lt;script&gt;" in table.render(gap, "html")
    tex = table.render(gap, "tex")
    assert r"50\% \& more\_or\_less \#1 \{x\}" in tex
    assert r"\textless{}script\textgreater{}" in tex
    assert r"\<script\>" in table.render(gap, "md")
    for format_ in table.FORMATS:
        assert "العمر" in table.render(gap, format_)
        assert "🙂" in table.render(gap, format_)


def test_latex_line_breaks_cannot_be_smuggled_in() -> None:
    assert escape_latex("a\n\\input{x}") == r"a \textbackslash{}input\{x\}"


def test_wide_letters_count_twice() -> None:
    assert width("年齢") == 4
    assert width("e\u0301") == 1
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
        table.render(make_gap(), "text2")
    assert str(caught.value) == "There is no table format 'text2'. Did you mean 'text'?"


def test_great_tables_missing_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "great_tables", None)
    with pytest.raises(SettingsError) as caught:
        table.great(make_gap())
    assert str(caught.value) == (
        "Rich tables need the package great_tables. Install it with: pip install 'whygap[tables]'."
    )


def test_great_tables_shows_every_line() -> None:
    pytest.importorskip("great_tables")
    html = table.great(make_gap()).as_raw_html()
    assert "schooling" in html
    assert json.dumps("Outcome shift: share of each variable")[1:-1] in html
