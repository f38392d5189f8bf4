"""Tables that share only a region, or nothing: every output says so."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from learning_designs import make_design
from result_factory import LABELS, make_gap

from whygap._explain import explain_design
from whygap.render import plot, report, table
from whygap.results import Gap
from whygap.settings import DETAILS, Settings

FAST = Settings(learner="fast", progress=False)
MARKS = ("- {}:", "<strong>{}", "<dt>{}<")  # how a part is named in words and on pages
INNER = [mark.format(title) for mark in MARKS for title in LABELS]


@pytest.fixture(scope="module")
def apart() -> Gap:
    rng = np.random.default_rng(0)
    source = np.column_stack([rng.normal(size=300), rng.normal(50, 5, size=300)])
    target = np.column_stack([rng.normal(size=300), 1000 * rng.normal(50, 5, size=300)])
    return explain_design(make_design(source, target), DETAILS, FAST)


@pytest.fixture(scope="module")
def five() -> Gap:
    rng = np.random.default_rng(0)
    source, target = rng.normal(size=(600, 2)), rng.normal(size=(600, 2))
    source[:60, 1] += 20
    target[:120, 1] -= 20
    settings = replace(FAST, support="common")
    return explain_design(make_design(source, target), DETAILS, settings)


def outputs(gap: Gap) -> dict[str, str]:
    page = report.html({"": gap}, 0.95)
    notebook = gap._repr_html_()
    shown = {
        "summary": gap.summary(),
        "str": str(gap),
        "page": page[page.index('<div class="answer"') : page.index('<script type="application')],
        "notebook": notebook[notebook.index("</style>") :],
    }
    return shown | {name: table.render(gap, name) for name in table.FORMATS}


def flat(text: str) -> str:
    return " ".join(text.replace("&#39;", "'").replace("&#x27;", "'").split())


def test_tables_that_share_nothing_lead_with_the_reason(apart: Gap) -> None:
    assert not apart.comparable
    for name, text in outputs(apart).items():
        first = flat(text).find("The tables share too little to compare them: only ")
        numbers = [flat(text).find(word) for word in ("interval, ", "squared error", "gap ")]
        assert 0 <= first < min(place for place in numbers if place >= 0), name
        assert not [word for word in (*INNER, "covariate", "source_only") if word in text], name


def test_the_frame_of_tables_that_share_nothing_begins_with_the_reason(apart: Gap) -> None:
    frame = apart.to_frame()
    parts = frame["part"].to_pylist()
    assert parts[:2] == ["reason", "gap"]
    assert frame["term"].to_pylist()[:2] == [apart.reason, "total"]
    assert set(parts[2:]) == {"recoverable", "recoverable source"}


@pytest.mark.parametrize("what", plot.FIGURES)
def test_figures_of_tables_that_share_nothing_say_why(apart: Gap, what: str) -> None:
    svg = plot.drawn(apart.plot(what), "svg").decode()
    assert svg.count("The tables share too little") == 1


def test_five_parts_stand_in_every_output(five: Gap) -> None:
    for name, text in outputs(five).items():
        text = text.replace("\\", "")
        assert "source_only" in text or "Source-only rows" in text, name
        assert "target_only" in text or "Target-only rows" in text, name
    assert {"source_only", "target_only"} <= set(five.to_frame()["term"].to_pylist())
    for what in ("answer", "walk"):
        svg = plot.drawn(five.plot(what), "svg").decode()
        assert "Source-only rows" in svg
        assert "Target-only rows" in svg


def test_one_page_of_many_targets_keeps_every_part_in_its_column(apart: Gap, five: Gap) -> None:
    page = report.html({"three": make_gap(), "five": five, "none": apart}, 0.95)
    rows = page[page.index('<table class="plain many">') :].split("<tr")
    assert [row.count("<td>") for row in rows[2:5]] == [7, 7, 7]
    shown = [len(re.findall("<small data-many-span>[^<]", row)) for row in rows[2:5]]
    assert shown == [1 + 3, 1 + 5, 1]
