from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from rival_worlds import world_a

from experiments.rivals import METHODS, comparison
from whygap.errors import ModelError, ResultError, SettingsError
from whygap.settings import Settings


@pytest.fixture(scope="module")
def design():
    return world_a(300, 0)


def test_all_methods_answer_on_one_design(design):
    found = comparison(design, settings=Settings(folds=3), graph={"z2": ["z1"]})
    methods = {item.method for item in found}
    assert methods == {*METHODS, "graph_shapley"}
    for item in found:
        assert len(item.values) == len(item.names)
        assert np.isfinite(item.values).all()
        assert sorted(item.ranks().values()) == list(range(1, len(item.names) + 1))


def test_rivals_that_cannot_answer_say_why_and_raise_when_asked(design):
    labels = design.prediction.map(lambda p: (p > 0.5).astype(float))
    labelled = replace(design, prediction=labels)
    asked = ["mean_change", "auc_regression"]
    with pytest.raises(ModelError, match="AUC regression needs"):
        comparison(labelled, asked)
    found = comparison(labelled, settings=Settings(folds=3))
    silent = next(item for item in found if item.method == "auc_regression")
    assert silent.names == ("(no answer)",)
    assert np.isnan(silent.values).all()
    assert silent.unit.startswith("AUC regression needs the model's scores.")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("wushift", "There is no method 'wushift'. Did you mean 'wu_shift'?"),
        (
            "graph_shapley",
            (
                "The method 'graph_shapley' needs a causal graph. "
                "Give graph={'z2': ['z1'], ...}, each variable with its parents."
            ),
        ),
    ],
)
def test_unusable_names_are_refused(design, name, message):
    with pytest.raises(SettingsError) as caught:
        comparison(design, [name])
    assert str(caught.value) == message


def test_an_unknown_term_is_refused(design):
    found = comparison(design, ["mean_change"])[0]
    assert found.value("z1") == found.values[0]
    with pytest.raises(ResultError) as caught:
        found.value("z11")
    assert str(caught.value) == (
        "The method 'mean_change' has no importance named 'z11'. Did you mean 'z1'?"
    )


def test_a_graph_may_name_the_outcomes_column(design):
    graph = {"z1": ["w0"], "z2": ["z1"], "sick": ["w0", "z2"]}
    settings = Settings(folds=3)
    (found,) = comparison(design, ["graph_shapley"], settings, graph=graph, outcome="sick")
    assert found.names == ("w0", "z1", "z2", "(outcome)")
    assert found.method == "graph_shapley"


def test_a_bad_graph_is_refused_before_any_method_is_run(design, monkeypatch):
    monkeypatch.setitem(METHODS, "mean_change", (lambda *_: pytest.fail("was run"),))
    with pytest.raises(SettingsError) as caught:
        comparison(design, graph={"z1": ["z2"], "z2": ["z1"]})
    assert str(caught.value) == (
        "The causal graph has a cycle. Got z1 -> z2 -> z1. "
        "Remove one of these edges; mechanisms need a causal order."
    )
