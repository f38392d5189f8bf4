"""The power table: who is clear, who is first, who is tied; kept lines are not run again."""

from __future__ import annotations

import json

import numpy as np
import pytest

from experiments import power
from experiments.simulation import Order
from whygap._version import ENGINE
from whygap.errors import InputError
from whygap.estimate import Estimate
from whygap.results import Points


def joint(values, error):
    estimates = {name: Estimate(value, error, value) for name, value in values.items()}
    return Points(estimates, np.eye(len(values)) * error**2)


@pytest.mark.parametrize(
    ("values", "first", "clear", "tied"),
    [
        ({"a": 5.0, "b": 1.0, "c": 0.1}, "a", 2, 0),
        ({"a": 5.0, "b": 4.9, "c": 0.1}, "a", 2, 1),
        ({"a": 5.0, "b": 4.9, "c": -9.0}, "c", 3, 0),
        ({"a": 0.1, "b": -0.2, "c": -0.1}, "b", 0, 2),
    ],
)
def test_the_first_is_the_largest_by_size_and_told_apart_from_its_own_end(
    values, first, clear, tied
):
    found = power._answer("x", "points covariate", joint(values, 0.2), 1.0)
    assert (found.first, found.clear, found.tied_with) == (first, clear, tied)
    assert found.variables == 3
    assert found.low < found.value < found.high


def answer(comparison, question, **changes):
    given = {"comparison": comparison, "question": question, "variables": 3, "clear": 2,
             "first": "a", "value": 0.1, "low": 0.05, "high": 0.15, "tied_with": 0,
             "defined": True, "seconds": 2.0, "engine": ENGINE}  # fmt: skip
    return given | changes


def test_the_page_is_written_from_what_is_kept_of_the_newest_engine(tmp_path):
    folder = tmp_path / "power"
    folder.mkdir()
    demo = "employment (demo)"
    lines = [
        answer(demo, "points covariate"),
        answer(demo, "points covariate", engine=1, clear=0),
        answer(demo, "recoverable here", tied_with=2),
        answer(demo, "outcome", defined=False, first=""),
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "answers.jsonl").write_text(text, encoding="utf-8")
    page = power.run(Order(tmp_path, jobs=0)).read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if line.startswith(f"| {demo} | not run"))
    assert row == (
        f"| {demo} | not run | 2 of 3 clear; first told apart | 2 of 3 clear; first tied with 2 "
        "| not run | undefined |"
    )
    assert (folder / "power.csv").read_text().count("\n") == 4


def test_the_papers_shares_are_those_of_the_case_studies(tmp_path):
    folder = tmp_path / "casestudy_insurance"
    folder.mkdir()
    kept = "part,term,estimate,standard_error,low,high,plugin\n"
    kept += "covariate,A,nan,nan,nan,nan,nan\noutcome,(base),0.4,0.1,0.2,0.6,0.4\n"
    kept += "outcome,A,0.1,0.1,-0.1,0.3,0.1\noutcome,B,0.3,0.1,0.1,0.5,0.3\n"
    (folder / "ne_to_wv.csv").write_text(kept, encoding="utf-8")
    page = "| NE to WV | .8 to .7 | .1 | B, tied with 1 |\n"
    (folder / "casestudy_insurance.md").write_text(page, encoding="utf-8")
    text = power.run(Order(tmp_path, jobs=0)).read_text(encoding="utf-8")
    assert "| not run | not run | not run | undefined | 1 of 2 clear; first tied with 1 |" in text
    assert "| insurance, NE to WV | the paper's outcome shares | B | .3000 | .1000 to" in text


def test_data_that_are_not_shipped_are_asked_for(tmp_path, monkeypatch):
    monkeypatch.delenv("WHYGAP_DATA", raising=False)
    with pytest.raises(InputError, match="needs data that are not shipped"):
        power.run(Order(tmp_path))
