"""Every kind of bad input, with the full message it gets."""

from __future__ import annotations

import datetime
import gzip
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from table_factory import source_and_target

from whygap.errors import InputError, TableError
from whygap.study import Study

HINT_FILE = "The file may be damaged, half-written, or of another format than its name says."


def given(**changes: Any) -> dict[str, Any]:
    source, target = source_and_target()
    base = {"source": source, "target": target, "outcome": "y", "prediction": "risk"}
    return {**base, "baseline": ["age", "sex"], "clusters": "patient", **changes}


def columns(**values: Any) -> dict[str, Any]:
    """Both tables with columns replaced; a callable makes them from the table."""
    source, target = (table.assign(**values) for table in source_and_target())
    return given(source=source, target=target)


def only_source(**values: Any) -> dict[str, Any]:
    return given(source=source_and_target()[0].assign(**values))


def only_target(**values: Any) -> dict[str, Any]:
    return given(target=source_and_target()[1].assign(**values))


def pick(*values: Any) -> Callable[[pd.DataFrame], Any]:
    return lambda table: np.resize(np.array(values, dtype=object), len(table))


def first_rows(rows: int, **changes: Any) -> dict[str, Any]:
    source, target = source_and_target()
    return given(source=source.head(rows), target=target, **changes)


def doubled_names() -> dict[str, Any]:
    source, target = source_and_target()
    source.columns = ["age", "age", *source.columns[2:]]
    return given(source=source, target=target)


def numbered_names() -> dict[str, Any]:
    source, target = source_and_target()
    return given(source=source.rename(columns={"age": 7}), target=target)


def needs_name() -> dict[str, Any]:
    return {**columns(y=pick(1, 2)), "positive": None}


CASES = {
    "missing baseline column": (lambda: given(baseline=["age", "sexx"]),
        "ColumnError: Column 'sexx' (baseline) is not in source. Did you mean 'sex'?"),
    "column missing in target only": (
        lambda: given(target=source_and_target()[1].rename(columns={"sex": "Sex"})),
        "ColumnError: Column 'sex' (baseline) is not in target. Did you mean 'Sex'?"),
    "missing outcome column": (lambda: given(outcome="readmitted"),
        "ColumnError: Column 'readmitted' (outcome) is not in source."),
    "missing prediction column": (lambda: given(prediction="Risk"),
        "ColumnError: Column 'Risk' (prediction) is not in source. Did you mean 'risk'?"),
    "one column in two roles": (lambda: given(baseline=["age", "risk"]),
        ("ColumnError: Column 'risk' has two roles: prediction and baseline. Each column has one "
        "role.")),
    "a column named twice in a role": (lambda: given(baseline=["age", "age"]),
        "ColumnError: Column 'age' is named twice in baseline. Name it once."),
    "baseline holds a number": (lambda: given(baseline=["age", 3]),
        "InputError: The argument 'baseline' must be text. Got 3."),
    "group of a column that is no covariate": (lambda: given(groups={"who": ["visit"]}),
        "ColumnError: Column 'visit' (group 'who') is not a covariate. Did you mean 'visits'?"),
    "column in two groups": (lambda: given(groups={"a": ["visits"], "b": ["visits", "smoker"]}),
        ("ColumnError: Column 'visits' is in two groups: 'a' and 'b'. Each covariate belongs to "
        "one group.")),
    "group with a covariate's name": (lambda: given(groups={"smoker": ["visits"]}),
        ("ColumnError: Group 'smoker' has the name of a covariate that is not in it. Give the "
        "group another name.")),
    "no covariate left": (lambda: given(covariates=[]),
        ("ColumnError: No column is left to be a covariate. Every column has another role; name "
        "at least one covariate.")),
    "no prediction and no model": (lambda: given(prediction=None),
        ("SettingsError: A study needs either prediction= or model=. Got neither. prediction= "
        "names a column; model= is a fitted model or a callable.")),
    "both prediction and model": (lambda: given(model=len),
        ("SettingsError: A study needs either prediction= or model=. Got both. prediction= names "
        "a column; model= is a fitted model or a callable.")),
    "unknown metric": (lambda: given(metric="acuracy"),
        "SettingsError: There is no metric 'acuracy'. Did you mean 'accuracy'?"),
    "threshold out of range": (lambda: given(threshold=50),
        "InputError: The argument 'threshold' must be less than or equal to 1. Got 50."),
    "a dict instead of a table": (lambda: given(source={"age": [1, 2]}),
        ("TableError: The source table must be a pandas, polars or pyarrow table, an Arrow "
        "stream, a duckdb relation, or a path to .csv, .xlsx or .parquet. Got an object of type "
        "dict. Name the columns first, for example with pandas.DataFrame(...).")),
    "empty table": (lambda: given(target=source_and_target()[1].head(0)),
        "TableError: The target table has no rows."),
    "table without columns": (lambda: given(source=pd.DataFrame(index=range(5))),
        "TableError: The source table has no columns."),
    "duplicate column names": (doubled_names,
        ("TableError: The source table has more than one column named 'age'. Rename or drop the "
        "extra ones.")),
    "column names that are numbers": (numbered_names,
        ("TableError: Column names of the source table must be text. Got 7 (int). In pandas: "
        "table.columns = table.columns.map(str).")),
    "different columns": (lambda: only_source(bmi=1.0, site="A"),
        ("TableError: The two tables have different columns. Got only in source: 'bmi', 'site'. "
        "Drop these columns, or say which ones to use with covariates=[...].")),
    "outcome with one value": (lambda: columns(y=1),
        ("ColumnError: The outcome 'y' has one distinct value. Got 1. Two are needed: with one "
        "value there is nothing to predict.")),
    "outcome with three values": (lambda: columns(y=pick(0, 1, 2)),
        ("ColumnError: It is not clear what the outcome 'y' is: classes or amounts. Got 3 "
        "distinct values from 0 to 2, and predictions from 0 to 1. Say it: task='multiclass' or "
        "task='regression'.")),
    "outcome {1, 2} without positive": (needs_name,
        ("ColumnError: It is not clear which value of the outcome 'y' counts as 1. Got values 1 "
        "and 2. Say it: positive=2.")),
    "outcome of two texts without positive": (lambda: columns(y=pick("ill", "well")),
        ("ColumnError: It is not clear which value of the outcome 'y' counts as 1. Got values "
        "'ill' and 'well'. Say it: positive='well'.")),
    "positive is not a value": (lambda: {**columns(y=pick("ill", "well")), "positive": "il"},
        ("ColumnError: positive='il' is not a value of the outcome 'y'. Got values 'ill' and "
        "'well'. Did you mean 'ill'?")),
    "infinite outcome": (lambda: only_target(y=pick(0.0, 1.0, np.inf)),
        ("ColumnError: The outcome 'y' holds 60 infinite values in target. Only finite values "
        "are allowed.")),
    "outcome missing everywhere": (lambda: only_target(y=np.nan),
        "ColumnError: The outcome 'y' is missing in every row of target."),
    "outcome is a date": (lambda: columns(y=datetime.datetime(2020, 1, 1)),
        "ColumnError: The outcome 'y' holds dates or times in source. Turn it into yes/no first."),
    "one outcome value is too rare": (lambda: only_source(y=pick(*[1] * 179, 0)),
        ("TableError: The outcome 'y' equals 0 in too few source rows. Got 1. At least 5 rows of "
        "each outcome value are needed in each domain.")),
    "too few rows": (lambda: first_rows(30),
        ("TableError: The source table has too few usable rows. Got 30. At least 50 rows with "
        "outcome and prediction are needed.")),
    "prediction in percent": (lambda: columns(risk=lambda t: 100 * t["risk"].clip(0.01, 0.99)),
        ("ColumnError: The prediction 'risk' must be a probability from 0 to 1, or a label. Got "
        "values from 11.92 to 88.08 in source. It looks like percent: divide by 100.")),
    "prediction is a logit": (lambda: columns(risk=lambda t: (t["visits"] - 4.5) / 2),
        ("ColumnError: The prediction 'risk' must be a probability from 0 to 1, or a label. Got "
        "values from -2.25 to 1.75 in source. It looks like a score or logit: turn it into a "
        "probability first.")),
    "prediction of other labels": (
        lambda: {**columns(y=pick("no", "yes"), risk=pick("no", "Yes")), "positive": "yes"},
        ("ColumnError: The prediction 'risk' holds 'Yes', which is not a value of the outcome. "
        "Got outcome values 'no', 'yes'. Did you mean 'yes'?")),
    "infinite prediction": (lambda: only_source(risk=pick(0.5, np.inf)),
        "ColumnError: The prediction 'risk' holds 120 infinite values in source."),
    "prediction missing everywhere": (lambda: only_source(risk=None),
        "ColumnError: The prediction 'risk' is missing in every row of source."),
    "log loss of a sure prediction": (
        lambda: {**columns(risk=lambda t: (t["visits"] / 8).round(3)), "metric": "log_loss"},
        ("ColumnError: The metric 'log_loss' is not finite at some predictions. Got inf at "
        "prediction 1. For log loss, probabilities must lie strictly between 0 and 1.")),
    "named column is constant": (lambda: {**columns(sex="f")},
        ("ColumnError: Column 'sex' has one single value in both tables. Leave it out: it cannot "
        "explain a gap.")),
    "named column is missing everywhere": (lambda: {**columns(sex=None)},
        "ColumnError: Column 'sex' is missing in every row of both tables. Leave it out."),
    "only constant columns": (
        lambda: given(**{name: table[["y", "risk"]].assign(a=1)
            for name, table in zip(("source", "target"), source_and_target(), strict=True)},
            baseline=[], clusters=None),
        ("ColumnError: No usable covariate is left. Every covariate has one single value or is "
        "missing everywhere.")),
    "column missing in one table": (lambda: only_target(region=None),
        ("ColumnError: Column 'region' is missing in every row of target. It cannot be compared: "
        "drop it, or list covariates=[...] without it.")),
    "identifier of text": (lambda: columns(code=lambda t: [f"c{i}" for i in range(len(t))]),
        ("ColumnError: Column 'code' looks like an identifier: it differs in every row. Drop it, "
        "or, if it says which rows belong together, clusters='code'.")),
    "identifier of numbers": (lambda: columns(number=lambda t: np.arange(len(t))),
        ("ColumnError: Column 'number' looks like an identifier: it differs in every row. Drop "
        "it, or, if it says which rows belong together, clusters='number'.")),
    "column of lists": (lambda: columns(notes=lambda t: [[1, 2]] * len(t)),
        ("ColumnError: Column 'notes' of source holds values that are neither numbers, text nor "
        "dates. Got type list<item: int64>. Drop it, or turn it into plain columns.")),
    "a date in one table, a number in the other": (
        lambda: only_target(day=lambda t: np.arange(len(t)) / 7),
        ("ColumnError: Column 'day' is of different kinds in the two tables. Got date in source, "
        "number in target. Give it the same type in both tables.")),
    "negative weights": (lambda: {**only_source(weight=pick(1.0, -2.0)), "weights": "weight"},
        "ColumnError: Column 'weight' (weights) is negative in 120 rows of source. Got -2."),
    "weights all zero": (lambda: {**only_target(weight=0.0), "weights": "weight"},
        "ColumnError: Column 'weight' (weights) is zero in every row of target."),
    "missing weights": (lambda: {**only_target(weight=pick(1.0, None)), "weights": "weight"},
        ("ColumnError: Column 'weight' (weights) is missing in 90 rows of target. Fill the "
        "values in, or drop these rows.")),
    "weights of text": (lambda: given(weights="region"),
        "ColumnError: Column 'region' (weights) must hold numbers. Got text in source."),
    "missing clusters": (lambda: only_source(patient=pick(1, None)),
        ("ColumnError: Column 'patient' (clusters) is missing in 120 rows of source. Every row "
        "needs a cluster; give single rows a name of their own.")),
    "source risk outside (0, 1)": (
        lambda: {**columns(known=lambda t: t["visits"] / 8), "source_risk": "known"},
        ("ColumnError: Column 'known' (source_risk) must lie strictly between 0 and 1. Got "
        "values from 0 to 1 in source.")),
}  # fmt: skip


@pytest.mark.parametrize("kind", CASES)
def test_bad_input_gets_its_own_message(kind: str) -> None:
    make, message = CASES[kind]
    with pytest.raises(InputError) as caught:
        _ = Study(**make()).design
    assert f"{type(caught.value).__name__}: {caught.value}" == message


def bad_file(name: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        path = folder / name
        source = source_and_target()[0]
        if name == "half.parquet":
            source.to_parquet(path)
            path.write_bytes(path.read_bytes()[:2000])
        elif name == "half.csv.gz":
            path.write_bytes(gzip.compress(source.to_csv().encode())[:2000])
        elif name == "ragged.csv":
            path.write_text("a,b\n1,2\n1,2,3\n")
        elif name == "odd.sav":
            path.write_bytes(b"$FL2")
        elif name == "empty.csv":
            path.write_text("")
        return path

    return write


FILES: dict[str, str] = {
    "half.parquet": "The source table '{path}' cannot be read. Got {foreign} " + HINT_FILE,
    "half.csv.gz": "The source table '{path}' cannot be read. Got {foreign} " + HINT_FILE,
    "ragged.csv": "The source table '{path}' cannot be read. Got 3 fields in line 3, where the "
    "first has 2. " + HINT_FILE,
    "odd.sav": "The source table '{path}' is of an unknown format. Got '.sav'. "
    "Use .csv, .tsv (or .gz of these), .xlsx or .parquet, or read it yourself and pass the table.",
    "empty.csv": "The source table '{path}' cannot be read. Got {foreign} " + HINT_FILE,
    "absent.csv": "The source table '{path}' does not exist.",
}


@pytest.mark.parametrize("name", FILES)
def test_bad_files_get_their_own_message(name: str, tmp_path: Path) -> None:
    path = bad_file(name)(tmp_path)
    with pytest.raises(TableError) as caught:
        _ = Study(**given(source=path)).design
    before, _, after = FILES[name].replace("{path}", str(path)).partition("{foreign}")
    message = str(caught.value)
    assert message.startswith(before)
    assert message.endswith(after)
    assert len(message) > len(before + after) or "{foreign}" not in FILES[name]


def test_a_close_file_name_is_suggested(tmp_path: Path) -> None:
    source_and_target()[0].to_csv(tmp_path / "source.csv", index=False)
    with pytest.raises(TableError) as caught:
        Study(**given(source=tmp_path / "sourc.csv"))
    assert str(caught.value) == (
        f"The source table '{tmp_path / 'sourc.csv'}' does not exist. Did you mean 'source.csv'?"
    )


def test_files_of_a_folder_must_have_the_same_columns(tmp_path: Path) -> None:
    source = source_and_target()[0]
    source.to_csv(tmp_path / "a.csv", index=False)
    source.drop(columns="sex").to_csv(tmp_path / "b.csv", index=False)
    with pytest.raises(TableError) as caught:
        Study(**given(source=tmp_path))
    assert str(caught.value) == (
        "The files of the source table have different columns. "
        "Got 'sex' in only one of a.csv and b.csv."
    )


def test_a_folder_holds_one_format(tmp_path: Path) -> None:
    source = source_and_target()[0]
    source.to_csv(tmp_path / "a.csv", index=False)
    source.to_parquet(tmp_path / "b.parquet")
    with pytest.raises(TableError) as caught:
        Study(**given(source=tmp_path))
    assert str(caught.value) == (
        f"The files of '{tmp_path}' (source) are of several kinds. "
        "Got .csv, .parquet. Name the files with a glob, for example 'folder/*.parquet'."
    )


def test_a_lazy_table_that_fails() -> None:
    lazy = pl.from_pandas(source_and_target()[0]).lazy().select(pl.col("nothing"))
    with pytest.raises(TableError) as caught:
        Study(**given(source=lazy))
    assert str(caught.value).startswith(
        "The source table cannot be read. Got ColumnNotFoundError: unable to find column"
    )


EXTRAS = {
    "duckdb": ({"source": "SELECT * FROM 'a.parquet'"}, "The source table is a query, which"),
    "onnxruntime": ({"model": "{folder}/model.onnx"}, "The model '{folder}/model.onnx'"),
    "skops": ({"model": "{folder}/model.skops"}, "The model '{folder}/model.skops'"),
}


@pytest.mark.parametrize("package", EXTRAS)
def test_a_missing_extra_is_named(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes, message = EXTRAS[package]
    for name in ("model.onnx", "model.skops"):
        (tmp_path / name).write_bytes(b"")
    already = [name for name in sys.modules if name.startswith(f"{package}.")]
    for name in (package, *already):
        monkeypatch.setitem(sys.modules, name, None)
    filled = {k: v.replace("{folder}", str(tmp_path)) for k, v in changes.items()}
    with pytest.raises(InputError) as caught:
        Study(**given(**({"prediction": None} if "model" in changes else {}), **filled))
    extra = package.removesuffix("runtime")
    assert str(caught.value) == (
        message.replace("{folder}", str(tmp_path))
        + f" needs {package}. Install it: pip install 'whygap[{extra}]'."
    )


def test_a_query_that_fails() -> None:
    with pytest.raises(TableError) as caught:
        Study(**given(source="SELECT * FROM 'no_such_file.parquet'"))
    message = str(caught.value)
    assert message.startswith("The query of the source table failed. Got IO Error: No files found")
