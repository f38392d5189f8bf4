"""Kept replicates are run again, and a number that moved is seen."""

from __future__ import annotations

import json
from argparse import Namespace

import pytest

from experiments import recheck
from experiments.replicates import Config, replicate, run_missing
from experiments.simulation import Order
from whygap._version import ENGINE
from whygap.errors import ResultError

TINY = Config(rows=(300, 300), settings={"learner": "fast"}, parts=())
ALL = Namespace(share=1.0, seed=0)


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Three seeds of one configuration; one of them by an engine without a number."""
    path = tmp_path / "coverage" / "replicates.jsonl"
    run_missing(TINY, range(2), path)

    def old(config, seed):
        return replicate(config, seed) | {"engine": "71ce0671"}

    run_missing(TINY, range(3), path, job=old)
    monkeypatch.setattr(recheck, "planned", lambda: {("coverage", TINY.label): TINY})
    return path


def test_lines_of_the_present_engine_come_out_the_same(kept):
    lines = kept.read_text(encoding="utf-8").splitlines(keepends=True)
    kept.write_text("".join(lines[:2]), encoding="utf-8")
    first, *again = recheck.run(Order(kept.parents[1]), ALL).splitlines()
    assert first == f"coverage: engine {ENGINE}: 2"
    assert len(again) == 2
    assert all(float(line.rpartition(": ")[2].split()[0]) < 0.001 for line in again)


def test_a_line_of_an_older_engine_fails_the_check(kept):
    with pytest.raises(ResultError) as caught:
        recheck.run(Order(kept.parents[1]), ALL)
    assert f"coverage: engine 1: 1, engine {ENGINE}: 2" in str(caught.value)
    assert "1 of 3 lines are of older engines; the largest difference is" in str(caught.value)


def test_a_page_that_another_engine_made_fails_the_check(kept):
    lines = kept.read_text(encoding="utf-8").splitlines(keepends=True)
    kept.write_text("".join(lines[:2]), encoding="utf-8")
    end = "engine 1 was worse.\n\n## How these numbers came about\n\nMade by engine "
    for name, engine in (("new", ENGINE), ("old", ENGINE - 2)):
        (kept.parent / f"{name}.md").write_text(f"{end}{engine}.\n", encoding="utf-8")
    assert recheck.older_pages(kept.parents[1]) == ["old"]
    with pytest.raises(ResultError, match="old: says that another engine made it"):
        recheck.run(Order(kept.parents[1]), ALL)


def test_a_newer_line_replaces_an_older_one(tmp_path):
    folder = tmp_path / "power"
    folder.mkdir()
    old = {"comparison": "a", "question": "points", "engine": 2}
    lines = [{**old, "engine": ENGINE}, old, {**old, "question": "shares", "engine": ENGINE}]
    (folder / "answers.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    (folder / "peers.jsonl").write_text(json.dumps({"seed": 0}), encoding="utf-8")
    kept = recheck.resting_on(tmp_path)
    assert recheck.by_engine("power", kept["power"]) == f"power: engine {ENGINE}: 2"


def test_a_number_that_moved_is_told_in_standard_errors(kept):
    one = replicate(TINY, 0)
    value, error, *rest = one["estimates"]["aggregate gap"]
    moved = one | {"estimates": one["estimates"] | {"aggregate gap": [value + error, error, *rest]}}
    assert recheck.difference(one, moved) == pytest.approx(1.0, abs=1e-3)


def test_older_engines_alone_leave_nothing_to_run(kept, monkeypatch):
    monkeypatch.setattr(recheck, "ENGINE", 99)
    with pytest.raises(ResultError, match="none of engine 99 to run again"):
        recheck.run(Order(kept.parents[1]), ALL)


def test_a_sample_is_a_share_and_at_least_one():
    lines = [{"seed": seed} for seed in range(200)]
    assert len(recheck.sample(lines, 0.01, 0)) == 2
    assert len(recheck.sample(lines[:3], 0.01, 0)) == 1
    assert recheck.sample([], 0.01, 0) == []
    assert recheck.sample(lines, 0.1, 0) == recheck.sample(lines, 0.1, 0)
    assert recheck.sample(lines, 0.1, 0) != recheck.sample(lines, 0.1, 1)


def test_every_configuration_of_a_full_plan_is_known():
    label = "gaussian_accuracy_2000-2000"
    asked = [recheck.planned()[name, label].parts for name in ("coverage", "culprits")]
    assert asked == [("covariate", "outcome"), ("points", "recoverable")]
