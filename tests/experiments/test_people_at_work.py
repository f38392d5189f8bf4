"""People at work: made-up rows with the same columns as the survey's."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from experiments.simulation import Order
from experiments.workers import FILE, QUESTIONS, TRAINED_ON, workers_study
from experiments.workers_page import run

LEVELS = {
    "sex": ["male", "female"],
    "race": ["A", "B"],
    "hispanic": ["no", "yes"],
    "citizen": ["born", "naturalised"],
    "english": ["only", "well"],
    "marital": ["married", "never"],
    "class_of_worker": ["1", "2"],
    "industry": ["1", "2", "3"],
    "occupation": ["1", "2", "3"],
    "disability": ["no", "yes"],
    "military": ["never", "now"],
}


def people(state, rows, rng):
    hours = rng.integers(10, 60, rows)
    way = rng.choice(["car", "home", "transit", "other"], rows, p=[0.7, 0.15, 0.1, 0.05])
    chosen = {name: rng.choice(levels, rows) for name, levels in LEVELS.items()}
    coded = {name: pa.array(value).dictionary_encode() for name, value in chosen.items()}
    return pa.table(
        {
            "state": [state] * rows,
            "household": np.arange(rows) // 2 + 10_000 * ord(state[0]),
            "person_weight": np.ones(rows, int),
            "age": rng.integers(18, 70, rows),
            **coded,
            "schooling": rng.integers(10, 24, rows),
            "hours": hours,
            "weeks": rng.integers(20, 53, rows),
            "commute_minutes": np.where(way == "home", 0, rng.integers(1, 90, rows)),
            "way_to_work": pa.array(way).dictionary_encode(),
            "wage": np.exp(9.5 + hours / 40 + 0.3 * rng.standard_normal(rows)).astype(int),
            "private_cover": rng.integers(0, 2, rows),
        }
    )


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("survey"), np.random.default_rng(0)
    rows = {"OH": TRAINED_ON + 900, "NY": 900, "MD": 900}
    tables = [people(state, count, rng) for state, count in rows.items()]
    pyarrow.parquet.write_table(pa.concat_tables(tables).unify_dictionaries(), folder / FILE)
    return folder


@pytest.mark.parametrize("name", QUESTIONS)
def test_nothing_of_the_outcome_is_shown_and_no_household_is_trained_on(survey, name):
    question = QUESTIONS[name]
    study = workers_study(survey, question, question.metrics[0], "NY")
    assert not set(question.hidden) & set(study.covariates)
    assert not {"household", "person_weight", "state"} & set(study.covariates)
    assert study.source.num_rows in (899, 900)
    assert study.design.task == question.task
    households = np.asarray(pyarrow.parquet.read_table(survey / FILE)["household"])
    here = np.asarray(study.source["household"])
    assert (
        np.bincount(households)[np.unique(here)] == np.unique(here, return_counts=True)[1]
    ).all()


def test_a_quick_page_tells_every_question(survey, tmp_path):
    text = run(Order(tmp_path, survey, quick=True)).read_text(encoding="utf-8")
    for question in QUESTIONS.values():
        assert f"## {question.title}" in text
        assert (
            tmp_path / f"casestudy_workers-quick/{question.name}_{question.metrics[0]}_ny.csv"
        ).exists()
    assert "| log wage | mean absolute error | New York |" in text
    assert "Labels from the target could win back" in text
