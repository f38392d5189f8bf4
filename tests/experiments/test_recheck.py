"""Kept replicates are run again, and a number that moved is seen."""

from __future__ import annotations

from argparse import Namespace

import pytest

from experiments import recheck
from experiments.replicates import Config, replicate, run_missing
from experiments.simulation import Order

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
    monkeypatch.setattr(recheck, "planned", lambda: {TINY.label: TINY})
    return path


def test_lines_of_the_present_engine_come_out_the_same(kept):
    text = recheck.run(Order(kept.parents[1]), ALL)
    assert text.splitlines()[0] == "3 kept replicates, 1 of them by older engines"
    assert text.endswith("largest difference of 2 run again: 0 standard errors") or float(
        text.rpartition(": ")[2].split()[0]
    ) < 0.001  # fmt: skip


def test_a_number_that_moved_is_told_in_standard_errors(kept):
    one = replicate(TINY, 0)
    value, error, *rest = one["estimates"]["aggregate gap"]
    moved = one | {"estimates": one["estimates"] | {"aggregate gap": [value + error, error, *rest]}}
    assert recheck.difference(one, moved) == pytest.approx(1.0, abs=1e-3)


def test_older_engines_alone_leave_nothing_to_run(kept, monkeypatch):
    monkeypatch.setattr(recheck, "ENGINE", 99)
    text = recheck.run(Order(kept.parents[1]), ALL)
    assert text == ("3 kept replicates, 3 of them by older engines; none of engine 99 to run again")


def test_a_sample_is_a_share_and_at_least_one():
    lines = [{"seed": seed} for seed in range(200)]
    assert len(recheck.sample(lines, 0.01, 0)) == 2
    assert len(recheck.sample(lines[:3], 0.01, 0)) == 1
    assert recheck.sample([], 0.01, 0) == []
    assert recheck.sample(lines, 0.1, 0) == recheck.sample(lines, 0.1, 0)
    assert recheck.sample(lines, 0.1, 0) != recheck.sample(lines, 0.1, 1)


def test_every_configuration_of_a_full_plan_is_known():
    assert "gaussian_accuracy_2000-2000" in recheck.planned()
