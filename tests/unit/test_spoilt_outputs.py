"""A spoilt pair of tables: whatever shows a number says first not to rely on it."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import numpy as np
import pytest
from small_study import fast, make_study, tables

import whygap as wg
from whygap.errors import WhygapWarning
from whygap.render import page as pages
from whygap.render import svg
from whygap.render import tables as printed
from whygap.render.text import BANNER
from whygap.results import files


def coded_otherwise():
    """One column counts from 0 in the source and from 1 in the target."""
    rng = np.random.default_rng(0)
    source, target = tables(600, 600)
    source["sex"], target["sex"] = rng.integers(0, 2, 600), rng.integers(1, 3, 600)
    return source, target


@pytest.fixture(scope="module")
def gap() -> wg.Gap:
    with pytest.warns(WhygapWarning, match="Column 'sex' looks recorded differently"):
        return wg.explain(make_study(*coded_otherwise()), detail=(), settings=fast())


@pytest.fixture(scope="module")
def units() -> wg.Gap:
    source, target = tables()
    with pytest.warns(WhygapWarning, match="other units"):
        return wg.explain(
            make_study(source, target.assign(a=target["a"] * 1000)), detail=(), settings=fast()
        )


PROBLEM = (
    "Column 'sex' looks recorded differently in the two tables (other coding: 0 and 1 in the "
    "source, 1 and 2 in the target). Set that right first."
)


def flat(text: str) -> str:
    plain = re.sub(r"<[^>]*>", " ", text).replace("&#39;", "'").replace("&#x27;", "'")
    return " ".join(plain.split())


def test_the_parts_of_the_shared_region_stand_below_a_problem(gap):
    assert gap.comparable
    assert gap.problems() == (PROBLEM,)


def test_words_lead_with_the_problem(gap):
    for text in (str(gap), gap.summary()):
        assert flat(text).startswith(f"{BANNER} - {PROBLEM} ")
        assert flat(text).count(PROBLEM) == 1
        assert max(map(len, text.splitlines())) <= 80


def test_notebook_and_report_lead_with_the_problem(gap):
    notebook, page = flat(gap._repr_html_()), flat(pages.html(gap))
    for text in (notebook, page):
        assert f"{BANNER} {PROBLEM}" in text
        assert text.index(PROBLEM) < text.index("Accuracy fell by")


@pytest.mark.parametrize("kind", ["text", "md", "tex", "html"])
def test_tables_lead_with_the_problem(gap, kind):
    text = printed.render(gap, kind)
    assert flat(text.replace("\\_", "_")).index("Do not rely on these") < text.index("Covariates")
    assert "Set that right first" in flat(text)


def test_figures_say_it_above(gap):
    drawn = svg.image(gap.plot(), "svg").decode()
    assert "Do not rely on these numbers as they stand" in drawn


def test_json_says_it(gap, tmp_path):
    path = gap.save(tmp_path / "gap.json")
    assert json.loads(path.read_text())["problems"] == [PROBLEM]
    assert files.load(path).problems() == gap.problems()


def test_a_table_without_room_for_words_is_warned_about_beside_it(gap, tmp_path):
    path = gap.save(tmp_path / "gap.json")
    table = tmp_path / "gap.csv"
    asked = [sys.executable, "-m", "whygap", "show", str(path), "-o", str(table)]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert flat(done.stderr) == f"Warning: {PROBLEM} Wrote {table}"
    assert table.read_text().startswith("part,term,")


def test_several_targets_say_it_for_the_one_that_is_spoilt(tmp_path):
    source, spoilt = coded_otherwise()
    sound = tables(600, 600)[1].assign(sex=np.arange(600) % 2)
    with pytest.warns(WhygapWarning, match="Column 'sex' looks recorded differently"):
        many = wg.explain_many(
            make_study(source, sound), {"north": sound, "south": spoilt}, detail=(), settings=fast()
        )
    assert many.problems() == (f"south: {PROBLEM}",)
    assert many["north"].problems() == ()
    assert flat(str(many)).count(BANNER) == 1
    page = flat(many.report(tmp_path / "many.html").read_text())
    assert "south 600 rows do not rely on this yet" in page
    assert "north 600 rows do not rely" not in page


def test_where_nothing_can_be_compared_the_reason_leads_everywhere(units):
    reason = units.reason
    assert units.problems() == (reason,)
    assert reason.endswith("the source's).")
    assert flat(str(units)).startswith(reason)
    assert flat(units.summary()).startswith(reason)
    assert flat(printed.render(units)).count(reason) == 1
    for text in (units._repr_html_(), pages.html(units)):
        assert flat(text).index("share too little") < flat(text).index("Accuracy fell")
    assert json.loads(json.dumps(files.to_dict(units)))["problems"] == [reason]
