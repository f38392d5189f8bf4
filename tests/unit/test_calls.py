"""Calls as people make them by mistake: one of our errors, with what to write instead."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from result_factory import make_gap
from sklearn import metrics
from sklearn.linear_model import LogisticRegression
from small_study import make_study, tables

import whygap as wg
from whygap._explain import subset_values
from whygap.errors import InputError, ResultError, SettingsError, TableError, WhygapError
from whygap.results import Gaps
from whygap.results.files import to_text

ACCEPTED = (
    "The source table must be a pandas, polars or pyarrow table, an Arrow stream, a duckdb "
    "relation, or a path to "
    ".csv, .xlsx or .parquet. Got an object of type "
)
NEEDS = ' study = wg.Study(source, target, outcome="readmitted", prediction="risk").'
COLUMN = (
    "A role names a column of both tables. Got an object of type {}. A model is given as model=; "
    "arrays become a study by wg.Study.from_arrays(...)."
)
NO_STUDY = (
    "explain needs a Study, or two tables and the outcome's column. Got no {}. "
    'wg.explain(source, target, outcome="readmitted", prediction="risk").'
)
BESIDE = (
    "Roles and target are named in the Study, not beside it. Got {}. explain(study, detail=..., "
    "settings=...) explains it; for two tables write explain(source, target, outcome=...)."
)
PER_ROW = (
    ' Name one of ours (metric="accuracy"), or give a callable(prediction, outcome) with one value '
    "per row."
)


SparkFrame = type("DataFrame", (), {"__module__": "pyspark.sql.classic.dataframe"})


def source(table: Any) -> wg.Study:
    return wg.Study(table, tables()[1], outcome="y", prediction="risk")


Case = tuple[Callable[[], Any], type[WhygapError], str]
CASES: dict[str, Case] = {
    "a setting that is not there": (
        lambda: wg.Settings(lerner="fast"),  # type: ignore[call-arg]
        SettingsError,
        "There is no setting 'lerner'. Did you mean 'learner'?",
    ),
    "too many settings": (
        lambda: wg.Settings(*range(99)),  # type: ignore[arg-type]
        SettingsError,
        (
            "Every setting is given by its name. Names: 'learner', 'folds', 'repeats', 'subsets', "
            "'sampling_error' and 10 more."
        ),
    ),
    "a role that is not there": (
        lambda: make_study(basline=["w"]),
        InputError,
        "There is no argument 'basline'. Did you mean 'baseline'?",
    ),
    "a study without an outcome": (
        lambda: wg.Study(*tables(), prediction="risk"),  # type: ignore[call-arg]
        InputError,
        "The argument 'outcome' is missing.",
    ),
    "settings as a dictionary": (
        lambda: wg.explain(make_study(), settings={"folds": 3}),  # type: ignore[arg-type]
        SettingsError,
        (
            "The settings must be a Settings. Got an object of type dict. "
            "Write settings=wg.Settings(folds=5, seed=0)."
        ),
    ),
    "a fitted model as prediction": (
        lambda: wg.explain(*tables(), outcome="y", prediction=LogisticRegression()),  # type: ignore[arg-type]
        InputError,
        COLUMN.format("LogisticRegression"),
    ),
    "an array as outcome": (
        lambda: wg.explain(*tables(), outcome=np.zeros(3), prediction="risk"),  # type: ignore[arg-type]
        InputError,
        COLUMN.format("ndarray"),
    ),
    "a number as weights": (
        lambda: make_study(weights=3),
        InputError,
        "The argument 'weights' must be text. Got 3.",
    ),
    "a covariate by its number": (
        lambda: make_study(covariates=["a", 1]),
        InputError,
        "The argument 'covariates' must be text. Got 1.",
    ),
    "an order that is not there": (
        lambda: make_study(order="outcome frist"),
        InputError,
        (
            "The argument 'order' must be 'covariates first' or 'outcome first'. "
            "Got 'outcome frist'. Did you mean 'outcome first'?"
        ),
    ),
    "a threshold in percent": (
        lambda: make_study(threshold=50),
        InputError,
        "The argument 'threshold' must be less than or equal to 1. Got 50.",
    ),
    "a sample of a few rows": (
        lambda: make_study(sample=999),
        InputError,
        "The argument 'sample' must be greater than or equal to 1000. Got 999.",
    ),
    "the outcome as target": (
        lambda: wg.explain(tables()[0], target="y", prediction="risk"),
        InputError,
        (
            "target= is the second table, not a column. Got 'y'. "
            "The column of outcomes is named by outcome='y'."
        ),
    ),
    "no target": (
        lambda: wg.explain(tables()[0], outcome="y"),
        InputError,
        NO_STUDY.format("target"),
    ),
    "no outcome": (
        lambda: wg.explain(*tables(), prediction="risk"),
        InputError,
        NO_STUDY.format("outcome"),
    ),
    "a role beside a study": (
        lambda: wg.explain(make_study(), metric="auc", outcome="y"),
        InputError,
        BESIDE.format("outcome, metric"),
    ),
    "a target beside a study": (
        lambda: wg.explain(make_study(), tables()[1]),
        InputError,
        BESIDE.format("target"),
    ),
    "a setting out of range beside a study": (
        lambda: wg.explain(make_study(), folds=1),
        SettingsError,
        "The setting 'folds' must be greater than or equal to 3. Got 1.",
    ),
    "check of a table": (
        lambda: wg.check(tables()[0]),  # type: ignore[arg-type]
        InputError,
        "check needs a Study. Got an object of type DataFrame." + NEEDS,
    ),
    "a metric of scikit-learn's that we do not have": (
        lambda: make_study(metric=metrics.cohen_kappa_score),
        SettingsError,
        "The metric 'cohen_kappa_score' of scikit-learn gives one number for all rows." + PER_ROW,
    ),
    "a scorer of scikit-learn's that we do not have": (
        lambda: make_study(metric=metrics.make_scorer(metrics.hamming_loss)),
        SettingsError,
        "The metric 'hamming_loss' of scikit-learn gives one number for all rows." + PER_ROW,
    ),
    "no table": (
        lambda: source(None),
        TableError,
        ACCEPTED + "NoneType. A function that makes it may lack its 'return'.",
    ),
    "rows as dictionaries": (
        lambda: source([{"a": 1}, {"a": 2}]),
        TableError,
        ACCEPTED + "list. Name the columns first, for example with pandas.DataFrame(...).",
    ),
    "columns as a dictionary": (
        lambda: source({"a": np.zeros(3)}),
        TableError,
        ACCEPTED + "dict. Name the columns first, for example with pandas.DataFrame(...).",
    ),
    "an array": (
        lambda: source(np.zeros((3, 2))),
        TableError,
        ACCEPTED + "ndarray. Name the columns first, for example with pandas.DataFrame(...).",
    ),
    "a generator of rows": (
        lambda: source(row for row in ({"a": 1}, {"a": 2})),
        TableError,
        ACCEPTED + "generator. Name the columns first, for example with pandas.DataFrame(...).",
    ),
    "a Spark frame": (
        lambda: source(SparkFrame()),
        TableError,
        ACCEPTED + "DataFrame. Use table.toPandas(), or write it as Parquet and give the path.",
    ),
    "a detail that was not asked for": (
        lambda: make_gap(outcome=None).shares["outcome"],
        ResultError,
        "This result has no 'shares' of the part 'outcome'. It has: covariate.",
    ),
    "a detail of which there is nothing": (
        lambda: make_gap(culprits=()).affected["outcome"],
        ResultError,
        (
            "This result has no 'affected' of the part 'outcome'. "
            'Ask for it: wg.explain(study, detail="affected").'
        ),
    ),
    "a part that there is not": (
        lambda: make_gap().shares["outcom"],
        ResultError,
        "This result has no 'shares' of the part 'outcom'. Did you mean 'outcome'?",
    ),
    "an empty part": (
        lambda: subset_values(make_study(), "", [["a"]]),
        SettingsError,
        "There is no detailed part ''. Parts are 'covariate' and 'outcome'.",
    ),
    "two parts where one is asked for": (
        lambda: subset_values(make_study(), ["covariate", "outcome"], [["a"]]),  # type: ignore[arg-type]
        SettingsError,
        "part= names one part: 'covariate' or 'outcome'. Got ['covariate', 'outcome'].",
    ),
    "subsets that are none": (
        lambda: subset_values(make_study(), "outcome", 3),  # type: ignore[arg-type]
        InputError,
        'The subsets must be lists of players. Got an object of type int. [["a"], ["b"]].',
    ),
    "a subset of numbers": (
        lambda: subset_values(make_study(), "outcome", [[1]]),  # type: ignore[list-item]
        InputError,
        "A subset must be a list of names. Got an object of type int.",
    ),
    "a level in words": (
        lambda: make_gap().summary("high"),  # type: ignore[arg-type]
        InputError,
        "The level of an interval must be a number. Got an object of type str.",
    ),
    "a level of nought": (
        lambda: make_gap().summary(0),
        InputError,
        "The level of an interval must lie between 0 and 1. Got 0. Try 0.95.",
    ),
    "a p-value for nothing": (
        lambda: make_gap().total.p_value(None),  # type: ignore[arg-type]
        InputError,
        "The value a p-value is for must be a number. Got an object of type NoneType.",
    ),
    "a flag that is none": (
        lambda: make_gap().to_dict(influence="yes"),  # type: ignore[arg-type]
        InputError,
        "influence= must be True or False. Got an object of type str.",
    ),
    "load nothing": (
        lambda: wg.load(None),  # type: ignore[arg-type]
        ResultError,
        "A result file must be named by a path. Got an object of type NoneType.",
    ),
}


@pytest.mark.parametrize("kind", CASES)
def test_a_mistaken_call_is_told_what_to_write(kind: str) -> None:
    call, error, message = CASES[kind]
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (metrics.accuracy_score, "accuracy"),
        (metrics.brier_score_loss, "brier"),
        (metrics.log_loss, "log_loss"),
        (metrics.zero_one_loss, "zero_one"),
        (metrics.make_scorer(metrics.accuracy_score), "accuracy"),
    ],
)
def test_the_known_metrics_of_scikit_learn_are_ours(function: Any, name: str) -> None:
    assert make_study(metric=function).design.metric.name == name


ENDINGS = {
    "gap.csv": "The table of all estimates is gap.to_frame(), or: whygap show gap.json -o gap.csv.",
    "gap.pdf": "Write .html and print it from a browser; gap.plot().savefig(path) draws one "
    "figure.",
    "gap.png": "gap.plot().savefig(path) draws it.",
    "gap.pkl": "gap.save(path) writes JSON, no pickle.",
    "study.toml": "That is the ending of a study file, which is not written over.",
}


@pytest.mark.parametrize("name", ENDINGS)
def test_a_file_of_another_kind_is_not_written(name: str, tmp_path: Path) -> None:
    gap = make_gap()
    with pytest.raises(ResultError) as caught:
        gap.save(tmp_path / name)
    assert str(caught.value) == f"A result is saved as JSON. Got '{name}'. {ENDINGS[name]}"
    for made in (gap, Gaps({"b": gap})):
        with pytest.raises(ResultError) as caught:
            made.report(tmp_path / name)
        assert str(caught.value) == f"A report is a page of HTML. Got '{name}'. {ENDINGS[name]}"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("influence", [False, True])
def test_the_result_as_values_and_as_text_is_what_is_saved(influence: bool, tmp_path: Path) -> None:
    gap = make_gap()
    saved = gap.save(tmp_path / "gap.json", influence=influence).read_text(encoding="utf-8")
    assert to_text(gap, influence=influence) == saved
    assert gap.to_dict(influence=influence) == json.loads(saved)
