"""Each target once: what is kept, what is done again, what comes out."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pandas as pd
import pytest
from small_study import fast, make_table
from watch_stream import MONTHS, bytes_of, month, months, source, stream_study, watched

import whygap as wg
from whygap._watch.folder import digest_of_rows, locked_folder
from whygap.errors import InputError, ResultError, TableError
from whygap.tables.open import open_table


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("watched")


@pytest.fixture(scope="module")
def found(folder):
    return watched(folder)


def test_every_target_has_its_gap_and_its_file(found, folder):
    assert list(found.gaps) == list(MONTHS)
    for name in MONTHS:
        assert wg.load(folder / "gaps" / f"{name}.json") == found.gaps[name]
    assert (found.newly_explained, found.unchanged, found.failed) == (MONTHS, (), {})
    assert found.exit_code == 0
    about = json.loads((folder / "gaps" / f"{MONTHS[0]}.json").read_text())["about"]
    assert (about["created"], about["seconds"]) == ("", {})


def test_numbers_are_those_of_explain_up_to_a_small_part_of_their_error(found):
    for name, gap in found.gaps.items():
        alone = wg.explain(
            stream_study().with_target(month(name), name), detail=(), settings=fast()
        )
        assert gap.total.value == alone.total.value
        for part, estimate in alone.parts.items():
            apart = abs(gap.parts[part].value - estimate.value)
            assert apart < 0.25 * estimate.standard_error


def test_one_tidy_table_and_one_page(found, tmp_path):
    table = found.to_frame()
    assert list(table.columns) == ["target", *found.gaps[MONTHS[0]].to_frame().columns]
    assert set(table["target"]) == set(MONTHS)
    page = found.report(tmp_path / "trend.html").read_text(encoding="utf-8")
    assert all(name in page for name in MONTHS)


def test_what_is_done_is_not_done_again(folder, found):
    before = bytes_of(folder)
    again = watched(folder)
    assert (again.newly_explained, again.unchanged) == ((), MONTHS)
    assert again.gaps[MONTHS[1]] == found.gaps[MONTHS[1]]
    assert bytes_of(folder) == before


def test_stops_and_half_written_files_leave_the_same_bytes(folder, found, tmp_path):
    tables = {name: month(name) for name in MONTHS}
    for grown in (MONTHS[:1], MONTHS[:2], MONTHS):
        watched(tmp_path, {name: tables[name] for name in grown})
    assert bytes_of(tmp_path) == bytes_of(folder)
    (tmp_path / "gaps" / f"{MONTHS[1]}.json").write_text("{")
    (tmp_path / "gaps" / f"{MONTHS[2]}.json").unlink()
    (tmp_path / "gaps" / f".{MONTHS[0]}.json.half").write_text("{")
    (tmp_path / ".state.json.half").write_text("{")
    assert watched(tmp_path).newly_explained == MONTHS[1:]
    assert bytes_of(tmp_path) == bytes_of(folder)


def test_changed_rows_are_another_look_and_other_settings_another_question(tmp_path):
    watched(tmp_path, {"a": month(MONTHS[0])})
    changed = month(MONTHS[0])
    changed.loc[0, "w"] += 1
    assert watched(tmp_path, {"a": changed}).newly_explained == ("a",)
    looks = json.loads((tmp_path / "state.json").read_text())["looks"]
    assert [name for name, _ in looks] == ["a", "a"]
    assert watched(tmp_path, {"a": changed}, settings=fast(n_jobs=2)).unchanged == ("a",)
    assert watched(tmp_path, {"a": changed}, settings=fast(seed=1)).newly_explained == ("a",)
    assert len(json.loads((tmp_path / "state.json").read_text())["looks"]) == 2


def test_a_digest_of_rows_is_of_values_not_of_how_they_are_kept():
    def digest(table):
        return digest_of_rows(open_table(table, "target"), ["a", "c"])

    plain = pd.DataFrame({"a": [1.5, None, 2.0], "c": ["x", None, "y"]})
    assert digest(plain) == digest(plain.astype({"c": "category"}).assign(other=1))
    assert digest(plain) != digest(plain.fillna({"c": ""}))
    assert digest(plain) != digest(plain[["a"]])


def test_targets_that_are_gone_stay_in_the_history(tmp_path):
    watched(tmp_path, {"a": month(MONTHS[0])})
    assert list(watched(tmp_path, {"b": month(MONTHS[1])}).gaps) == ["a", "b"]


@pytest.mark.parametrize("own", [True, False])
def test_a_column_names_the_targets(tmp_path, found, own):
    days = pd.to_datetime(months()["month"] + "-01")
    table = months().assign(month=days)
    study = wg.Study(source().assign(month="before"), table, "y", ["w"], prediction="risk")
    asked = {"state": tmp_path, "by": "month", "detail": (), "settings": fast()}
    seen = wg.watch(study, **asked) if own else wg.watch(study, table, **asked)
    assert list(seen.gaps) == [f"{name}-01" for name in MONTHS]
    for gap, other in zip(seen.gaps.values(), found.gaps.values(), strict=True):
        assert gap.total.value == other.total.value


def test_a_folder_of_files(tmp_path, found):
    (tmp_path / "in").mkdir()
    for name in reversed(MONTHS):
        month(name).to_parquet(tmp_path / "in" / f"{name}.parquet")
    seen = watched(tmp_path / "out", tmp_path / "in")
    assert list(seen.gaps) == list(MONTHS)
    assert seen.gaps[MONTHS[1]].total.value == found.gaps[MONTHS[1]].total.value
    month(name).to_csv(tmp_path / "in" / f"{name}.csv")
    with pytest.raises(TableError, match="must hold one table for each target"):
        watched(tmp_path / "out", tmp_path / "in")


def test_a_target_that_cannot_be_used_stops_no_other(tmp_path):
    spoilt = month(MONTHS[1]).drop(columns="a")
    targets = {"good": month(MONTHS[0]), "spoilt": spoilt, "none": "no.csv", "x": month(MONTHS[2])}
    seen = watched(tmp_path, targets)
    assert list(seen.gaps) == ["good", "x"]
    assert seen.exit_code == 1
    assert list(seen.failed) == ["spoilt", "none"]
    assert "'a'" in seen.failed["spoilt"]
    assert seen.newly_explained == ("good", "x")
    assert "\nspoilt: cannot say. " in seen.summary()
    assert watched(tmp_path, {"spoilt": spoilt}).unchanged == ("spoilt",)
    known = {"acknowledged": ["spoilt", "none"], "rule": [{"below": -1.0}]}
    assert watched(tmp_path, {"spoilt": spoilt}, rules=known).exit_code == 0


def test_tables_that_share_nothing_cannot_be_judged(tmp_path):
    far = make_table(300, 0.0, 5)
    far["a"] += 100
    seen = watched(tmp_path, {"far": far}, rules={"rule": [{"part": "outcome", "below": 0.0}]})
    assert (seen.exit_code, seen.alarms, list(seen.silent)) == (1, (), ["far"])


def test_redacted_no_reason_quotes_a_value(tmp_path):
    named = month(MONTHS[1])
    named["y"] = named["y"].astype(str).where(named.index > 0, "Zachary Quill")
    assert "Zachary Quill" in watched(tmp_path / "plain", {"x": named}).failed["x"]
    seen = watched(tmp_path / "redacted", {"x": named}, redact=10)
    reason = "Its table cannot be explained (ColumnError). Without redact it says why."
    assert seen.failed == {"x": reason}
    kept = [p.read_bytes() for p in (tmp_path / "redacted").rglob("*") if p.is_file()]
    assert not any(b"Zachary" in content for content in kept)


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ({"targets": {}}, InputError, "watch needs targets by name. Got none."),
        ({"targets": 3}, InputError, "watch needs targets by name. Got int."),
        ({"targets": "nowhere"}, TableError, "The folder 'nowhere' must hold one table for each"),
        ({"state": 3}, ResultError, "The folder of watch (state=) must be named by a path."),
        ({"by": "moth", "targets": months()}, InputError, "Column 'moth' (by) is not in target."),
        (
            {"by": "month", "targets": months().replace("2025-01", None)},
            TableError,
            "Column 'month' (by) is missing in 300 rows",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_in_words(tmp_path, asked, error, words):
    with pytest.raises(error) as caught:
        watched(**({"state": tmp_path} | asked))
    assert str(caught.value).startswith(words)


HOLDER = """
import sys, time
from whygap._watch.folder import locked_folder
with locked_folder(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_process_is_refused_and_a_killed_one_leaves_no_lock(tmp_path):
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(ResultError, match=f"Another watch is at work in '{tmp_path}'"):
            watched(tmp_path)
        os.kill(holder.pid, signal.SIGKILL)
    with pytest.raises(ZeroDivisionError), locked_folder(tmp_path):
        raise ZeroDivisionError
    assert watched(tmp_path, {"a": month(MONTHS[0])}).newly_explained == ("a",)
