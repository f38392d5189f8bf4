"""`whygap watch` on the command line: where targets come from, what it prints, how it ends."""

from __future__ import annotations

import json

import pytest
from command_line import call as call
from watch_stream import MONTHS, SHIFTED, month, months, source

QUICK = ("--set", "learner=fast", "--set", "folds=3", "--detail", "none")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A source, all months in one table and in files; a study file of the source alone."""
    monkeypatch.chdir(tmp_path)
    source().to_parquet("source.parquet")
    months().to_parquet("visits.parquet")
    (tmp_path / "arrived").mkdir()
    for name in MONTHS[:2]:
        month(name).to_csv(tmp_path / "arrived" / f"{name}.csv", index=False)
    study = 'source = "source.parquet"\noutcome = "y"\nbaseline = ["w"]\nprediction = "risk"\n'
    (tmp_path / "study.toml").write_text(study)
    (tmp_path / "whole.toml").write_text('target = "visits.parquet"\n' + study)
    (tmp_path / "alerts.toml").write_text('[[rule]]\npart = "outcome"\nbelow = -0.02\n')
    return tmp_path


def test_a_column_of_the_study_s_target(folder, call):
    asked = ("watch", "whole.toml", "--by", "month", "--rules", "alerts.toml", "--json", *QUICK)
    done = call(*asked)
    assert done.code == 1, done.err
    found = json.loads(done.out)
    assert found["targets"] == found["newly_explained"] == list(MONTHS)
    assert [alarm["target"] for alarm in found["alarms"]] == [SHIFTED]
    again = json.loads(call(*asked).out)
    assert (again["exit_code"], again["newly_explained"]) == (1, [])
    assert again["unchanged"] == list(MONTHS)


def test_a_folder_of_files(folder, call):
    asked = ("--folder", "arrived", "--state", "kept", "--prometheus", "whygap.prom")
    done = call("watch", "study.toml", *asked, *QUICK)
    assert done.code == 0, done.err
    assert done.out.startswith("Targets: 2 explained (2 of them now). Alarms: 0.\n")
    assert {p.name for p in (folder / "kept").iterdir()} >= {"trend.html", "trend.csv"}
    assert f'whygap_trusted{{target="{MONTHS[1]}"}} 1.0' in (folder / "whygap.prom").read_text()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("--folder", "nowhere"), "The folder 'nowhere' must hold one table for each target."),
        (("--prometheus", "no/x.prom"), "The file 'no/x.prom' cannot be written."),
        ((), "The study file 'study.toml' does not name the target."),
    ],
)
def test_what_cannot_be_used_ends_with_code_2(folder, call, asked, words):
    done = call("watch", "study.toml", *asked, *QUICK)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"Error: {words}")
