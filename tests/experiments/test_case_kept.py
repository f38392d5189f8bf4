"""A comparison of a case study goes on where it was, and starts anew when something changed."""

from __future__ import annotations

import json

import pytest
from small_study import fast, make_study, tables

from experiments import case_kept
from experiments.case_kept import kept, ranking

SETTINGS = fast(folds=3, subsets="all")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept") / "ne_to_wv"
    said: list[str] = []
    gap, beside = kept(make_study(), SETTINGS, folder, said.append)
    return folder, gap, beside, said


def test_a_first_run_keeps_what_it_computed(finished):
    folder, gap, beside, said = finished
    assert said == ["  parts and details", "  rivals and revisions"]
    assert sorted(path.name for path in folder.iterdir()) == [
        "analysis.json", "beside.json", "gap.json",
    ]  # fmt: skip
    methods = [rival.method for rival in beside.rivals]
    assert methods == list(dict.fromkeys(methods)) or "oaxaca_blinder" in methods
    assert {r.flagged is not None for r in beside.rivals if r.method == "mean_change"} == {True}
    labels = [revised.label for revised in beside.revisions]
    assert labels[:2] == ["the model as it is", "recalibrated (W alone)"]
    assert labels[-1] == "retrained on everything"
    assert len(beside.differences) == len(ranking(gap.shares["outcome"]))


def test_a_second_run_computes_nothing(finished):
    folder, gap, beside, _ = finished
    said: list[str] = []
    again = kept(make_study(), SETTINGS, folder, said.append)
    assert said == []
    assert again == (gap, beside)


def test_only_what_is_missing_is_made_again(finished):
    folder, gap, beside, _ = finished
    (folder / "beside.json").unlink()
    said: list[str] = []
    assert kept(make_study(), SETTINGS, folder, said.append) == (gap, beside)
    assert said == ["  rivals and revisions"]


@pytest.mark.parametrize("change", ["data", "settings", "engine"])
def test_results_of_something_else_are_dropped(change, tmp_path, monkeypatch):
    folder = tmp_path / "kept"
    folder.mkdir()
    study, settings = make_study(), SETTINGS
    (folder / "gap.json").write_text("of another analysis", encoding="utf-8")
    belongs_to = case_kept._belongs_to(study, settings)
    (folder / "analysis.json").write_text(
        json.dumps(belongs_to, indent=1, sort_keys=True) + "\n", encoding="utf-8"
    )
    if change == "data":
        study = make_study(*tables(source=390))
    elif change == "settings":
        settings = fast(folds=3, subsets=5)
    else:
        monkeypatch.setattr(case_kept, "ENGINE", 99)
    said: list[str] = []
    case_kept._open(folder, case_kept._belongs_to(study, settings), said.append)
    assert said == ["  the data, settings or engine changed: kept results are dropped"]
    assert [path.name for path in folder.iterdir()] == ["analysis.json"]
