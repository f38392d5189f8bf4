"""What a kept line says of its making."""

from __future__ import annotations

import json
import re

import pytest

from experiments import record
from experiments.record import engine_of, engines, made_by, newest, of_one_engine
from whygap._version import ENGINE
from whygap.settings import Settings


def line(engine, seed=0, config="a"):
    return {"config": config, "seed": seed, "engine": engine}


def test_a_line_records_engine_commit_libraries_and_every_setting():
    settings = Settings(folds=3, progress=False)
    found = json.loads(json.dumps(made_by(settings)))
    assert found["engine"] == ENGINE
    assert re.fullmatch(r"([0-9a-f]{7,}\+?)?", found["commit"])
    assert set(found["versions"]) == {"python", "numpy", "scipy", "scikit-learn", "lightgbm"}
    assert found["settings"] == settings.to_mapping()


def test_without_git_there_is_no_commit(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert record._commit.__wrapped__() == ""


def test_lines_with_a_digest_or_without_anything_are_engine_1():
    assert [engine_of(x) for x in ({}, line("71ce0671"), line(2), line(3))] == [1, 1, 2, 3]


def test_later_engines_changed_some_shares_only():
    """So a line of engine 8 or 9 that has none of them stands; one that does not say is older."""
    estimates = {"aggregate gap": [], "outcome denominator": [], "covariate share Z1": []}
    others = [{"estimates": estimates}, {"question": "points"}, {"rules": []}, {"points": {}}]
    assert {engine_of({"engine": 8, **one}) for one in others} == {10}
    assert {engine_of({"engine": 7, **one}) for one in others} == {7}
    new = [{"estimates": {**estimates, "outcome value {}": []}}, {"question": "outcome"}, {}]
    assert {engine_of({"engine": 8, **one}) for one in new} == {8}
    assert {engine_of({"engine": 9, **one}) for one in (*others, *new)} == {10}
    beside = {"estimates": {**estimates, "points covariate Z1": []}}
    shown, none = ({"question": "covariate", "defined": known} for known in (True, False))
    found = [engine_of({"engine": 9, **one}) for one in (beside, shown, none)]
    assert found == [9, 9, 10]


def test_the_newest_engine_speaks_for_a_seed():
    lines = [line(3), line("digest"), line(2), line(2, seed=1), line("digest", seed=2)]
    found = [(x["seed"], engine_of(x)) for x in newest(lines)]
    assert found == [(0, 3), (1, 2), (2, 1)]


def test_a_caption_says_which_engines_made_what():
    assert engines([line(2), line(2, seed=1)]) == "Made by engine 2."
    assert engines([line("digest"), line(2, seed=1), line(2, config="b")]) == (
        "**Several versions of the engine made them.** In engine 1: a (1); engine 2: a (1), b (1)."
    )


@pytest.mark.parametrize(
    ("old", "new", "chosen"), [(200, 50, 8), (200, 49, 1), (30, 20, 1), (20, 20, 8), (0, 3, 8)]
)
def test_a_cell_rests_on_one_engine(old, new, chosen):
    lines = [{"engine": "71ce0671"}] * old + [{"engine": 8}] * new
    assert {engine_of(line) for line in of_one_engine(lines, 200)} == {chosen}


def test_nothing_kept_is_of_no_engine():
    assert of_one_engine([], 200) == []
