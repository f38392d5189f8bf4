"""What is wrong with a metric, a task or predictions of classes gets its own full message."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from task_tables import BINARY, CLASSES, LABELS, SHARED, VALUES, tables

from whygap import Metric
from whygap.errors import InputError, SettingsError
from whygap.study import Study


def changed(table: str = "both", **columns: Any) -> dict[str, Any]:
    """The tables with columns replaced in one of them or both."""
    return {
        name: one.assign(**columns) if table in (name, "both") else one
        for name, one in tables().items()
    }


def without(way: str, table: str = "target") -> dict[str, Any]:
    both = tables()
    both[table] = both[table][both[table]["way"] != way]
    return both


def fitted(model: Any, outcome: str) -> Any:
    source = tables()["source"]
    return model.fit(source[["age", "distance"]], source[outcome])


def log_error(prediction, outcome):
    return (np.log1p(prediction) - np.log1p(outcome)) ** 2


def broken(prediction, outcome):
    raise ZeroDivisionError("no rows")


def pair(prediction, outcome):
    return np.stack([prediction * outcome, outcome])


FOR_AMOUNTS = Metric(name="mine", terms=log_error, tasks=("regression",))


def model_roles(model: Any, outcome: str, **more: Any) -> dict[str, Any]:
    return {"outcome": outcome, "model": model, **SHARED, **more}


CASES = {
    "an unknown task": ({**BINARY, "task": "clasification"},
        ("InputError: The argument 'task' must be 'auto', 'binary', 'multiclass' or 'regression'. "
        "Got 'clasification'.")),
    "an unknown metric": ({**BINARY, "metric": "aucc"},
        "SettingsError: There is no metric 'aucc'. Did you mean 'auc'?"),
    "a metric of another task, by name": ({**BINARY, "task": "binary", "metric": "mse"},
        ("SettingsError: The metric 'mse' is not for a binary outcome. Metrics for it are: "
        "accuracy, zero_one, brier, log_loss, calibration, net_benefit, auc, precision, recall, "
        "specificity, npv, f1, balanced_accuracy, mcc, or a callable.")),
    "a metric of another task, as the columns show": ({**VALUES, "metric": "accuracy"},
        ("SettingsError: The metric 'accuracy' is not for a regression outcome. Metrics for it "
        "are: mse, mae, bias, pinball, rmse, r2, or a callable.")),
    "auc for several classes": ({**CLASSES, "metric": "auc"},
        ("SettingsError: The metric 'auc' is not for a multiclass outcome. Metrics for it are: "
        "accuracy, zero_one, brier, log_loss, balanced_accuracy, macro_f1, macro_auc, or a "
        "callable.")),
    "auc with labels only": (
        {**BINARY, "metric": "auc", **changed(risk=lambda t: (t["risk"] > 0.5).astype(int))},
        ("ColumnError: The metric 'auc' needs probabilities, which rank rows. Got labels only (0 "
        "and 1). Give the model's probabilities; of labels, metric='balanced_accuracy' says the "
        "same.")),
    "log loss of classes with labels only": ({**LABELS, "metric": "log_loss"},
        ("SettingsError: The metric 'log_loss' needs a probability for every class. Got labels "
        "only. Name the columns: prediction={'class': 'column', ...}; or give model=.")),
    "log loss of classes where one was impossible": (
        {**CLASSES, "metric": "log_loss", **changed(p_bus=0.0, p_car=0.5, p_foot=0.5)},
        ("ColumnError: The metric 'log_loss' is not finite at some predictions. Got inf at "
        "prediction 0 0.5 0.5. For log loss, probabilities must lie strictly between 0 and 1.")),
    "a class missing in the source": ({**LABELS, **without("foot", "source")},
        ("TableError: The outcome 'way' is 'foot' in too few source rows. Got 0. At least 5 rows "
        "of each outcome value are needed in each domain. Merge the class with another one, or "
        "leave its rows out of both tables.")),
    "a class missing in the target, of a metric that needs it": (
        {**LABELS, **without("foot"), "metric": "macro_f1"},
        ("TableError: The outcome 'way' is 'foot' in too few target rows. Got 0. At least 5 rows "
        "of each outcome value are needed in each domain. Merge the class with another one, or "
        "leave its rows out of both tables.")),
    "probabilities that do not add up": (
        {**CLASSES, "metric": "brier", **changed("target", p_car=0.9, p_bus=0.0, p_foot=0.2)},
        ("ColumnError: The columns of prediction= must add up to 1 in every row. Got 1.1 in a "
        "row of target. Give one probability column for each class.")),
    "probabilities above 1": ({**CLASSES, "metric": "brier", **changed("source", p_car=90.0)},
        ("ColumnError: The columns of prediction= must hold probabilities from 0 to 1. Got "
        "values from 7.33155e-05 to 90 in source.")),
    "a class without a column": (
        {**CLASSES, "prediction": {"bus": "p_bus", "cars": "p_car", "foot": "p_foot"}},
        ("ColumnError: The mapping prediction= does not know the class 'car' of the outcome. Got "
        "classes 'bus', 'cars', 'foot'. Did you mean 'cars'?")),
    "a column of a class that is not there": (
        {**CLASSES, "prediction": {"bus": "p_bus", "car": "p_cars", "foot": "p_foot"}},
        "ColumnError: Column 'p_cars' (prediction) is not in source. Did you mean 'p_car'?"),
    "a column of a class that holds text": (
        {**CLASSES, "metric": "brier", **changed("target", p_car="high")},
        "ColumnError: Column 'p_car' (prediction) must hold numbers. Got text in target."),
    "one class in the mapping": ({**CLASSES, "prediction": {"bus": "p_bus"}},
        ("ColumnError: prediction= by class must map at least two classes to their columns. Got "
        "{'bus': 'p_bus'}. For example prediction={'car': 'p_car', 'bus': 'p_bus', 'foot': "
        "'p_foot'}.")),
    "a label that is no class": ({**LABELS, **changed(said="cars")},
        ("ColumnError: The prediction 'said' holds 'cars', which is not a value of the outcome. "
        "Got outcome values 'bus', 'car', 'foot'. Did you mean 'car'?")),
    "the probability of one class for several": (
        {**CLASSES, "prediction": "p_car", **changed(p_car=0.25)},
        ("ColumnError: The prediction 'p_car' holds 0.25, which is not a value of the outcome. "
        "Got outcome values 'bus', 'car', 'foot'. Probabilities of several classes take a "
        "column each: prediction={'class': 'column', ...}.")),
    "too many classes": ({**LABELS, **changed(way=lambda t: [f"w{i}" for i in range(len(t))])},
        ("ColumnError: The outcome 'way' has 300 distinct values. From 2 to 50 classes are "
        "needed: group them into larger ones, or for amounts say task='regression'.")),
    "a threshold for a regression": ({**VALUES, "threshold": 0.3},
        ("SettingsError: threshold= is for an outcome with two values. Got 0.3 and an outcome of "
        "real values. It cuts probabilities of a 1. Leave it out, or say task='binary'.")),
    "a positive class among several": ({**LABELS, "task": "multiclass", "positive": "car"},
        ("SettingsError: positive= is for an outcome with two values. Got 'car' and an outcome "
        "of several classes. It says which of two values counts as 1. Leave it out, or say "
        "task='binary'.")),
    "a source risk for a regression": ({**VALUES, "source_risk": "risk"},
        ("SettingsError: source_risk= is for an outcome with two values. Got 'risk' and an "
        "outcome of real values. It is the known chance of a 1. Leave it out, or say "
        "task='binary'.")),
    "a quantile for another metric": ({**VALUES, "metric": "mae", "quantile": 0.9},
        ("SettingsError: The metric 'mae' takes no quantile. Got 0.9. Leave quantile= out, or "
        "use metric='pinball'.")),
    "net benefit without odds": ({**BINARY, "metric": "net_benefit", "threshold": 1},
        ("SettingsError: The threshold of net benefit must lie between 0 and 1. Got 1.0. A false "
        "alarm counts threshold / (1 - threshold) of a true one.")),
    "a constant outcome": ({**VALUES, **changed("source", wage=3.0)},
        ("TableError: The outcome 'wage' has one single value in source. Got 3. With one value "
        "there is nothing to predict.")),
    "a regression of words": ({**VALUES, "outcome": "way", "task": "regression"},
        ("ColumnError: The outcome 'way' must hold numbers. Got text in source. "
        "For classes say task='multiclass'.")),
    "classes predicted for a regression": (
        {**VALUES, "prediction": {"bus": "p_bus", "car": "p_car"}},
        ("ColumnError: The mapping prediction= tells classes apart, but the outcome has real "
        "values. For real values one column of numbers is needed, or a regression model.")),
    "counts with whole predictions": (
        {**LABELS, **changed(way=lambda t: t.index % 30, said=lambda t: t.index % 7)},
        ("ColumnError: It is not clear what the outcome 'way' is: classes or amounts. Got 30 "
        "distinct values from 0 to 29, and predictions that are among them. Say it: "
        "task='multiclass' or task='regression'.")),
    "precision where nothing is called 1": ({**BINARY, "metric": "precision", "threshold": 0.99},
        ("TableError: The metric 'precision' is not defined in source. Got nan. It divides by a "
        "share of rows that is 0 there: no row of a class, or no row that the model puts into "
        "it.")),
    "one's own metric of a negative number": (
        {**VALUES, "metric": log_error, **changed("source", guess=-3.0, wage=lambda t: t.index)},
        ("ColumnError: The metric 'log_error' is not finite at some predictions. Got nan at "
        "prediction -3. The outcome is 0 there.")),
    "one's own metric that fails": ({**BINARY, "metric": broken},
        ("SettingsError: The metric 'broken' failed. Got ZeroDivisionError: no rows. It is "
        "called with predictions and outcomes, two arrays.")),
    "one's own function that fails": (
        {**BINARY, "metric": Metric(name="mine", terms=pair, of=lambda means: means[5])},
        ("SettingsError: The metric 'mine' failed on the means of its terms. Got IndexError: "
        "index 5 is out of bounds for axis 0 with size 2. of= is called with an array of 2 "
        "means and gives one number.")),
    "one's own function that gives no number": (
        {**BINARY, "metric": Metric(name="mine", terms=pair, of=lambda means: np.log(-means[0]))},
        ("TableError: The metric 'mine' is not defined in source. Got nan. of= gives no number "
        "at the means of its terms.")),
    "no error at all": (
        {**VALUES, "metric": "rmse", **changed("source", guess=lambda t: t["wage"])},
        ("TableError: The metric 'rmse' has no slope in source. Got 0, at the edge of what it "
        "can be. Predictions that are never wrong leave nothing to explain.")),
    "several terms and nothing made of them": ({**BINARY, "metric": lambda p, y: np.stack([p, y])},
        ("SettingsError: The metric '<lambda>' returns 2 terms per row. Say what is made of "
        "their means: whygap.Metric(terms=..., of=...).")),
    "one's own metric for another task": ({**BINARY, "task": "binary", "metric": FOR_AMOUNTS},
        ("SettingsError: The metric 'mine' is not for a binary outcome. Got "
        "tasks=('regression',).")),
    "a regression model for classes": (model_roles(lambda table: np.full(len(table), 10.4), "way"),
        ("ModelError: The answer of the model <lambda> holds 10.4, which is not a value of the "
        "outcome. Got outcome values 'bus', 'car', 'foot'. For classes a model must give "
        "labels, or a probability for each.")),
    "a classifier for a regression": (
        model_roles(fitted(LogisticRegression(), "high"), "wage", metric="mae"),
        ("ModelError: The model LogisticRegression tells classes apart, but the outcome has real "
        "values. For real values one column of numbers is needed, or a regression model.")),
    "a classifier of several classes for two": (
        model_roles(fitted(LogisticRegression(max_iter=500), "way"), "high"),
        "ModelError: The model LogisticRegression must tell two classes apart. Got 3 classes."),
    "a callable with a column too few": (
        model_roles(lambda t: np.full((len(t), 2), 0.5), "way", metric="brier"),
        ("ModelError: The model <lambda> gives 2 columns for 3 classes. Got classes 'bus', "
        "'car', 'foot'. One column per class is needed, in sorted order.")),
}  # fmt: skip


@pytest.mark.parametrize("kind", CASES)
def test_bad_input_gets_its_own_message(kind):
    roles, message = CASES[kind]
    with pytest.raises(InputError) as caught:
        _ = Study(**{**tables(), **roles}).design
    assert f"{type(caught.value).__name__}: {caught.value}" == message


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"terms": pair, "tasks": ("binry",)},
            (
                "tasks= of a Metric must be some of binary, multiclass, regression. Got "
                "('binry',). For "
                'one: tasks=("binary",).'
            ),
        ),
        ({"terms": pair, "wants": "labels"}, "There is no wants='labels'. Did you mean 'label'?"),
    ],
)
def test_a_metric_of_ones_own_is_checked_when_it_is_made(given, message):
    with pytest.raises(SettingsError) as caught:
        Metric(**given)
    assert str(caught.value) == message
