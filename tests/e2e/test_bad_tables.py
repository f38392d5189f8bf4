"""Forty kinds of bad tables and roles, from a study file: the exact message, exit code 2, no file.

Each case changes the study file, the tables, or both; everything else is in order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from study_files import Change, put, write_study

MODEL = """
class Trained:
    feature_names_in_ = ["age", "visit"]
    classes_ = [0, 1]

    def predict_proba(self, table):
        raise AssertionError("never asked")


model = Trained()


def percent(table):
    return [70.0] * len(table)


def broken(table):
    return table["bmi"]
"""


@dataclass(frozen=True)
class Case:
    """What is changed, and the message that must follow; {folder} is where the files lie."""

    message: str
    study: dict[str, str] = field(default_factory=dict)
    source: Change = lambda table: table
    target: Change = lambda table: table
    without: tuple[str, ...] = ()


def make_table(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    risk = rng.uniform(0.1, 0.9, rows)
    return pd.DataFrame(
        {
            "age": np.round(rng.normal(50, 10, rows), 1),
            "sex": rng.choice(["f", "m"], rows),
            "visits": rng.integers(0, 9, rows),
            "site": rng.integers(0, 40, rows),
            "y": (rng.random(rows) < risk).astype(int),
            "risk": risk,
        }
    )


def scaled(column: str, by: float, plus: float = 0.0) -> Change:
    return lambda table: table.assign(**{column: table[column] * by + plus})


def both(change: Change, message: str, **study: str) -> Case:
    return Case(message, study, change, change)


def write_case(case: Case, folder: Path) -> Path:
    for name, change, seed in (("source", case.source, 1), ("target", case.target, 2)):
        change(make_table(240, seed)).to_csv(folder / f"{name}.csv", index=False)
    (folder / "bad_scores.py").write_text(MODEL)
    for name in ("model.pkl", "source.sav"):
        (folder / name).write_bytes(b"whatever")
    return write_study(folder, case.study, case.without)


CASES: dict[str, Case] = {
    "a baseline column that is not there": Case(
        "Column 'agee' (baseline) is not in source. Did you mean 'age'?", {"baseline": '["agee"]'}
    ),
    "a covariate that is only in the source": Case(
        "Column 'bmi' (covariates) is not in target.",
        {"covariates": '["bmi"]'},
        source=put(bmi=[1, 2]),
    ),
    "an outcome that is not there": Case(
        "Column 'Y' (outcome) is not in source. Did you mean 'y'?", {"outcome": '"Y"'}
    ),
    "a prediction that is not there": Case(
        "Column 'risks' (prediction) is not in source. Did you mean 'risk'?",
        {"prediction": '"risks"'},
    ),
    "one column in two roles": Case(
        "Column 'y' has two roles: outcome and baseline. Each column has one role.",
        {"baseline": '["y"]'},
    ),
    "a column named twice": Case(
        "Column 'age' is named twice in baseline. Name it once.", {"baseline": '["age", "age"]'}
    ),
    "a role that is not text": Case(
        "The 'baseline' argument must be a list of column names. Got 3 (int) in it.",
        {"baseline": "[3]"},
    ),
    "neither prediction nor model": Case(
        (
            "A study needs either prediction= or model=. Got neither. prediction= names a "
            "column; model= is a fitted model or a callable."
        ),
        without=("prediction",),
    ),
    "both prediction and model": Case(
        (
            "A study needs either prediction= or model=. Got both. prediction= names a "
            "column; model= is a fitted model or a callable."
        ),
        {"model": '"bad_scores:percent"'},
    ),
    "an unknown metric": Case(
        "There is no metric 'acuracy'. Did you mean 'accuracy'?", {"metric": '"acuracy"'}
    ),
    "a threshold out of range": Case(
        "The threshold must be a number from 0 to 1. Got 50.", {"threshold": "50"}
    ),
    "a group of what is no covariate": Case(
        "Column 'age' (group 'people') is not a covariate.",
        {"groups": '{ people = ["age", "sex"] }'},
    ),
    "tables with different columns": Case(
        (
            "The two tables have different columns. Got only in target: 'bmi'. Drop these "
            "columns, or say which ones to use with covariates=[...]."
        ),
        target=put(bmi=[1, 2]),
    ),
    "a table without rows": Case(
        "The target table has no rows.", target=lambda table: table.head(0)
    ),
    "a table with too few rows": Case(
        (
            "The source table has too few usable rows. Got 20. At least 50 rows with outcome "
            "and prediction are needed."
        ),
        source=lambda table: table.head(20),
    ),
    "two columns of one name": Case(
        "The source table has more than one column named 'visits'. Rename or drop the extra ones.",
        source=lambda table: table.rename(columns={"sex": "visits"}),
    ),
    "an outcome of three values": both(
        put(y=[0, 1, 2]),
        (
            "It is not clear what the outcome 'y' is: classes or amounts. Got 3 distinct values "
            "from 0 to 2, and predictions from 0 to 1. Say it: task='multiclass' or "
            "task='regression'."
        ),
    ),
    "an outcome of ones and twos": both(
        scaled("y", 1, plus=1),
        (
            "It is not clear which value of the outcome 'y' counts as 1. Got values 1 and 2. "
            "Say it: positive=2."
        ),
    ),
    "an outcome of two words": both(
        put(y=["ill", "well"]),
        (
            "It is not clear which value of the outcome 'y' counts as 1. Got values 'ill' "
            "and 'well'. Say it: positive='well'."
        ),
    ),
    "a positive value that does not occur": Case(
        "positive='yes' is not a value of the outcome 'y'. Got values 0 and 1.",
        {"positive": '"yes"'},
    ),
    "an outcome of one value": both(
        put(y=[1]),
        (
            "The outcome 'y' has one distinct value. Got 1. Two are needed: with one value "
            "there is nothing to predict."
        ),
    ),
    "an outcome that is too rare": Case(
        (
            "The outcome 'y' equals 1 in too few source rows. Got 3. At least 5 rows of each "
            "outcome value are needed in each domain."
        ),
        source=put(y=[1, *[0] * 99]),
    ),
    "an outcome that is missing everywhere": Case(
        "The outcome 'y' is missing in every row of source.", source=put(y=[np.nan])
    ),
    "predictions in percent": both(
        scaled("risk", 100),
        (
            "The prediction 'risk' must be a probability from 0 to 1, or a label. Got values "
            "from 10.466 to 89.9221 in source. It looks like percent: divide by 100."
        ),
    ),
    "predictions that are log odds": both(
        scaled("risk", 8, plus=-4),
        (
            "The prediction 'risk' must be a probability from 0 to 1, or a label. Got values "
            "from -3.16272 to 3.19377 in source. It looks like a score or logit: turn it "
            "into a probability first."
        ),
    ),
    "predictions of other words": both(
        put(risk=["low", "high"]),
        (
            "The prediction 'risk' holds 'high', which is not a value of the outcome. Got "
            "outcome values '0' and '1'."
        ),
    ),
    "a sure prediction and log loss": both(
        put(risk=[0.0, 1.0, 0.5]),
        (
            "The metric 'log_loss' is not finite at some predictions. Got inf at prediction "
            "1. For log loss, probabilities must lie strictly between 0 and 1."
        ),
        metric='"log_loss"',
    ),
    "a named covariate of one value": both(
        put(sex=["f"]),
        "Column 'sex' has one single value in both tables. Leave it out: it cannot explain a gap.",
        covariates='["sex", "visits"]',
    ),
    "a column that is missing in one table": Case(
        (
            "Column 'visits' is missing in every row of target. It cannot be compared: drop "
            "it, or list covariates=[...] without it."
        ),
        target=put(visits=[np.nan]),
    ),
    "an identifier of words": both(
        lambda t: t.assign(code=[f"p{i}" for i in range(len(t))]),
        (
            "Column 'code' looks like an identifier: it differs in every row. Drop it, or, "
            "if it says which rows belong together, clusters='code'."
        ),
    ),
    "an identifier of numbers": both(
        lambda t: t.assign(row=range(len(t))),
        (
            "Column 'row' looks like an identifier: it differs in every row. Drop it, or, if "
            "it says which rows belong together, clusters='row'."
        ),
    ),
    "dates in one table, numbers in the other": Case(
        (
            "Column 'visits' is of different kinds in the two tables. Got date in source, "
            "number in target. Give it the same type in both tables."
        ),
        source=put(visits=["2020-01-31", "2020-02-01"]),
    ),
    "negative weights": both(
        put(w=[1, -1]),
        "Column 'w' (weights) is negative in 120 rows of source. Got -1.",
        weights='"w"',
    ),
    "weights that are words": both(
        put(w=["a", "b"]),
        "Column 'w' (weights) must hold numbers. Got text in source.",
        weights='"w"',
    ),
    "rows without a cluster": both(
        put(site=[1.0, 2.0, np.nan]),
        (
            "Column 'site' (clusters) is missing in 80 rows of source. Every row needs a "
            "cluster; give single rows a name of their own."
        ),
        clusters='"site"',
    ),
    "a known risk of 0": both(
        put(known=[0.0, 0.5]),
        (
            "Column 'known' (source_risk) must lie strictly between 0 and 1. Got values from "
            "0 to 0.5 in source."
        ),
        source_risk='"known"',
    ),
    "a table of an unknown format": Case(
        (
            "The source table '{folder}/source.sav' is of an unknown format. Got '.sav'. Use .csv, "
            ".tsv (or .gz of these), .xlsx or .parquet, or read it yourself and pass the table."
        ),
        {"source": '"source.sav"'},
    ),
    "a table that is not there": Case(
        "The source table '{folder}/sorce.csv' does not exist. Did you mean 'source.csv'?",
        {"source": '"sorce.csv"'},
    ),
    "a part of the table without rows": Case(
        "No row of the target table has 'sex' equal to 'x'.",
        {
            "source": '{ path = "source.csv", where = { sex = "f" } }',
            "target": '{ path = "target.csv", where = { sex = "x" } }',
        },
    ),
    "a pickle without the flag": Case(
        (
            "The model '{folder}/model.pkl' is a pickle, which can run any code when it is "
            "loaded. Use .onnx or .skops; or, if you trust it, unsafe_pickle=True "
            "(--unsafe-pickle)."
        ),
        {"model": '"model.pkl"'},
        without=("prediction",),
    ),
    "a model that expects other columns": Case(
        "The model Trained expects column 'visit', which is not in source. Did you mean 'visits'?",
        {"model": '"bad_scores:model"'},
        without=("prediction",),
    ),
    "a model that fails on other columns": Case(
        (
            'The model broken failed on the source table. Got KeyError: \'Field "bmi" does '
            "not exist in schema'. It was given a pyarrow table with columns 'age', 'sex', "
            "'visits', 'site', 'risk'; it may expect others."
        ),
        {"model": '"bad_scores:broken"'},
        without=("prediction",),
    ),
    "a model that answers in percent": Case(
        (
            "The answer of the model percent must be a probability from 0 to 1, or a label. "
            "Got values from 70 to 70 in source. It looks like percent: divide by 100."
        ),
        {"model": '"bad_scores:percent"'},
        without=("prediction",),
    ),
    "a model that is not there": Case(
        (
            "The model 'bad_scores:modell' cannot be imported. Got AttributeError: module "
            "'bad_scores' has no attribute 'modell'."
        ),
        {"model": '"bad_scores:modell"'},
        without=("prediction",),
    ),
}


@pytest.mark.parametrize("kind", CASES)
def test_every_kind_is_refused_in_full_words(call, tmp_path, kind):
    case = CASES[kind]
    study = write_case(case, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    out, page = tmp_path / "gap.json", tmp_path / "gap.html"
    done = call("explain", study, "--detail", "none", "-o", out, "--report", page)
    assert done.err == f"Error: {case.message.replace('{folder}', str(tmp_path))}\n"
    assert (done.code, done.out) == (2, "")
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert after == before


def test_there_are_at_least_thirty_kinds():
    assert len(CASES) >= 30
    assert len({case.message for case in CASES.values()}) == len(CASES)


QUICK = ("--detail", "none", "--set", "learner=fast", "--set", "folds=3")


def test_swapped_tables_are_hinted_in_the_summary_and_in_the_check(call, tmp_path):
    certain = put(risk=[0.5])
    study = write_case(Case("", source=certain), tmp_path)
    warning = "if the model was trained on target, swap the two tables."
    done = call("explain", study, *QUICK)
    assert done.code == 0
    assert warning in done.err
    page = call("check", study, "--set", "learner=fast", "--set", "folds=3")
    assert warning in " ".join(page.out.split())


def test_an_untouched_case_is_explained(call, tmp_path):
    done = call("explain", write_case(Case(""), tmp_path), *QUICK, "-o", tmp_path / "gap.json")
    assert done.code == 0, done.err
    assert (tmp_path / "gap.json").exists()
