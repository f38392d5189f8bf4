"""`whygap watch` on the command line: where targets come from, what it prints, how it ends."""

from __future__ import annotations

import json

import pytest
from watch_stream import MONTHS, SHIFTED, months, source

QUICK = ("--learner", "fast", "--set", "folds=3", "--detail", "none", "--quiet")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A source, all months in one table, and a study file that names the source alone."""
    monkeypatch.chdir(tmp_path)
    source().to_parquet("source.parquet")
    months().to_parquet("visits.parquet")
    study = 'source = "source.parquet"\noutcome = "y"\nbaseline = ["w"]\nprediction = "risk"\n'
    (tmp_path / "study.toml").write_text(study)
    (tmp_path / "whole.toml").write_text('target = "visits.parquet"\n' + study)
    (tmp_path / "alerts.toml").write_text('[[rule]]\npart = "outcome"\nbelow = "-2 points"\n')
    return tmp_path


def test_a_column_of_the_study_s_target(folder, call):
    asked = ("watch", "whole.toml", "--by", "month", "--rules", "alerts.toml", "--json", *QUICK)
    done = call(*asked)
    assert done.code == 1, done.err
    found = json.loads(done.out)
    assert found["targets"] == found["explained_now"] == list(MONTHS)
    assert [alarm["target"] for alarm in found["alarms"]] == [SHIFTED]
    again = json.loads(call(*asked).out)
    assert (again["code"], again["explained_now"]) == (1, [])


def test_a_query_of_targets(folder, call):
    pytest.importorskip("duckdb")
    query = "select * from 'visits.parquet' where month < '2025-03'"
    done = call("watch", "study.toml", "--query", query, "--by", "month", *QUICK)
    assert done.code == 0, done.err
    assert done.out == "2 targets explained (2 of them now), 0 alarms.\n"
    assert (folder / "watch" / "trend.html").exists()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("--query", "select 1"), "A query of targets needs the column that names them."),
        (("--folder", "nowhere"), "No target is in 'nowhere'. Got no file."),
        (("--folder", "a", "--by", "b"), "Targets are named in one way. Got --folder and --by."),
        ((), "The study file 'study.toml' does not name the target."),
    ],
)
def test_what_cannot_be_used_ends_with_code_2(folder, call, asked, words):
    done = call("watch", "study.toml", *asked, *QUICK)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"Error: {words}")
