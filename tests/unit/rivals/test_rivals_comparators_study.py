from __future__ import annotations

import json

import numpy as np
import pytest

from whygap.rivals.comparators import Comparators, run


def line(seed, first, second, accuracy):
    return {
        "seed": seed,
        "importances": {"whygap": {"Z1": first, "Z2": second}},
        "accuracy": {"whygap": [accuracy] * 3},
    }


def study_of(*lines):
    return Comparators({"a": 100, "b": 100}, {"a": lines, "b": lines})


def test_seeds_are_summed_up_in_words():
    study = study_of(line(0, 0.6, 0.4, 0.8), line(1, -0.7, 0.2, 0.9))
    assert study.first_place("b") == {"whygap": {"Z1": 1.0, "Z2": 0.0}}
    assert study.accuracy()["whygap"].shape == (2, 3)
    mean, low, high = study.to_mapping()["accuracy"]["whygap"][0]
    assert mean == pytest.approx(0.85)
    assert low < mean < high
    assert "first: Z1 100%" in str(study)


def test_a_method_without_an_answer_is_counted_out():
    silent = {**line(1, 0.0, 0.0, 0.8), "importances": {}}
    study = study_of(line(0, 0.6, 0.4, 0.8), silent)
    assert len(study.importances("a")["whygap"]["Z1"]) == 1


def test_finished_seeds_are_read_not_run_again(tmp_path):
    for name in ("a_2000", "b_500"):
        path = tmp_path / f"comparators_{name}.jsonl"
        path.write_text("".join(json.dumps(line(n, 0.6, 0.4, 0.8)) + "\n" for n in (0, 1)))
    assert [len(lines) for lines in run(tmp_path, quick=True).lines.values()] == [2, 2]


@pytest.mark.nightly
def test_the_papers_findings_hold(tmp_path):
    study = run(tmp_path, seeds=4)
    a, b = study.first_place("a"), study.first_place("b")
    assert a["oaxaca_blinder"]["Z2"] == 1.0
    wu = study.importances("a")["wu_shift"]
    assert wu["Z1"].mean() == pytest.approx(-0.0148, abs=0.004)
    assert wu["Z2"].mean() == pytest.approx(-0.0150, abs=0.004)
    assert all((values > 0.999).all() for values in study.importances("a")["mean_change"].values())
    assert b["parametric_change"]["Z2"] == 1.0
    assert b["whygap"]["Z1"] == 1.0
    best = study.accuracy()
    for method, accuracy in best.items():
        paired = best["whygap"] - accuracy
        assert (paired.mean(axis=0) > -0.005).all(), method
    assert np.allclose(best["whygap"].mean(axis=0), 0.80, atol=0.015)
