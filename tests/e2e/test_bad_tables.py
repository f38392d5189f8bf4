"""Bad tables and roles in a study file: the exact message, exit code 2, no file.

One case for each place that refuses; all messages are in tests/unit/tables. Each case changes the
study file, the tables, or both; everything else is in order.
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
QUICK = ("--detail", "none", "--set", "learner=fast", "--set", "folds=3")


@dataclass(frozen=True)
class Case:
    """What is changed, and the message that must follow; {folder} is where the files lie."""

    message: str
    study: dict[str, str] = field(default_factory=dict)
    source: Change = lambda table: table
    target: Change = lambda table: table
    without: tuple[str, ...] = ()


def by_model(model: str, message: str) -> Case:
    return Case(message, {"model": f'"{model}"'}, without=("prediction",))


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


def write_case(case: Case, folder: Path) -> Path:
    for name, change, seed in (("source", case.source, 1), ("target", case.target, 2)):
        change(make_table(240, seed)).to_csv(folder / f"{name}.csv", index=False)
    (folder / "bad_scores.py").write_text(MODEL)
    (folder / "model.pkl").write_bytes(b"whatever")
    return write_study(folder, case.study, case.without)


CASES: dict[str, Case] = {
    "a baseline column that is not there": Case(
        "Column 'agee' (baseline) is not in source. Did you mean 'age'?", {"baseline": '["agee"]'}
    ),
    "neither prediction nor model": Case(
        ("A study needs either prediction= or model=. Got neither. prediction= names a column; "
         "model= is a fitted model or a callable."),
        without=("prediction",),
    ),
    "a table without rows": Case(
        "The target table has no rows.", target=lambda table: table.iloc[:0]
    ),
    "negative weights": Case(
        "Column 'w' (weights) is negative in 120 rows of source. Got -1.",
        {"weights": '"w"'},
        put(w=[1, -1]),
        put(w=[1, -1]),
    ),
    "dates in one table, numbers in the other": Case(
        ("Column 'visits' is of different kinds in the two tables. Got date in source, number in "
         "target. Give it the same type in both tables."),
        source=put(visits=["2020-01-31", "2020-02-01"]),
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
    "a pickle without the flag": by_model(
        "model.pkl",
        ("The model '{folder}/model.pkl' is a pickle, which can run any code when it is loaded. "
         "Use .onnx or .skops; or, if you trust it, unsafe_pickle=True (--unsafe-pickle)."),
    ),
    "a model that expects other columns": by_model(
        "bad_scores:model",
        "The model Trained expects column 'visit', which is not in source. Did you mean 'visits'?",
    ),
    "a model that fails on other columns": by_model(
        "bad_scores:broken",
        ('The model broken failed on the source table. Got KeyError: \'Field "bmi" does not exist '
         "in schema'. It was given a pyarrow table with columns 'age', 'sex', 'visits', 'site', "
         "'risk'; it may expect others."),
    ),
    "a model that answers in percent": by_model(
        "bad_scores:percent",
        ("The answer of the model percent must be a probability from 0 to 1, or a label. Got "
         "values from 70 to 70 in source. It looks like percent: divide by 100."),
    ),
    "a model that is not there": by_model(
        "bad_scores:modell",
        ("The model 'bad_scores:modell' cannot be imported. Got AttributeError: module "
         "'bad_scores' has no attribute 'modell'."),
    ),
}  # fmt: skip


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


def test_swapped_tables_are_hinted_in_the_summary_and_in_the_check(call, tmp_path):
    study = write_case(Case("", source=put(risk=[0.5])), tmp_path)
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
