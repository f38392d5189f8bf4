"""Several targets on the command line: no name is taken twice, and no file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import call as call
from result_factory import make_gap
from small_study import tables

ROLES = 'outcome = "y"\nbaseline = ["w"]\nprediction = "risk"\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A study file whose [targets] has the name of the study's own target."""
    monkeypatch.chdir(tmp_path)
    for name, table in zip(("source", "target"), tables(), strict=True):
        table.to_parquet(f"{name}.parquet")
    text = 'source = "source.parquet"\ntarget = "target.parquet"\n' + ROLES
    Path("study.toml").write_text(text + '[targets]\ntarget = "source.parquet"\n')
    return tmp_path


@pytest.mark.parametrize("command", [("explain", "-o", "gap.json"), ("watch", "--state", "watch")])
def test_a_target_with_the_name_of_the_study_s_own_is_refused(folder, call, command):
    done = call(command[0], "study.toml", *command[1:])
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "Error: Two targets have the same name. Got 'target' as the study's own target and in "
        "[targets]. Give one of them another name: target_name is the one of the study's own.\n"
    )
    assert not (folder / "watch").exists()


def test_every_command_prints_json_and_names_files_on_stderr(tmp_path, monkeypatch, call):
    monkeypatch.chdir(tmp_path)
    make_gap().save("gap.json")
    done = call("init", "-o", "study.toml", "--json")
    assert json.loads(done.out) == {"study_file": Path("study.toml").read_text()}
    assert done.err == "Wrote study.toml\n"
    done = call("show", "gap.json", "-o", "gap.csv", "--json")
    assert json.loads(done.out)[0]["kind"] == "change"
    assert done.err == "Wrote gap.csv\n"
    assert call("show", "gap.json", "-o", "gap.csv").out == ""
