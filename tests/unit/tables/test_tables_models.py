"""Models of every kind give the same design as a bare prediction column."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from table_factory import source_and_target

import whygap as wg
from whygap.errors import ModelError
from whygap.study import Study
from whygap.tables.model import predictor_of

NUMBERS = ["age", "visits", "weight"]
ROLES: dict[str, Any] = {"outcome": "y", "baseline": ["age"], "metric": "brier"}


@pytest.fixture(scope="module")
def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    source, target = (
        table.drop(columns=["risk", "patient", "day", "region"]).fillna({"age": 50.0})
        for table in source_and_target()
    )
    return source, target


@pytest.fixture(scope="module")
def logistic(tables: tuple[pd.DataFrame, pd.DataFrame]) -> Any:
    order = ["visits", "age", "weight"]
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(
        tables[0][order], tables[0]["y"]
    )


def predicted(table: pd.DataFrame, model: Any) -> pd.DataFrame:
    return table.assign(p=model.predict_proba(table[list(model.feature_names_in_)])[:, 1])


def by_column(tables: tuple[pd.DataFrame, pd.DataFrame], model: Any) -> Study:
    source, target = (predicted(table, model) for table in tables)
    return Study(source=source, target=target, prediction="p", **ROLES)


def by_model(tables: tuple[Any, Any], model: Any, **more: Any) -> Study:
    return Study(source=tables[0], target=tables[1], model=model, **{**ROLES, **more})


def assert_same_predictions(study: Study, reference: Study, atol: float = 1e-12) -> None:
    for mine, theirs in zip(study.design.prediction, reference.design.prediction, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=atol)
    for mine, theirs in zip(study.design.features, reference.design.features, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_an_estimator_gets_its_columns_in_trained_order(tables: Any, logistic: Any) -> None:
    study = by_model(tables, logistic)
    assert study.model_scoring is not None
    assert list(study.model_scoring.columns) == ["visits", "age", "weight"]
    assert_same_predictions(study, by_column(tables, logistic))


@pytest.mark.parametrize("convert", [pl.from_pandas, pa.Table.from_pandas])
def test_an_estimator_on_other_kinds_of_table(tables: Any, logistic: Any, convert: Any) -> None:
    study = by_model(tuple(convert(table) for table in tables), logistic)
    assert_same_predictions(study, by_column(tables, logistic))


def test_an_estimator_on_files(tables: Any, logistic: Any, tmp_path: Path) -> None:
    for name, table in zip(("source", "target"), tables, strict=True):
        table.to_parquet(tmp_path / f"{name}.parquet")
    study = by_model((tmp_path / "source.parquet", tmp_path / "target.parquet"), logistic)
    assert_same_predictions(study, by_column(tables, logistic))


def test_a_callable_gets_the_callers_own_table(tables: Any, logistic: Any) -> None:
    seen = []

    def ask(table: Any) -> Any:
        seen.append((type(table), list(table.columns)))
        return logistic.predict_proba(table[["visits", "age", "weight"]])[:, 1]

    assert_same_predictions(by_model(tables, ask), by_column(tables, logistic))
    assert seen == [(pd.DataFrame, ["age", "sex", "visits", "smoker", "weight"])] * 2


def test_a_bound_method_speaks_for_its_estimator(tables: Any, logistic: Any) -> None:
    assert_same_predictions(by_model(tables, logistic.predict_proba), by_column(tables, logistic))


def test_a_pipeline_with_categories(tables: Any) -> None:
    model = make_pipeline(
        ColumnTransformer([("hot", OneHotEncoder(), ["sex"])], remainder="passthrough"),
        LogisticRegression(max_iter=1000),
    ).fit(tables[0][["sex", "visits"]], tables[0]["y"])
    assert_same_predictions(by_model(tables, model), by_column(tables, model))


def test_an_estimator_trained_on_numbers_only(tables: Any) -> None:
    model = LogisticRegression().fit(tables[0][NUMBERS].to_numpy(), tables[0]["y"])
    study = by_model(tables, model, covariates=["visits", "weight"])
    np.testing.assert_allclose(
        study.design.prediction.source, model.predict_proba(tables[0][NUMBERS].to_numpy())[:, 1]
    )


def test_a_lightgbm_classifier_with_blanks_in_names(tables: Any) -> None:
    source, target = (table.rename(columns={"visits": "number of visits"}) for table in tables)
    model = lightgbm.LGBMClassifier(n_estimators=5, verbosity=-1, n_jobs=1).fit(
        source[["number of visits", "age"]], source["y"]
    )
    study = by_model((source, target), model)
    expected = model.predict_proba(source[["number of visits", "age"]])[:, 1]
    np.testing.assert_allclose(study.design.prediction.source, expected)


def test_an_onnx_file(tables: Any, logistic: Any, tmp_path: Path) -> None:
    skl2onnx = pytest.importorskip("skl2onnx")
    kind = skl2onnx.common.data_types.FloatTensorType
    matrix = skl2onnx.to_onnx(
        logistic, initial_types=[("X", kind([None, 3]))], options={"zipmap": False}
    )
    (tmp_path / "matrix.onnx").write_bytes(matrix.SerializeToString())
    named = skl2onnx.to_onnx(
        logistic, initial_types=[(name, kind([None, 1])) for name in ("visits", "age", "weight")]
    )
    (tmp_path / "named.onnx").write_bytes(named.SerializeToString())
    reference = by_column(tables, logistic)
    assert_same_predictions(by_model(tables, tmp_path / "named.onnx"), reference, atol=1e-6)
    source, target = (table[["visits", "age", "weight", "y"]] for table in tables)
    study = by_model((source, target), str(tmp_path / "matrix.onnx"))
    for mine, theirs in zip(study.design.prediction, reference.design.prediction, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-6)


def explained(study: Study) -> Any:
    """Every number of the analysis, in the order of the tidy table."""
    settings = wg.Settings(learner="fast", folds=3, progress=False)
    table = wg.explain(study, detail=(), settings=settings).to_frame()
    return table[["estimate", "standard_error", "low", "high"]].to_numpy()


def test_one_model_in_every_form_gives_the_same_numbers(
    tables: Any, logistic: Any, tmp_path: Path
) -> None:
    skl2onnx, skops_io = pytest.importorskip("skl2onnx"), pytest.importorskip("skops.io")
    kind = skl2onnx.common.data_types.FloatTensorType
    columns = list(logistic.feature_names_in_)
    inputs = [(name, kind([None, 1])) for name in columns]
    onnx = skl2onnx.to_onnx(logistic, initial_types=inputs)
    (tmp_path / "model.onnx").write_bytes(onnx.SerializeToString())
    skops_io.dump(logistic, tmp_path / "model.skops")
    reference = explained(by_column(tables, logistic))
    assert np.isfinite(reference).all()
    exact = {
        "estimator": logistic,
        "bound method": logistic.predict_proba,
        "callable": lambda table: logistic.predict_proba(table[columns])[:, 1],
        "skops": tmp_path / "model.skops",
    }
    for name, model in exact.items():
        found = explained(by_model(tables, model))
        np.testing.assert_array_equal(found, reference, err_msg=name)
    single = explained(by_model(tables, tmp_path / "model.onnx"))
    np.testing.assert_allclose(single, reference, rtol=0, atol=1e-6)


def test_a_skops_file(tables: Any, logistic: Any, tmp_path: Path) -> None:
    skops_io = pytest.importorskip("skops.io")
    skops_io.dump(logistic, tmp_path / "model.skops")
    assert_same_predictions(by_model(tables, tmp_path / "model.skops"), by_column(tables, logistic))


def test_a_pickle_needs_the_flag(tables: Any, logistic: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(logistic))
    with pytest.raises(ModelError) as caught:
        by_model(tables, path)
    assert str(caught.value) == (
        f"The model '{path}' is a pickle, which can run any code when it is loaded. "
        "Use .onnx or .skops; or, if you trust it, unsafe_pickle=True (--unsafe-pickle)."
    )
    study = by_model(tables, path, unsafe_pickle=True)
    assert_same_predictions(study, by_column(tables, logistic))
    assert str(study.design.notes[0]) == (
        "The model 'model.pkl' was loaded from a pickle, which can run any code."
    )


def test_module_and_name(tables: Any, logistic: Any, tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "my_scoring.py").write_text(
        "def ask(table):\n    return 1 / (1 + 2.718281828 ** (4 - table['visits']))\n"
    )
    monkeypatch.chdir(tmp_path)
    study = by_model(tables, "my_scoring:ask")
    expected = 1 / (1 + 2.718281828 ** (4 - tables[0]["visits"]))
    np.testing.assert_allclose(study.design.prediction.source, expected)
    with pytest.raises(ModelError) as caught:
        by_model(tables, "my_scoring:answer")
    assert str(caught.value) == (
        "The model 'my_scoring:answer' cannot be imported. "
        "Got AttributeError: module 'my_scoring' has no attribute 'answer'."
    )


def test_text_classes_and_positive_first_in_order(tables: Any) -> None:
    source, target = (table.assign(y=np.where(table["y"] == 1, "ill", "well")) for table in tables)
    model = LogisticRegression().fit(source[["visits"]], source["y"])
    study = by_model((source, target), model, positive="ill")
    np.testing.assert_allclose(
        study.design.prediction.source, model.predict_proba(source[["visits"]])[:, 0]
    )
    labels = by_model((source, target), lambda t: model.predict(t[["visits"]]), positive="ill")
    np.testing.assert_array_equal(
        labels.design.prediction.source, model.predict(source[["visits"]]) == "ill"
    )


def test_scores_are_cut_at_zero(tables: Any) -> None:
    model = LinearSVC().fit(tables[0][["visits"]], tables[0]["y"])
    study = by_model(tables, model, metric="accuracy")
    np.testing.assert_array_equal(
        study.design.prediction.source, model.predict(tables[0][["visits"]])
    )


def test_a_model_that_needs_other_columns_is_noted(tables: Any, logistic: Any) -> None:
    design = by_model(tables, logistic, covariates=["visits"]).design
    assert str(design.notes[0]) == (
        "The model also uses 'weight', neither baseline nor covariate: differences that act "
        "through them are counted as outcome shift."
    )


def test_a_model_is_asked_in_batches(tables: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("whygap.tables.score.BATCH", 100)
    sizes = []

    def ask(table: Any) -> Any:
        sizes.append(len(table))
        return table["visits"] / 10

    _ = by_model(tables, ask).design
    assert sizes == [100, 100, 40, 100, 80]


class Listener:
    """A reporter that remembers what it was told."""

    def __init__(self) -> None:
        self.said: list[Any] = []

    def stage(self, text: str) -> None:
        self.said.append(text)

    def update(self, done: int, total: int, text: str) -> None:
        self.said.append((done, total, text))


def test_every_batch_is_told(tables: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("whygap.tables.score.BATCH", 100)
    study, listener = by_model(tables, lambda table: table["visits"] / 10), Listener()
    design = study.read(listener)
    batches = [(done, 420, "rows") for done in (100, 200, 240, 340, 420)]
    assert listener.said == ["reading tables", "asking the model", *batches]
    assert study.design is design
    assert study.read(listener) is design
    assert len(listener.said) == 2 + len(batches)


def test_nothing_is_said_of_a_model_where_there_is_none(tables: Any, logistic: Any) -> None:
    listener = Listener()
    by_column(tables, logistic).read(listener)
    assert listener.said == ["reading tables"]


def test_check_and_explain_show_the_progress_of_a_model(
    tables: Any, logistic: Any, capsys: Any
) -> None:
    quick = wg.Settings(learner="fast", folds=3, progress=True)
    wg.explain(by_model(tables, logistic), detail=(), settings=quick)
    expected = ["reading tables", "asking the model", "asking the model: 420 of 420, rows"]
    assert capsys.readouterr().err.splitlines()[:3] == expected
    wg.check(by_model(tables, logistic), quick)
    assert capsys.readouterr().err.splitlines() == expected


FAILURES: dict[str, tuple[Any, str]] = {
    "wrong number of answers": (
        lambda _: [0.5],
        "The model <lambda> must give one prediction per row. Got shape (1,) for 240 rows.",
    ),
    "answers missing": (
        lambda table: table["age"].where(table["age"] > 50) * 0,
        "The answer of the model <lambda> is missing or infinite in {n} rows of source.",
    ),
    "answers out of range": (
        lambda table: table["visits"] * 10.0,
        (
            "The answer of the model <lambda> must be a probability from 0 to 1, or a label. "
            "Got values from 0 to 80 in source. It looks like percent: divide by 100."
        ),
    ),
    "three classes": (
        lambda table: np.full((len(table), 3), 1 / 3),
        "The model <lambda> must tell two classes apart. Got 3 columns of probabilities.",
    ),
    "unknown column": (
        lambda table: table["bmi"],
        (
            "The model <lambda> failed on the source table. Got KeyError: 'bmi'. It was given a "
            "pandas table with columns 'age', 'sex', 'visits', 'smoker', 'weight'; it may expect "
            "others."
        ),
    ),
}


@pytest.mark.parametrize("kind", FAILURES)
def test_failures_of_a_model(tables: Any, kind: str) -> None:
    model, message = FAILURES[kind]
    rows = int((tables[0]["age"] <= 50).sum())
    with pytest.raises(ModelError) as caught:
        _ = by_model(tables, model).design
    assert str(caught.value) == message.replace("{n}", str(rows))


def test_a_model_that_expects_other_columns(tables: Any, logistic: Any) -> None:
    source, target = (table.rename(columns={"visits": "visit"}) for table in tables)
    with pytest.raises(ModelError) as caught:
        by_model((source, target), logistic)
    assert str(caught.value) == (
        "The model Pipeline expects column 'visits', which is not in source. Did you mean 'visit'?"
    )


def test_a_model_that_expects_another_number_of_columns(tables: Any) -> None:
    model = LogisticRegression().fit(tables[0][NUMBERS].to_numpy(), tables[0]["y"])
    with pytest.raises(ModelError) as caught:
        by_model(tables, model)
    assert str(caught.value) == (
        "The model LogisticRegression expects 3 columns. Got 5 (baseline and covariates). "
        "Name covariates=[...] so that they are the columns it was trained with."
    )


def test_a_model_that_sees_the_outcome(tables: Any) -> None:
    model = LogisticRegression().fit(tables[0][["visits", "y"]], tables[0]["y"])
    with pytest.raises(ModelError) as caught:
        by_model(tables, model)
    assert str(caught.value) == (
        "The model LogisticRegression expects the outcome 'y' among its columns. "
        "A model that sees the outcome cannot be explained."
    )


def test_an_unfitted_class_is_refused(tables: Any) -> None:
    with pytest.raises(ModelError) as caught:
        by_model(tables, LogisticRegression)
    assert str(caught.value) == (
        "The model is the class LogisticRegression, not a fitted model. "
        "Fit it first: model = LogisticRegression(...).fit(X, y)."
    )


@pytest.mark.parametrize("name", ["model.skops", "model.onnx", "model.pkl"])
def test_damaged_model_files(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"nothing of the kind")
    with pytest.raises(ModelError) as caught:
        predictor_of(tmp_path / name, unsafe_pickle=True)
    message = str(caught.value)
    assert message.startswith(f"The model '{tmp_path / name}' cannot be loaded. Got ")
    assert message.endswith("It may be damaged, or written by another version.")


def test_warnings_of_a_model_are_said(tables: Any) -> None:
    import warnings

    def ask(table: Any) -> Any:
        warnings.warn("old model", UserWarning, stacklevel=1)
        return table["visits"] / 10

    design = by_model(tables, ask).design
    assert "The model warned: old model" in [str(note) for note in design.notes]


def test_the_order_of_a_matrix_is_said_where_the_model_knows_no_names(tables: Any) -> None:
    order = ["weight", "visits", "age"]
    model = LogisticRegression().fit(tables[0][order].to_numpy(), tables[0]["y"])
    said = (
        "The model LogisticRegression was shown a matrix of the columns 'age', 'visits', "
        "'weight', in this order."
    )
    covariates = {"covariates": ["weight", "visits"]}
    notes = by_model(tables, model, **covariates).design.notes
    assert [note.level for note in notes if str(note) == said] == ["info"]
    named = LogisticRegression().fit(tables[0][order], tables[0]["y"])
    notes = by_model(tables, named, **covariates).design.notes
    assert not any("matrix" in str(note) for note in notes)


def test_labels_of_several_types_are_refused(tables: Any) -> None:
    def ask(table: Any) -> Any:
        return np.array([1, "no"] * len(table), dtype=object)[: len(table)]

    with pytest.raises(ModelError) as caught:
        _ = by_model(tables, ask).design
    assert str(caught.value) == (
        "The labels of the model ask are of several types. Got int, str. "
        "All must be numbers, or all text."
    )
