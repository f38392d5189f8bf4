"""Each target once: what is kept, what is done again, what comes out."""

from __future__ import annotations

import json

import pandas as pd
import pyarrow.parquet as pq
import pytest
from small_study import fast, make_table
from watch_stream import MONTHS, bytes_of, month, months, source, stream_study, watched

import whygap as wg
from whygap.errors import InputError, ResultError, SettingsError, TableError


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("watched")


@pytest.fixture(scope="module")
def found(folder):
    return watched(folder)


def test_every_target_has_its_gap_and_its_file(found, folder):
    assert list(found) == list(MONTHS)
    for name in MONTHS:
        assert wg.load(folder / "gaps" / f"{name}.json") == found[name]
    assert found.fresh == MONTHS
    assert found.code == 0


def test_numbers_are_those_of_explain_up_to_a_small_part_of_their_error(found):
    for name in found:
        alone = wg.explain(
            stream_study().with_target(month(name), name), detail=(), settings=fast()
        )
        assert found[name].total.value == alone.total.value
        for part, estimate in alone.parts.items():
            apart = abs(found[name].parts[part].value - estimate.value)
            assert apart < 0.25 * estimate.standard_error


def test_files_hold_no_time(folder, found):
    gap = json.loads((folder / "gaps" / f"{MONTHS[0]}.json").read_text())
    assert gap["about"]["created"] == ""
    assert gap["about"]["seconds"] == {}


def test_one_tidy_table_of_everything(folder, found):
    table = pq.read_table(folder / "all.parquet")
    assert table.column_names == ["target", *found[MONTHS[0]].to_frame().columns, "problems"]
    assert set(table["target"].to_pylist()) == set(MONTHS)
    assert table.num_rows == len(found.to_frame())


def test_the_page_names_every_target(folder, found):
    page = (folder / "trend.html").read_text(encoding="utf-8")
    assert all(name in page for name in found)


def test_what_is_done_is_not_done_again(folder, found):
    before = bytes_of(folder)
    again = watched(folder)
    assert again.fresh == ()
    assert again[MONTHS[1]] == found[MONTHS[1]]
    assert bytes_of(folder) == before


def test_order_jobs_and_stops_leave_the_same_bytes(folder, found, tmp_path):
    tables = {name: month(name) for name in MONTHS}
    for grown in (MONTHS[:1], MONTHS[:2], MONTHS):
        watched(tmp_path, {name: tables[name] for name in grown}, jobs=2)
    assert bytes_of(tmp_path) == bytes_of(folder)


def test_half_of_a_result_is_made_again(tmp_path, folder, found):
    watched(tmp_path)
    (tmp_path / "gaps" / f"{MONTHS[1]}.json").write_text("{")
    (tmp_path / "state" / f"{MONTHS[2]}.json").unlink()
    (tmp_path / "learners.json").unlink()
    (tmp_path / "gaps" / f".{MONTHS[0]}.json.half").write_text("{")
    assert watched(tmp_path).fresh == MONTHS[1:]
    assert bytes_of(tmp_path) == bytes_of(folder)


def test_another_table_of_the_same_name_is_another_look(tmp_path):
    watched(tmp_path, {"a": month(MONTHS[0])})
    changed = month(MONTHS[0])
    changed.loc[0, "w"] += 1
    assert watched(tmp_path, {"a": changed}).fresh == ("a",)
    looks = json.loads((tmp_path / "looks.json").read_text())
    assert [one["target"] for one in looks] == ["a", "a"]


def test_other_settings_are_another_analysis(tmp_path):
    watched(tmp_path, {"a": month(MONTHS[0])})
    again = watched(tmp_path, {"a": month(MONTHS[0])}, settings=fast(seed=1))
    assert again.fresh == ("a",)


def test_targets_that_are_gone_stay_in_the_history(tmp_path):
    watched(tmp_path, {"a": month(MONTHS[0])})
    assert list(watched(tmp_path, {"b": month(MONTHS[1])})) == ["a", "b"]


def test_a_column_names_the_targets(tmp_path, found):
    study = wg.Study(source().assign(month="before"), months(), "y", ["w"], prediction="risk")
    by = wg.watch(study, by="month", into=tmp_path, detail=(), settings=fast())
    assert list(by) == list(MONTHS)
    for name in by:
        assert by[name].total.value == found[name].total.value


def test_two_columns_name_the_targets_together(tmp_path):
    table = months().assign(site=["north", "south"] * (len(months()) // 2))
    study = wg.Study(source(), month(MONTHS[0]), "y", ["w"], prediction="risk")
    names = list(
        wg.watch(
            study, table, by=["month", "site"], into=tmp_path, detail=(), settings=fast(folds=3)
        )
    )
    assert names == [f"{m}, {s}" for m in MONTHS for s in ("north", "south")]


def test_dates_and_whole_numbers_are_named_as_people_write_them(tmp_path):
    days = {"2025-01": "2025-01-01", "2025-02": "2025-02-01", "2025-03": "2025-03-01"}
    table = months().assign(day=lambda t: pd.to_datetime(t["month"].map(days)), year=2025.0)
    found = watched(tmp_path, table.drop(columns="month"), by=["year", "day"])
    assert next(iter(found)) == "2025, 2025-01-01"


def test_a_folder_of_files(tmp_path, found):
    (tmp_path / "in").mkdir()
    for name in reversed(MONTHS):
        month(name).to_parquet(tmp_path / "in" / f"{name}.parquet")
    files = watched(tmp_path / "out", tmp_path / "in")
    assert list(files) == list(MONTHS)
    assert files[MONTHS[1]].total.value == found[MONTHS[1]].total.value


def test_a_target_that_cannot_be_used_stops_no_other(tmp_path):
    spoilt = month(MONTHS[1]).drop(columns="a")
    found = watched(tmp_path, {"good": month(MONTHS[0]), "spoilt": spoilt, "x": month(MONTHS[2])})
    assert list(found) == ["good", "x"]
    assert found.code == 4
    [silence] = found.silences
    assert silence.target == "spoilt"
    assert "'a'" in silence.reason
    assert found.fresh == ("good", "x")  # the third could not be explained
    assert found.summary().startswith("2 targets explained (2 of them now), ")
    assert watched(tmp_path, {"spoilt": spoilt}).fresh == ()


def test_redacted_no_reason_quotes_a_value(tmp_path):
    named = month(MONTHS[1])
    named["y"] = named["y"].astype(str).where(named.index > 0, "Zachary Quill")
    [told] = watched(tmp_path / "plain", {"x": named}).silences
    assert "Zachary Quill" in told.reason
    [silence] = watched(tmp_path / "redacted", {"x": named}, redact=10).silences
    assert silence.reason == (
        "Its table cannot be explained (ColumnError); without redact the reason is told."
    )
    kept = [p.read_bytes() for p in (tmp_path / "redacted").rglob("*") if p.is_file()]
    assert not any(b"Zachary" in one for one in kept)


def test_a_first_target_that_cannot_be_used_leaves_the_choice_to_the_next(tmp_path):
    spoilt = month(MONTHS[1]).head(3)
    found = watched(tmp_path, {"a": spoilt, "b": month(MONTHS[0])})
    assert list(found) == ["b"]
    kept = json.loads((tmp_path / "learners.json").read_text())
    assert set(kept["choices"]) == {"p_0", "mu_00_w"}


def test_tables_that_share_nothing_cannot_be_judged(tmp_path):
    far = make_table(300, 0.0, 5)
    far["a"] += 100
    found = watched(tmp_path, {"far": far}, rules={"rule": [{"part": "outcome", "below": 0.0}]})
    assert found.code == 4
    assert found.alarms == ()


def test_learners_kept_on_disk_are_the_ones_chosen(tmp_path):
    from whygap._watch.learners import _plain, _restored
    from whygap.learning.models import Fast
    from whygap.learning.trees import Boosted

    for learner in (Fast(0.1), Boosted(25, leaves=4), Boosted(12, start=Fast(1.0))):
        assert _restored(json.loads(json.dumps(_plain(learner)))) == learner


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ({"targets": {}}, InputError, "watch needs targets by name. Got none."),
        ({"targets": 3}, InputError, "watch needs targets by name. Got int."),
        ({"targets": {1: None}}, InputError, "The name of a target must be text. Got 1."),
        ({"targets": "nowhere/*.csv"}, TableError, "No target is in 'nowhere/*.csv'. Got no file."),
        ({"jobs": 0}, SettingsError, "jobs= must be a whole number from 1. Got 0."),
        ({"into": 3}, ResultError, "The folder of watch must be named by a path."),
        ({"rules": 3}, InputError, "rules= must be a file or a mapping."),
        ({"by": "moth", "targets": months()}, InputError, "Column 'moth' (by) is not in target."),
    ],
)
def test_what_cannot_be_used_is_refused_in_words(tmp_path, asked, error, words):
    given = {"into": tmp_path} | asked
    with pytest.raises(error) as caught:
        watched(**given)
    assert str(caught.value).startswith(words)


def test_rows_without_a_target_are_refused(tmp_path):
    table = months()
    table.loc[:2, "month"] = None
    with pytest.raises(TableError, match=r"^Column 'month' \(by\) is missing in 3 rows"):
        watched(tmp_path, table, by="month")


def test_two_pairs_of_values_with_one_name_are_refused(tmp_path):
    table = months().assign(site="b, c")
    table.loc[table["month"] == MONTHS[1], ["month", "site"]] = [f"{MONTHS[0]}, b", "c"]
    with pytest.raises(TableError) as caught:
        watched(tmp_path, table, by=["month", "site"])
    assert str(caught.value) == (
        "Two targets would both be named '2025-01, b, c'. Got ('2025-01', 'b, c') and "
        "('2025-01, b', 'c'). Values with commas make the columns of by= ambiguous: write them "
        "otherwise."
    )


def test_two_files_of_one_name_are_refused(tmp_path):
    for ending in ("csv", "tsv"):
        (tmp_path / f"a.{ending}").write_text("x\n1\n")
    with pytest.raises(TableError, match=r"Two files are named for the target 'a'. Got a.csv and"):
        watched(tmp_path / "out", tmp_path)


def test_only_a_study_can_be_watched(tmp_path):
    with pytest.raises(InputError, match="watch needs a Study"):
        wg.watch(3, into=tmp_path)
