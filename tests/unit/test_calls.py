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
from small_study import make_study, tables

import whygap as wg
from whygap._many import Many
from whygap.errors import InputError, ResultError, SettingsError, TableError, WhygapError

ACCEPTED = (
    "The source table must be a pandas, polars or pyarrow table, an Arrow stream, a duckdb "
    "relation, or a path to "
    ".csv, .xlsx or .parquet. Got an object of type "
)
NEEDS = ' study = wg.Study(source, target, outcome="readmitted", prediction="risk").'
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
        "Settings cannot be made of these arguments. Got too many positional arguments.",
    ),
    "a role that is not there": (
        lambda: make_study(basline=["w"]),
        InputError,
        "There is no argument 'basline'. Did you mean 'baseline'?",
    ),
    "a study without an outcome": (
        lambda: wg.Study(*tables(), prediction="risk"),  # type: ignore[call-arg]
        InputError,
        "Study cannot be made of these arguments. Got missing a required argument: 'outcome'.",
    ),
    "settings as a dictionary": (
        lambda: wg.explain(make_study(), settings={"folds": 3}),  # type: ignore[arg-type]
        SettingsError,
        (
            "The settings must be a Settings. Got an object of type dict. "
            "Write settings=wg.Settings(folds=5, seed=0)."
        ),
    ),
    "check of a table": (
        lambda: wg.check(tables()[0]),  # type: ignore[arg-type]
        InputError,
        "check needs a Study. Got an object of type DataFrame." + NEEDS,
    ),
    "compare nothing": (
        lambda: wg.compare(None),
        InputError,
        "compare needs a Study. Got an object of type NoneType." + NEEDS,
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
        lambda: make_gap(outcome=None).detail("outcome"),
        ResultError,
        (
            "The detail 'outcome' is not in this result. "
            'Ask for it: wg.explain(study, detail="outcome").'
        ),
    ),
    "a detail that there is not": (
        lambda: make_gap().detail("outcom"),
        ResultError,
        "There is no detail 'outcom'. Did you mean 'outcome'?",
    ),
    "an empty part": (
        lambda: wg.subset_values(make_study(), "", [["a"]]),
        SettingsError,
        "There is no detailed part ''. Parts are 'covariate' and 'outcome'.",
    ),
    "two parts where one is asked for": (
        lambda: wg.subset_values(make_study(), ["covariate", "outcome"], [["a"]]),  # type: ignore[arg-type]
        SettingsError,
        "part= names one part: 'covariate' or 'outcome'. Got ['covariate', 'outcome'].",
    ),
    "subsets that are none": (
        lambda: wg.subset_values(make_study(), "outcome", 3),  # type: ignore[arg-type]
        InputError,
        'The subsets must be lists of players. Got an object of type int. [["a"], ["b"]].',
    ),
    "a subset of numbers": (
        lambda: wg.subset_values(make_study(), "outcome", [[1]]),  # type: ignore[list-item]
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
        lambda: make_gap().aggregate.gap.p_value(None),  # type: ignore[arg-type]
        InputError,
        "The value a p-value is for must be a number. Got an object of type NoneType.",
    ),
    "a graph that is none": (
        lambda: wg.compare(make_study(), ["mean_change"], graph=("w",)),  # type: ignore[arg-type]
        SettingsError,
        "The graph must map each variable to its parents. Got an object of type tuple.",
    ),
    "something else than a result": (
        lambda: wg.revise(make_study(), "gap.json"),  # type: ignore[arg-type]
        ResultError,
        (
            "gap= must be a result of explain. Got an object of type str. "
            "gap = wg.explain(study), or wg.load(path)."
        ),
    ),
    "a flag that is none": (
        lambda: make_gap().to_dict(influence="yes"),  # type: ignore[arg-type]
        InputError,
        "influence= must be True or False. Got an object of type str.",
    ),
    "too much for explain": (
        lambda: wg.explain(make_study(), (), wg.Settings(), 3),
        InputError,
        "explain takes a study, detail and settings. Got 4 arguments.",
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
    assert make_study(metric=function).metric_.name == name


ENDINGS = {
    "gap.csv": "The table of all estimates is gap.to_frame(), or: whygap table gap.json "
    "--format csv.",
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
    for made in (gap, Many({"b": gap})):
        with pytest.raises(ResultError) as caught:
            made.report(tmp_path / name)
        assert str(caught.value) == f"A report is a page of HTML. Got '{name}'. {ENDINGS[name]}"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("influence", [False, True])
def test_the_result_as_values_and_as_text_is_what_is_saved(influence: bool, tmp_path: Path) -> None:
    gap = make_gap()
    saved = gap.save(tmp_path / "gap.json", influence=influence).read_text(encoding="utf-8")
    assert gap.to_json(influence=influence) == saved
    assert gap.to_dict(influence=influence) == json.loads(saved)


def test_a_detail_by_its_name() -> None:
    gap = make_gap()
    assert gap.detail("outcome") is gap.outcome
    assert make_gap(outcome=None).outcome is None
