"""Which of the model's two classes is the positive one, whatever the outcome calls it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from table_factory import source_and_target

from whygap.errors import InputError, ModelError
from whygap.study import Study

ROLES: dict[str, Any] = {"outcome": "y", "covariates": ["visits", "smoker"], "metric": "accuracy"}
ASKED = ["visits", "weight"]


def worded(zero: Any, one: Any) -> tuple[Any, Any]:
    source, target = (
        table.assign(y=np.where(table["y"] == 1, one, zero)) for table in source_and_target()
    )
    return source, target


@pytest.mark.parametrize("positive", [False, True, None])
@pytest.mark.parametrize("keys", [(False, True), (0, 1), ("False", "True")])
def test_truth_values_are_classes_of_a_mapping(positive: Any, keys: Any) -> None:
    tables = [t.assign(p=t["risk"], q=1 - t["risk"]) for t in worded(False, True)]
    roles = {**ROLES, "prediction": dict(zip(keys, "qp", strict=True)), "positive": positive}
    design = Study(*tables, **roles).design
    wanted = "q" if positive is False else "p"
    np.testing.assert_allclose(design.prediction.source, tables[0][wanted])
    np.testing.assert_array_equal(design.outcome.source, tables[0]["y"] == (positive is not False))


def test_words_and_truth_values_stay_apart_in_a_column_that_has_both() -> None:
    from whygap.tables.outcome import Classes

    both = Classes(("1", "True", "maybe"))
    assert [both.code(value) for value in ("1", "True", True, "maybe")] == [0.0, 1.0, 1.0, 2.0]


class Labels:
    """A model that only gives labels."""

    def __init__(self, model: Any) -> None:
        self.classes_, self.predict = model.classes_, model.predict


MODELS = {"probabilities": LogisticRegression, "scores": LinearSVC, "labels": LinearSVC}


def fitted(kind: str) -> Any:
    source = source_and_target()[0]
    model = MODELS[kind]().fit(source[ASKED].to_numpy(), source["y"])
    return Labels(model) if kind == "labels" else model


def asked(kind: str, tables: Any, **more: Any) -> Study:
    model = fitted(kind)
    if kind == "labels":
        model.feature_names_in_ = np.array(ASKED)
        ask = model.predict
        model.predict = lambda table: ask(table.to_numpy())
    return Study(*tables, **{**ROLES, "covariates": ASKED, "model": model, **more})


@pytest.mark.parametrize("kind", MODELS)
def test_a_model_of_0_and_1_is_refused_where_no_counts_as_1(kind: str) -> None:
    with pytest.raises(ModelError) as caught:
        _ = asked(kind, worded("no", "yes"), positive="no").design
    name = type(fitted(kind)).__name__
    assert str(caught.value) == (
        f"The model {name} knows the classes 0 and 1, and it is not clear which one is 'no'. "
        "Got positive='no'; the outcome has 'yes' and 'no'. "
        "Write the outcome as it was when the model was trained, or leave positive= out."
    )


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("words", [("no", "yes"), ("well", "ill")])
def test_a_model_of_0_and_1_means_by_1_what_counts_as_1(kind: str, words: Any) -> None:
    plain = asked(kind, source_and_target()).design
    found = asked(kind, worded(*words), positive=words[1]).design
    np.testing.assert_array_equal(found.prediction.source, plain.prediction.source)
    np.testing.assert_array_equal(found.outcome.source, plain.outcome.source)


@pytest.mark.parametrize(("positive", "clear"), [(1, True), (2, False)])
def test_a_model_of_0_and_1_beside_an_outcome_of_1_and_2(positive: int, clear: bool) -> None:
    study = asked("probabilities", worded(2 if positive == 1 else 1, positive), positive=positive)
    if clear:
        assert np.corrcoef(study.design.prediction.source, study.design.outcome.source)[0, 1] > 0
    else:
        with pytest.raises(InputError, match="it is not clear which one is '2'"):
            _ = study.design
