"""For teams: redacted results, no value of a row in any output, a schema, the same bytes again."""

from __future__ import annotations

import json
import re
import runpy
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from small_study import FAST, fast, make_study, tables

import whygap as wg
from whygap.errors import SettingsError, WhygapError
from whygap.notes import Note
from whygap.render import page as pages
from whygap.results import files

ROOT = Path(__file__).resolve().parents[2]
schema_text = runpy.run_path(str(ROOT / "scripts" / "gap_schema.py"))["schema_text"]
CANARY = "Zachary Quill"
NUMBER = 8812.734519  # a canary among numbers, beyond all others


def with_canaries():
    """A level of one row that reads like a note, a word among numbers, an extreme number."""
    source, target = tables()
    target.loc[5, "c"] = f"ward (7 of {CANARY}"
    for table in (source, target):
        table["code"] = (np.arange(len(table)) % 30).astype(str)
    target.loc[7, "code"] = f"{CANARY} 2"
    source.loc[9, "b"] = NUMBER
    return source, target


@pytest.fixture(scope="module")
def gap():
    return wg.explain(
        make_study(*with_canaries()), detail=("points", "affected", "recoverable"), settings=FAST
    )


def texts_of(gap, folder):
    page = gap.report(folder / "gap.html")
    yield from (gap.summary(), str(gap), files.to_text(gap), str(gap.to_frame()), page.read_text())
    yield gap._repr_html_()


def test_canaries_are_there_before_redaction(gap):
    assert CANARY in files.to_text(gap)


def test_no_value_of_a_single_row_is_in_any_redacted_output(gap, tmp_path):
    for text in texts_of(gap.redacted(), tmp_path):
        assert CANARY not in text
        assert "8812.7" not in text
        assert "8,812" not in text


def test_a_rare_level_that_separates_the_tables_is_not_named(tmp_path):
    """Tables that cannot be compared: the reason names the column, no level, no exact count."""
    source, target = tables()
    source["city"] = np.resize(["berlin", "paris"], len(source))
    source.loc[:2, "city"] = CANARY.lower()
    target["city"] = np.resize(["Berlin", "Paris"], len(target))
    target.loc[:2, "city"] = CANARY
    found = wg.explain(make_study(source, target), detail=(), settings=FAST)
    assert not found.comparable
    assert CANARY in files.to_text(found)
    for text in texts_of(found.redacted(), tmp_path):
        assert CANARY.lower() not in text.lower()
    reason = found.redacted().reason
    assert reason.endswith("What separates them: 'city' (other coding).")
    assert re.findall(r"rows \(([^)]*)\)", reason) == ["fewer than 10", "fewer than 10"]


def test_reports_are_redacted_unless_told_otherwise(gap, tmp_path):
    assert CANARY not in gap.report(tmp_path / "a.html").read_text()
    assert CANARY in gap.report(tmp_path / "b.html", redact=None).read_text()


def test_no_value_of_a_row_is_in_checkpoints_or_results_of_many_columns(tmp_path):
    settings = fast(checkpoint=str(tmp_path / "kept"))
    wg.explain(make_study(*with_canaries()), detail=("points", "shares"), settings=settings)
    kept = [file.read_bytes() for file in (tmp_path / "kept").rglob("*") if file.is_file()]
    assert kept
    for content in kept:
        assert CANARY.encode() not in content
        assert np.float64(NUMBER).tobytes() not in content


@pytest.mark.parametrize(
    ("column", "value"), [("y", CANARY), ("risk", CANARY), ("a", CANARY), ("n", CANARY)]
)
def test_errors_do_not_quote_rows(column, value):
    source, target = tables()
    source["n"], target["n"] = 1.0, 1.0
    target[column] = target[column].astype(object)
    target.loc[3, column] = value
    target.loc[4:200, "c"] = None
    roles = {"weights": "n"} if column == "n" else {"covariates": ["a", "b"]}
    try:
        said = [str(note) for note in make_study(source, target, **roles).design.notes]
    except WhygapError as error:
        said = [str(error)]
    quoting = [text for text in said if value in text]
    # The outcome's own values are named where they are not two: that is what is wrong with them.
    assert not quoting or column == "y"


def sums_by_variable(where):
    names = where.variables()
    return {name: sum(group.points.value for group in where.groups_of(name)) for name in names}


def test_groups_of_few_rows_are_put_together_and_still_add_up(gap):
    redacted = gap.redacted().affected["outcome"]
    before, after = sums_by_variable(gap.affected["outcome"]), sums_by_variable(redacted)
    assert after == pytest.approx(before)
    labels = [group.label for group in redacted.groups_of("c")]
    assert "(levels of few rows)" in labels
    together = next(g for g in redacted.groups_of("c") if g.label == "(levels of few rows)")
    assert together.target_share * 300 >= 10
    position = redacted.groups.index(together)
    variance = redacted.covariance[position, position]
    assert together.points.standard_error == pytest.approx(np.sqrt(variance))
    assert redacted.covariance.shape == (len(redacted.groups),) * 2


def test_counts_are_rounded_in_numbers_and_in_notes(gap):
    redacted = gap.redacted(20)
    assert tuple(redacted.about.rows) == (400, 300)
    assert tuple(gap.redacted(7).about.rows) == (399, 301)
    notes = [str(note) for note in redacted.notes if "'c'" in str(note)]
    assert notes == [
        (
            "Column 'c': some levels (fewer than 20 of about 300 target rows) not seen in "
            "source: no overlap there."
        )
    ]
    for group in redacted.affected["outcome"].groups:
        assert (group.target_share * 300 / 20) == pytest.approx(round(group.target_share * 15))


@pytest.mark.parametrize(
    ("kind", "facts", "shown"),
    [
        (
            "missing_outcome",
            {"missing": 3, "rows": 604, "share": 0.005, "domain": "source", "column": "y"},
            "fewer than 10 of about 600 source rows have a missing outcome ('y') and are left out.",
        ),
        ("shared_clusters", {"clusters": 57, "column": "id"}, "about 60 clusters ('id') have"),
        (
            "drawn",
            {"rows": 100_000, "drawn": 5_003, "domain": "source", "how": "that of the drawn rows"},
            "Of about 100,000 source rows, about 5,000 were drawn at random",
        ),
        (
            "pooled",
            {"column": "c", "n_pooled": 7, "n_levels": 33, "limit": 10.0, "share": 0.01},
            "Column 'c': 7 of 33 levels with fewer than 10 rows each are pooled",
        ),
    ],
)
def test_no_percentage_gives_a_rounded_count_away(kind, facts, shown):
    once = Note(kind, "info", facts).redacted(10)
    assert str(once).startswith(shown)
    assert once.redacted(10) == once


def test_notes_that_are_alike_once_redacted_are_said_once(gap):
    notes = [Note("model_warned", "warning", {"value": k}) for k in "ab"]
    several = replace(gap, notes=tuple(notes))
    (note,) = several.redacted().notes
    assert str(note) == "The model gave a warning."


def test_redacted_results_are_saved_shown_and_redacted_again(gap, tmp_path):
    once = gap.redacted()
    assert wg.load(once.save(tmp_path / "gap.json")) == once
    assert once.redacted().to_dict()["affected"] == once.to_dict()["affected"]
    assert once.to_dict()["parts"] == gap.to_dict()["parts"]


@pytest.mark.parametrize("few", [0, -1, 2.5, True, "all"])
def test_how_many_rows_are_few(gap, few):
    with pytest.raises(SettingsError) as raised:
        gap.redacted(few)
    assert str(raised.value) == (f"redact= must be a whole number of at least 1. Got {few!r}.")


# ---- the published schema ----


@pytest.fixture(scope="module")
def validator():
    schema = json.loads(schema_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_the_published_schema_is_the_present_one():
    published = (ROOT / "docs" / "gap.schema.json").read_text(encoding="utf-8")
    assert published == schema_text(), "python scripts/gap_schema.py > docs/gap.schema.json"


@pytest.mark.parametrize("influence", [False, True])
def test_results_fit_the_schema(gap, validator, influence):
    everything = wg.explain(make_study(), detail="all", settings=FAST)
    for one in (gap, gap.redacted(), everything):
        validator.validate(json.loads(files.to_text(one, influence=influence)))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema",), "whygap/99"),
        (("total", "value"), "much"),
        (("about", "rows", "source"), 1.5),
        (("affected", "outcome", "groups"), {}),
        (("about", "settings"), None),
    ],
)
def test_what_is_wrong_does_not_fit(gap, validator, path, value):
    result = json.loads(files.to_text(gap))
    place = result
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    assert not validator.is_valid(result)
    del place[path[-1]]
    assert not validator.is_valid(result)


# ---- the same bytes again ----


def test_the_same_run_at_a_set_time_gives_the_same_bytes(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    first, second = (
        wg.explain(make_study(), detail=("points", "affected"), settings=FAST) for _ in range(2)
    )
    assert first.about.created == "2026-01-01T00:00:00+00:00"
    assert files.to_text(first) == files.to_text(second)
    assert pages.html(first) == pages.html(second)


def test_the_data_card_tells_tables_apart():
    one, same = (wg.explain(make_study(), detail=(), settings=FAST) for _ in range(2))
    source, target = tables()
    target.loc[0, "a"] += 1
    other = wg.explain(make_study(source, target), detail=(), settings=FAST)
    assert one.about.data == same.about.data != other.about.data
    page = pages.html(one)
    assert one.about.data in page
    assert one.about.versions["whygap"] in page
    assert one.about.created in page
