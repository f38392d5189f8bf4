"""Outcomes of each kind come through the door, with predictions of each form."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as sk
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from task_tables import BINARY, CLASSES, COLUMNS, LABELS, SHARED, VALUES, WAYS, tables

from whygap import Metric
from whygap._metrics import metrics
from whygap.study import Study

NOTE = "The outcome 'way' was taken for classes: 3 of them ('bus', 'car', 'foot'). If not: task=..."


ASKED = {"outcome": "high", "prediction": "risk"}


def texts(design):
    return [str(note) for note in design.notes]


def value(study, domain):
    design = study.design
    weights = None if design.weights is None else design.weights[domain]
    return design.metric.value(design.terms[domain], weights)


def test_several_classes_by_their_probabilities():
    study = Study(**tables(), **CLASSES, metric="log_loss", weights="weight")
    design = study.design
    assert (design.task, design.classes) == ("multiclass", WAYS)
    assert NOTE in texts(design)
    table = tables()["target"]
    np.testing.assert_array_equal(np.array(WAYS)[design.outcome.target.astype(int)], table["way"])
    np.testing.assert_array_equal(
        np.array(WAYS)[design.prediction.target.astype(int)], table["said"]
    )
    np.testing.assert_allclose(design.scores.target, table[list(COLUMNS.values())])
    expected = sk.log_loss(table["way"], design.scores.target, sample_weight=table["weight"])
    assert value(study, "target") == pytest.approx(expected, rel=1e-12)


def test_the_mapping_may_come_in_any_order():
    turned = {**CLASSES, "prediction": dict(reversed(COLUMNS.items()))}
    one, two = (Study(**tables(), **roles, metric="brier").design for roles in (CLASSES, turned))
    np.testing.assert_array_equal(one.terms.source, two.terms.source)


def test_several_classes_by_labels():
    study = Study(**tables(), **LABELS)
    table = tables()["source"]
    assert study.design.scores is None
    assert value(study, "source") == pytest.approx(sk.accuracy_score(table["way"], table["said"]))
    binary = study.design.as_binary()
    np.testing.assert_array_equal(binary.outcome.source, (table["way"] == table["said"]))
    np.testing.assert_array_equal(binary.loss.source, study.design.loss.source)
    wrong = Study(**tables(), **LABELS, metric="zero_one").design
    np.testing.assert_array_equal(wrong.as_binary().loss.target, wrong.loss.target)


def test_real_values():
    study = Study(**tables(), **VALUES)
    table = tables()["target"]
    assert study.design.task == "regression"
    assert (
        "The outcome 'wage' was taken for real values: 560 distinct ones. If not: task=..."
        in texts(study.design)
    )
    assert value(study, "target") == sk.mean_squared_error(table["wage"], table["guess"])
    assert study.design.term_intercept is None


@pytest.mark.parametrize(
    ("roles", "task"),
    [
        ({"outcome": "high", "prediction": "risk"}, "binary"),
        ({"outcome": "way", "prediction": "said"}, "multiclass"),
        ({"outcome": "grade", "prediction": "grade_said"}, "multiclass"),  # whole numbers
        ({"outcome": "grade", "prediction": "guess", "metric": "mae"}, "regression"),
        ({"outcome": "grade", "prediction": "guess", "metric": lambda p, y: p - y}, "regression"),
        ({"outcome": "wage", "prediction": "guess", "metric": "r2"}, "regression"),
        ({"outcome": "high", "prediction": "risk", "metric": "mse"}, "regression"),
        (ASKED | {"task": "regression", "metric": "mae"}, "regression"),
    ],
)  # fmt: skip
def test_what_is_taken_for_what(roles, task):
    assert Study(**tables(), **SHARED, **roles).design.task == task


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_every_metric_comes_through(task):
    roles = {"binary": BINARY, "multiclass": CLASSES, "regression": VALUES}[task]
    for name in metrics(task):
        more = {"quantile": 0.9} if name == "pinball" else {}
        design = Study(**tables(), **{**roles, "metric": name}, **more).design
        assert design.metric.name == name
        rows = design.rows.source
        assert design.terms.source.shape[1] == rows
        taken = design.take(design.rows.map(lambda n: np.arange(n) < 100))
        np.testing.assert_array_equal(taken.terms.source, design.terms.source[:, :100])


def test_terms_of_a_binary_outcome_are_affine_in_it():
    design = Study(**tables(), **BINARY, metric="f1").design
    slope = design.term_slope.source * design.outcome.source
    np.testing.assert_array_equal(design.term_intercept.source + slope, design.terms.source)


def test_other_names_of_a_metric():
    assert Study(**tables(), **BINARY, metric="sensitivity").design.metric.name == "recall"


def test_a_classifier_of_several_classes():
    source, x = tables()["source"], ["age", "distance"]
    model = LogisticRegression(max_iter=500).fit(source[x], source["way"])
    study = Study(**tables(), outcome="way", model=model, **SHARED, metric="macro_auc")
    expected = sk.roc_auc_score(source["way"], model.predict_proba(source[x]), multi_class="ovr")
    assert value(study, "source") == pytest.approx(expected, rel=1e-12)


def test_a_classifier_without_probabilities_gives_labels():
    source, x = tables()["source"], ["age", "distance"]
    model = RidgeClassifier().fit(source[x], source["way"])
    study = Study(**tables(), outcome="way", model=model, **SHARED, metric="macro_f1")
    expected = sk.f1_score(source["way"], model.predict(source[x]), average="macro")
    assert value(study, "source") == pytest.approx(expected, rel=1e-12)


def test_a_model_may_know_classes_that_no_row_has():
    source, x = tables()["source"], ["age", "distance"]
    more = source.assign(way=np.where(np.arange(300) < 20, "boat", source["way"]))
    model = LogisticRegression(max_iter=500).fit(more[x], more["way"])
    design = Study(**tables(), outcome="way", model=model, **SHARED, metric="log_loss").design
    assert design.classes == WAYS
    assert design.scores.source.shape == (300, 4)
    assert any("also knows 'boat', which no row of either table has." in t for t in texts(design))


def test_a_regression_model_and_a_callable():
    source, x = tables()["source"], ["age", "distance"]
    model = LinearRegression().fit(source[x], source["wage"])
    shared = {"outcome": "wage", **SHARED, "metric": "r2"}
    study = Study(**tables(), model=model, **shared)
    assert value(study, "source") == pytest.approx(
        sk.r2_score(source["wage"], model.predict(source[x]))
    )
    twin = Study(**tables(), model=lambda table: model.predict(table[x]), **shared)
    assert value(twin, "source") == value(study, "source")


def test_a_callable_gives_one_column_per_class_in_sorted_order():
    def model(table: pd.DataFrame):
        far = np.clip(table["distance"] / 20, 0, 0.9)
        return np.column_stack([far / 2, far / 2, 1 - far])

    design = Study(**tables(), outcome="way", model=model, **SHARED, metric="brier").design
    assert design.scores.source.shape == (300, 3)


def test_ones_own_metric_of_several_means():
    skill = Metric(
        name="skill",
        terms=lambda p, y: np.stack([(p - y) ** 2, y]),
        of=lambda means: 1 - means[0] / (means[1] * (1 - means[1])),
    )
    study = Study(**tables(), **BINARY, metric=skill)
    table = tables()["target"]
    expected = 1 - sk.brier_score_loss(table["high"], table["risk"]) / table["high"].var(ddof=0)
    assert value(study, "target") == pytest.approx(expected, rel=1e-12)


def test_rows_without_a_probability_of_some_class_are_left_out():
    both = tables()
    both["source"].loc[:4, "p_car"] = np.nan
    design = Study(**both, **CLASSES, metric="brier").design
    assert design.rows.source == 295
    assert design.scores.source.shape == (295, 3)
    said = "have a missing prediction ('p_bus, p_car, p_foot') and are left out."
    assert any(said in text for text in texts(design))
