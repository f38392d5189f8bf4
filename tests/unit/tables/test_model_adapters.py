"""Estimators of other libraries in the manner of scikit-learn; others get the line to write."""

from __future__ import annotations

from typing import Any

import catboost
import lightgbm
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
import xgboost
from table_factory import source_and_target

from whygap.errors import ModelError
from whygap.study import Study

NUMBERS = ["visits", "weight"]
KINDS = {"pandas": lambda t: t, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}
QUIET = {"verbose": False, "allow_writing_files": False, "thread_count": 1}
TABLES = source_and_target()


def predictions(model: Any, columns: list[str], kind: Any = lambda table: table) -> Any:
    """What the study takes for the model's answer at the source rows."""
    tables = [kind(table[[*columns, "y"]]) for table in TABLES]
    return Study(*tables, outcome="y", model=model).design.prediction.source


@pytest.fixture(scope="module")
def categories() -> Any:
    source = TABLES[0].astype({"sex": "category"})
    model = lightgbm.LGBMClassifier(n_estimators=5, verbosity=-1, n_jobs=1, min_child_samples=5)
    model.fit(source[["visits", "sex"]], source["y"])
    return model, model.predict_proba(source[["visits", "sex"]])[:, 1]


@pytest.mark.parametrize("kind", [lambda t: t, pl.from_pandas], ids=["pandas", "polars"])
def test_lightgbm_trained_on_categories_reads_text(categories: Any, kind: Any) -> None:
    model, answers = categories
    np.testing.assert_allclose(predictions(model, ["visits", "sex"], kind), answers)


def test_lightgbm_trained_on_numbers_says_what_it_wants() -> None:
    source = TABLES[0]
    model = lightgbm.LGBMClassifier(n_estimators=2, verbosity=-1, n_jobs=1)
    model.fit(source.assign(sex=1.0)[["visits", "sex"]], source["y"])
    with pytest.raises(ModelError) as caught:
        predictions(model, ["visits", "sex"])
    message = str(caught.value)
    assert message.startswith("The model LGBMClassifier failed on the source table. Got ValueError")
    assert message.endswith(
        "Columns of text must be what it was trained on: categories, or numbers. Otherwise give a "
        "callable: model=lambda table: model.predict(prepare(table))."
    )


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_an_xgboost_classifier(kind: Any) -> None:
    source = TABLES[0]
    model = xgboost.XGBClassifier(n_estimators=3, n_jobs=1).fit(source[NUMBERS], source["y"])
    answers = model.predict_proba(source[NUMBERS])[:, 1]
    np.testing.assert_allclose(predictions(model, NUMBERS, kind), answers)


def test_xgboost_trained_on_categories_reads_them() -> None:
    both = [table.astype({"sex": "category"})[["visits", "sex", "y"]] for table in TABLES]
    columns, y = both[0][["visits", "sex"]], both[0]["y"]
    model = xgboost.XGBClassifier(n_estimators=3, n_jobs=1, enable_categorical=True)
    answers = model.fit(columns, y).predict_proba(columns)[:, 1]
    study = Study(*both, outcome="y", model=model)
    np.testing.assert_allclose(study.design.prediction.source, answers, rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_catboost_classifier_reads_text(kind: Any) -> None:
    source, columns = TABLES[0], ["visits", "sex"]
    model = catboost.CatBoostClassifier(iterations=5, cat_features=["sex"], **QUIET)
    model.fit(source[columns], source["y"])
    answers = model.predict_proba(source[columns])[:, 1]
    np.testing.assert_allclose(predictions(model, columns, kind), answers)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_catboost_regressor(kind: Any) -> None:
    source = TABLES[0]
    model = catboost.CatBoostRegressor(iterations=5, **QUIET)
    model.fit(source[["visits"]], source["weight"])
    tables = [kind(table[["visits", "weight"]]) for table in TABLES]
    study = Study(*tables, outcome="weight", model=model, metric="mae")
    np.testing.assert_allclose(study.design.prediction.source, model.predict(source[["visits"]]))


@pytest.mark.parametrize(
    ("module", "name", "line"),
    [
        ("lightgbm.basic", "Booster", "booster.predict(table.to_numpy())"),
        ("xgboost.core", "Booster", "booster.predict(xgboost.DMatrix(table))"),
        ("catboost.core", "CatBoost", "cat.predict(table, prediction_type='Probability')[:, 1]"),
        ("statsmodels.api", "Results", "result.predict(sm.add_constant(table[columns]))"),
        ("keras.src.models", "Network", "net.predict(table.to_numpy(), verbose=0).ravel()"),
        ("torch.nn", "Net", "torch.sigmoid(net(torch.tensor("),
    ],
)
def test_a_model_with_ways_of_its_own_needs_a_line(module: str, name: str, line: str) -> None:
    model = type(name, (), {"__module__": module, "predict": lambda *_: None})()
    with pytest.raises(ModelError) as caught:
        predictions(model, NUMBERS)
    assert str(caught.value).startswith(
        f"The {module.partition('.')[0]} model {name} cannot be asked with a table. Say how to ask "
        f"it, and make its answer a probability: model=lambda table: {line}"
    )
