"""Models of other libraries: asked in their own way, or refused with the line to write."""

from __future__ import annotations

from typing import Any

import catboost
import lightgbm
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
import xgboost
from table_factory import source_and_target

from whygap.errors import ModelError
from whygap.study import Study
from whygap.tables.model import predictor_of

NUMBERS = ["visits", "weight"]
KINDS = {"pandas": lambda t: t, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}
QUIET = {"verbose": False, "allow_writing_files": False, "thread_count": 1}
TABLES = source_and_target()


def predictions(model: Any, columns: list[str], kind: Any = lambda table: table) -> Any:
    """What the study takes for the model's answer at the source rows."""
    tables = [kind(table[[*columns, "y"]]) for table in TABLES]
    return Study(*tables, outcome="y", model=model).design.prediction.source


def expected_rows(values: Any) -> Any:
    return np.asarray(values, dtype=float)


@pytest.fixture(scope="module")
def categories() -> Any:
    source = TABLES[0].astype({"sex": "category"})
    model = lightgbm.LGBMClassifier(n_estimators=5, verbosity=-1, n_jobs=1, min_child_samples=5)
    model.fit(source[["visits", "sex"]], source["y"])
    return model, model.predict_proba(source[["visits", "sex"]])[:, 1]


@pytest.mark.parametrize("kind", [lambda t: t, pl.from_pandas], ids=["pandas", "polars"])
@pytest.mark.parametrize("booster", [False, True])
def test_lightgbm_trained_on_categories_reads_text(
    categories: Any, booster: bool, kind: Any
) -> None:
    model, answers = categories
    found = predictions(model.booster_ if booster else model, ["visits", "sex"], kind)
    np.testing.assert_allclose(found, answers)


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


@pytest.mark.parametrize("form", ["frame", "array", "no constant"])
def test_a_statsmodels_result(form: str) -> None:
    source = TABLES[0]
    shown = source[NUMBERS] if form == "frame" else source[NUMBERS].to_numpy()
    inputs = shown if form == "no constant" else sm.add_constant(shown)
    result = sm.Logit(source["y"], inputs).fit(disp=0)
    found = predictions(result, NUMBERS)
    np.testing.assert_allclose(found, expected_rows(result.predict(inputs)))


def test_a_statsmodels_formula() -> None:
    source = TABLES[0]
    result = smf.logit("y ~ visits + C(sex)", source).fit(disp=0)
    found = predictions(result, ["visits", "sex"])
    np.testing.assert_allclose(found, expected_rows(result.predict(source)))


def test_a_statsmodels_model_that_is_not_fitted() -> None:
    source = TABLES[0]
    with pytest.raises(ModelError) as caught:
        predictor_of(sm.Logit(source["y"], source[NUMBERS]))
    assert str(caught.value) == (
        "The model Logit is not fitted. Give what its fit() returns: result = model.fit()."
    )


def expected_logistic() -> Any:
    return 1 / (1 + np.exp(-TABLES[0]["visits"].to_numpy(dtype=float)))


def matrix_of(xgboost: Any, names: bool) -> Any:
    shown = TABLES[0][NUMBERS] if names else TABLES[0][NUMBERS].to_numpy()
    return xgboost.DMatrix(shown, TABLES[0]["y"])


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("names", [True, False])
def test_an_xgboost_booster(names: bool, kind: Any) -> None:
    matrix = matrix_of(xgboost, names)
    booster = xgboost.train({"objective": "binary:logistic", "nthread": 1}, matrix, 3)
    np.testing.assert_allclose(predictions(booster, NUMBERS, kind), booster.predict(matrix))


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_an_xgboost_classifier(kind: Any) -> None:
    source = TABLES[0]
    model = xgboost.XGBClassifier(n_estimators=3, n_jobs=1).fit(source[NUMBERS], source["y"])
    answers = model.predict_proba(source[NUMBERS])[:, 1]
    np.testing.assert_allclose(predictions(model, NUMBERS, kind), answers)


@pytest.mark.parametrize("booster", [False, True])
def test_xgboost_trained_on_categories_reads_them(booster: bool) -> None:
    both = [table.astype({"sex": "category"})[["visits", "sex", "y"]] for table in TABLES]
    columns, y = both[0][["visits", "sex"]], both[0]["y"]
    model = xgboost.XGBClassifier(n_estimators=3, n_jobs=1, enable_categorical=True)
    answers = model.fit(columns, y).predict_proba(columns)[:, 1]
    study = Study(*both, outcome="y", model=model.get_booster() if booster else model)
    np.testing.assert_allclose(study.design.prediction.source, answers, rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_catboost_classifier_reads_text(kind: Any) -> None:
    source, columns = TABLES[0], ["visits", "sex"]
    model = catboost.CatBoostClassifier(iterations=5, cat_features=["sex"], **QUIET)
    model.fit(source[columns], source["y"])
    answers = model.predict_proba(source[columns])[:, 1]
    np.testing.assert_allclose(predictions(model, columns, kind), answers)


def test_a_catboost_model_without_classes() -> None:
    source = TABLES[0]
    model = catboost.CatBoost({"loss_function": "Logloss", "iterations": 5, **QUIET})
    model.fit(source[NUMBERS], source["y"])
    answers = model.predict(source[NUMBERS], prediction_type="Probability")[:, 1]
    np.testing.assert_allclose(predictions(model, NUMBERS), answers)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_catboost_regressor(kind: Any) -> None:
    source = TABLES[0]
    model = catboost.CatBoostRegressor(iterations=5, **QUIET)
    model.fit(source[["visits"]], source["weight"])
    tables = [kind(table[["visits", "weight"]]) for table in TABLES]
    study = Study(*tables, outcome="weight", model=model, metric="mae")
    np.testing.assert_allclose(study.design.prediction.source, model.predict(source[["visits"]]))


class Network:
    """As keras': it reads a matrix and answers with a column."""

    input_shape = (None, len(NUMBERS))

    def __call__(self, *_: Any) -> Any:
        raise AssertionError("asked by predict")

    def predict(self, matrix: Any, verbose: Any = "auto") -> Any:
        assert verbose == 0
        return 1 / (1 + np.exp(-matrix[:, :1]))


def test_a_keras_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Network, "__module__", "keras.src.models")
    np.testing.assert_allclose(predictions(Network(), NUMBERS), expected_logistic())
    with pytest.raises(ModelError) as caught:
        predictions(Network(), ["visits"])
    assert str(caught.value) == (
        "The model Network expects 2 columns. Got 1 (baseline and covariates). "
        "Name covariates=[...] so that they are the columns it was trained with."
    )


def test_a_torch_network_needs_a_line_of_its_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    class Module:
        def __call__(self, inputs: Any) -> Any:
            return inputs

    class Net(Module):
        pass

    monkeypatch.setattr(Module, "__module__", "torch.nn.modules.module")
    with pytest.raises(ModelError) as caught:
        predictions(Net(), NUMBERS)
    assert str(caught.value) == (
        "The PyTorch model Net cannot be asked with a table. Say how to ask it, and make its "
        "answer a probability: model=lambda table: torch.sigmoid(net(torch.tensor("
        "table.to_numpy(), dtype=torch.float32))).detach().numpy().ravel()."
    )
