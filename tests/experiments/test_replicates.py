"""Replicates: pure, resumable, and light enough for a machine without the table packages."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.replicates import Config, read_lines, replicate, run_missing
from experiments.worlds.by_name import make_world, truths
from whygap._version import ENGINE
from whygap.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
SMALL = Config(rows=(400, 400), settings={"learner": "fast"}, parts=("outcome",), subsets=((0,),))
RUN_WITHOUT_TABLE_PACKAGES = """
import importlib.util, runpy, sys
import lightgbm  # looks for optional packages itself

NAMES = {"pyarrow", "typer", "rich", "matplotlib", "jinja2"}

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in NAMES:
            raise ModuleNotFoundError(name, name=name)

for name in [name for name in sys.modules if name.split(".")[0] in NAMES]:
    del sys.modules[name]
sys.meta_path.insert(0, Missing())
found = importlib.util.find_spec
importlib.util.find_spec = lambda name: None if name in NAMES else found(name)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


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


def test_configurations_survive_json_and_have_names_of_their_own():
    other = Config(rows=(400, 400), settings={"learner": "fast", "folds": 3}, published="fast")
    assert Config.from_mapping(json.loads(json.dumps(SMALL.to_mapping()))) == SMALL
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


def test_the_runner_needs_none_of_the_table_packages(tmp_path):
    config = tmp_path / "config.json"
    config.write_text(json.dumps(SMALL.to_mapping()), encoding="utf-8")
    output = tmp_path / "lines.jsonl"
    script = ROOT / "experiments" / "run_replicates.py"
    arguments = [str(script), "coverage", str(config), "0", "1", "--jobs", "1"]
    done = subprocess.run(
        [sys.executable, "-c", RUN_WITHOUT_TABLE_PACKAGES, *arguments, "--output", str(output)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert without_time(read_lines(output)[0]) == without_time(replicate(SMALL, 0))
