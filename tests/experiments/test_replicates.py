"""Replicates: pure, resumable, and light enough for a machine without the table packages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from experiments.replicates import Config, read_lines, replicate, run_missing
from experiments.worlds.by_name import make_world, truths
from whygap._version import ENGINE
from whygap.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
SMALL = Config(rows=(400, 400), settings={"learner": "fast"}, parts=("outcome",), subsets=((0,),))


def without_time(line):
    return {key: value for key, value in line.items() if key != "cpu_seconds"}


def test_a_replicate_is_a_function_of_config_and_seed():
    one, again, other = (without_time(replicate(SMALL, seed)) for seed in (0, 0, 1))
    assert one == again
    assert one["estimates"] != other["estimates"]
    assert set(one["estimates"]) >= {
        "aggregate gap",
        "outcome denominator",
        "outcome numerator {Z1}",
    }


@pytest.mark.parametrize("subsets", [None, ((), (0,))])
def test_the_published_method_has_the_names_of_the_truths(subsets):
    config = replace(SMALL, parts=("covariate", "outcome"), subsets=subsets, published="fast")
    line = replicate(config, 0)
    known = truths(make_world("gaussian", "accuracy", {}), config.parts, subsets)
    assert set(line["estimates"]) <= set(known)
    asked = {"aggregate gap", "covariate value {Z1}", "outcome value {Z1}", "outcome denominator"}
    assert set(line["estimates"]) >= asked
    assert ("outcome share Z1" in line["estimates"]) == (subsets is None)
    rows = [row for name, row in line["estimates"].items() if not name.endswith(("{}", "Z3}"))]
    assert all(low < value < high for value, _, low, high, _ in rows)
    assert set(line["defined"]) == {"covariate", "outcome"}


def test_finished_seeds_are_skipped_and_a_cut_line_is_run_again(tmp_path):
    path = tmp_path / "lines.jsonl"
    asked: list[int] = []

    def job(config, seed):
        asked.append(seed)
        return {"config": config.label, "seed": seed}

    run_missing(SMALL, range(2), path, job=job)
    path.write_text(path.read_text() + '{"config": "cut', encoding="utf-8")
    lines = run_missing(SMALL, range(4), path, job=job)
    assert asked == [0, 1, 2, 3]
    assert [line["seed"] for line in lines] == [0, 1, 2, 3]
    assert [line["seed"] for line in read_lines(path, SMALL.label)] == [0, 1, 2, 3]


def test_what_an_older_engine_ran_is_kept_and_run_again_when_asked_for(tmp_path):
    path = tmp_path / "lines.jsonl"

    def job(engine):
        return lambda config, seed: {"config": config.label, "seed": seed, "engine": engine}

    run_missing(SMALL, range(2), path, job=job("71ce0671"))
    assert len(run_missing(SMALL, range(3), path, job=job(ENGINE))) == 3
    lines = run_missing(SMALL, range(3), path, job=job(ENGINE), anew=True)
    assert [line["engine"] for line in lines] == [ENGINE] * 3
    assert len(read_lines(path)) == 5, "nothing is deleted"


def test_configurations_have_names_of_their_own():
    other = Config(rows=(400, 400), settings={"learner": "fast", "folds": 3}, published="fast")
    assert SMALL.label == "gaussian_accuracy_400-400_learner-fast"
    assert other.label == "gaussian_accuracy_400-400_folds-3_learner-fast_published-fast"


def test_an_unknown_world_is_refused():
    with pytest.raises(InputError) as caught:
        make_world("gausian", "accuracy", {})
    assert str(caught.value) == "There is no world 'gausian'. Did you mean 'gaussian'?"


def test_truths_have_the_names_of_the_estimates():
    known = truths(make_world("comparison_b", "accuracy", {}), ("outcome",), None)
    assert known["outcome value {}"] == pytest.approx(0.464, abs=0.001)  # .449 with equal bins
    assert known["outcome difference Z1-Z2"] == pytest.approx(
        known["outcome share Z1"] - known["outcome share Z2"]
    )
    assert sum(known[f"outcome share Z{k}"] for k in range(1, 6)) == pytest.approx(
        1 - known["outcome value {}"]
    )
