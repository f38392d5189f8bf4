"""Studies of features, outcomes and predictions apart; and models of scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from small_study import FAST, fast, make_study, tables

import whygap as wg
from whygap.errors import InputError, TableError

FEATURES = ["w", "a", "b", "c"]
NUMBERS = ["w", "a", "b"]


@pytest.fixture(scope="module")
def splits():
    source, target = tables()
    return source[FEATURES], source["y"], target[FEATURES], target["y"]


def encoder():
    letters = OneHotEncoder(sparse_output=False)
    return make_column_transformer((letters, ["c"]), (StandardScaler(), NUMBERS))


def models():
    logistic = make_pipeline(encoder(), LogisticRegression())
    framed = make_pipeline(encoder().set_output(transform="pandas"), LogisticRegression())
    return {
        "pipeline": logistic,
        "search": GridSearchCV(logistic, {"logisticregression__C": [0.1, 1.0]}, cv=3),
        "calibrated": CalibratedClassifierCV(logistic, cv=3),
        "frames inside": framed,
    }


@pytest.mark.parametrize("name", models())
def test_models_of_scikit_learn_are_asked_for_probabilities(splits, name):
    X, y, X_new, y_new = splits
    model = models()[name].fit(X, y)
    study = wg.Study.from_arrays(X, y, None, X_new, y_new, None, model=model, baseline=["w"])
    design = study.design
    np.testing.assert_allclose(design.prediction.target, model.predict_proba(X_new)[:, 1])
    np.testing.assert_array_equal(design.outcome.source, y)


def test_predictions_as_arrays_are_those_of_the_model(splits):
    X, y, X_new, y_new = splits
    model = models()["pipeline"].fit(X, y)
    risk, risk_new = model.predict_proba(X)[:, 1], model.predict_proba(X_new)[:, 1]
    study = wg.Study.from_arrays(X, y, risk, X_new, y_new, list(risk_new), baseline=["w"])
    long = wg.Study(X.assign(y=y), X_new.assign(y=y_new), outcome="y", baseline=["w"], model=model)
    assert study.prediction == "prediction"
    short, full = (wg.explain(one, detail=(), settings=FAST) for one in (study, long))
    assert short.to_dict()["parts"] == full.to_dict()["parts"]


def test_a_column_of_predictions_for_each_class(splits):
    X, _, X_new, _ = splits
    rng = np.random.default_rng(0)
    y, y_new = (rng.choice(["bus", "car", "foot"], len(one)) for one in (X, X_new))
    chances, chances_new = (rng.dirichlet([1, 1, 1], len(one)) for one in (X, X_new))
    study = wg.Study.from_arrays(X, y, chances, X_new, y_new, chances_new, baseline=["w"])
    assert list(study.prediction) == ["bus", "car", "foot"]
    assert study.design.task == "multiclass"
    right = chances_new.argmax(axis=1) == np.searchsorted(["bus", "car", "foot"], y_new)
    np.testing.assert_array_equal(study.design.loss.target, right)


def test_a_train_and_test_pair_keeps_rows_together_whatever_their_index(splits):
    X, y = splits[0], splits[1].rename("readmitted")
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    model = models()["pipeline"].fit(X_train, y_train)
    y_test = y_test.reset_index(drop=True)
    study = wg.Study.from_arrays(X_train, y_train, None, X_test, y_test, None, model=model)
    assert study.outcome == "readmitted"
    np.testing.assert_array_equal(study.design.outcome.target, y_test)


@pytest.mark.parametrize("kind", [np.asarray, pl.from_pandas, pa.Table.from_pandas, pd.DataFrame])
def test_features_of_every_kind(splits, kind):
    X, y, X_new, y_new = splits
    model = LogisticRegression().fit(X[NUMBERS].to_numpy(), y)
    X, features = X[NUMBERS], kind(X_new[NUMBERS])
    study = wg.Study.from_arrays(
        kind(X), y.to_numpy(), None, features, y_new.tolist(), None, model=model
    )
    answers = model.predict_proba(X_new[NUMBERS].to_numpy())[:, 1]
    np.testing.assert_allclose(study.design.prediction.target, answers)
    assert study.outcome == "outcome"
    names = ["x0", "x1", "x2"] if kind is np.asarray else NUMBERS
    assert sorted(column.name for column in study.design.columns) == sorted(names)


def test_columns_without_names_take_those_of_the_model(splits):
    X, y, X_new, y_new = splits
    model = LogisticRegression().fit(X[NUMBERS], y)
    unnamed = [pd.DataFrame(one[NUMBERS].to_numpy()) for one in (X, X_new)]
    study = wg.Study.from_arrays(unnamed[0], y, None, unnamed[1], y_new, None, model=model)
    np.testing.assert_allclose(
        study.design.prediction.target, model.predict_proba(X_new[NUMBERS])[:, 1]
    )


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            {"y_source": [0, 1]},
            InputError,
            (
                "X_source, y_source and prediction_source must have as many rows. "
                "Got 400 and shape (2,)."
            ),
        ),
        (
            {"X_target": np.zeros(5)},
            TableError,
            (
                "X_target must have rows and columns. Got an array of shape (5,). "
                "One column: X.reshape(-1, 1)."
            ),
        ),
        (
            {"outcome": "a"},
            InputError,
            (
                "The features of the source hold a column named like another one, 'a'. "
                "Drop it from X; the outcome takes another name from outcome='readmitted'."
            ),
        ),
        (
            {"prediction_source": np.zeros(400), "model": None},
            InputError,
            (
                "X_target, y_target and prediction_target must have as many rows. "
                "Got 300 and shape ()."
            ),
        ),
        (
            {"prediction_source": np.zeros((400, 2)), "prediction_target": np.zeros((300, 2))},
            InputError,
            (
                "Predictions are one value per row, or one column for each of three or more "
                "classes. Got shapes (400, 2) and (300, 2), 2 classes. For an outcome with two "
                "values: predict_proba(X)[:, 1]."
            ),
        ),
    ],
)
def test_what_does_not_fit_is_refused(splits, change, error, message):
    known = dict(zip(("X_source", "y_source", "X_target", "y_target"), splits, strict=True))
    known |= {"prediction_source": None, "prediction_target": None}
    with pytest.raises(error) as raised:
        wg.Study.from_arrays(**(known | {"model": len} | change))
    assert str(raised.value) == message


def test_a_sparse_matrix_is_refused(splits):
    encoded = OneHotEncoder().fit_transform(splits[0][["c"]])
    with pytest.raises(InputError, match=r"X_source is a sparse matrix\. Got an object of"):
        wg.Study.from_arrays(encoded, splits[1], None, *splits[2:], None, model=len)


def own(classifier, regressor):
    return fast(learner={"classifier": classifier, "regressor": regressor})


@pytest.mark.parametrize("routing", [False, True])
def test_pipelines_and_searches_as_learners_get_the_rows_weights(routing):
    if routing and sklearn.__version__ < "1.8":
        pytest.skip("scikit-learn routes weights to the score of a pipeline in a search since 1.8")
    source, target = (table.assign(n=1.0 + (table["a"] > 0)) for table in tables())
    logistic, ridge = LogisticRegression(), Ridge()
    with sklearn.config_context(enable_metadata_routing=routing):
        if routing:
            logistic.set_fit_request(sample_weight=True)
            logistic.set_score_request(sample_weight=True)
            ridge.set_fit_request(sample_weight=True)
        scaled = StandardScaler()
        if routing:
            scaled.set_fit_request(sample_weight=False)
        search = GridSearchCV(make_pipeline(scaled, logistic), {}, cv=2)
        settings = own(search, make_pipeline(scaled, ridge))
        study = make_study(source, target, weights="n", covariates=["a", "b"])
        gap = wg.explain(study, detail=(), settings=settings)
    plain = wg.explain(
        make_study(source, target, covariates=["a", "b"], weights="n"), detail=(), settings=FAST
    )
    error = plain.parts["outcome"].standard_error
    assert abs(gap.parts["outcome"].value - plain.parts["outcome"].value) < error


def test_boosted_trees_of_scikit_learn_as_learners():
    trees = {"max_iter": 20, "random_state": 0}
    settings = own(HistGradientBoostingClassifier(**trees), HistGradientBoostingRegressor(**trees))
    gap = wg.explain(make_study(covariates=["a", "b"]), detail=(), settings=settings)
    assert gap.parts["outcome"].value < 0
