from __future__ import annotations

import numpy as np
import pytest
from rival_worlds import world_a, world_b

from experiments.rivals import graph_shapley
from experiments.rivals.graph import graph_of
from whygap.errors import SettingsError
from whygap.settings import Settings


@pytest.fixture(scope="module")
def design():
    return world_a(200, 0)


def test_parents_come_first_and_gaps_are_filled(design):
    graph = graph_of(design, {"z2": ["z1"], "z1": ["w0"]})
    assert graph.nodes == ("w0", "z1", "z2", "(outcome)")
    assert graph.parents["(outcome)"] == ("w0", "z1", "z2")
    assert graph.parents["w0"] == ()


def test_the_outcome_may_go_by_its_own_name(design):
    graph = graph_of(design, {"sick": ["z1"]}, outcome="sick")
    assert graph.parents["(outcome)"] == ("z1",)


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        (
            {"z1": ["z2"], "z2": ["w0", "z1"]},
            (
                "The causal graph has a cycle. Got z2 -> z1 -> z2. "
                "Remove one of these edges; mechanisms need a causal order."
            ),
        ),
        (
            {"z1": ["w0"], "z2": ["z1"], "w0": ["z2"]},
            (
                "The causal graph has a cycle. Got w0 -> z1 -> z2 -> w0. "
                "Remove one of these edges; mechanisms need a causal order."
            ),
        ),
        (
            {"z1": ["z1"]},
            (
                "The causal graph has a cycle. Got z1 -> z1. "
                "Remove one of these edges; mechanisms need a causal order."
            ),
        ),
        (
            {"z3": ["z1"]},
            (
                "The causal graph names 'z3' (a node), which is no variable of the study. "
                "Variables are: w0, z1, z2."
            ),
        ),
        (
            {"z2": ["income"]},
            (
                "The causal graph names 'income' (a parent of 'z2'), which is no variable of the "
                "study. Variables are: w0, z1, z2."
            ),
        ),
        (
            {"z2": ["(outcome)"]},
            (
                "The outcome cannot be a parent of 'z2' in the causal graph. "
                "Importance weighting goes from the variables to the outcome."
            ),
        ),
        (
            {"z2": "z1"},
            "The parents of 'z2' must be a list of names. Got 'z1'. Write ['z1'].",
        ),
    ],
)
def test_bad_graphs_are_refused_in_words(design, parents, message):
    with pytest.raises(SettingsError) as caught:
        graph_of(design, parents)
    assert str(caught.value) == message


def test_only_the_shifted_mechanism_gets_credit():
    large = world_a(400_000, 0, shifted_by=0.5).loss.map(np.mean)
    graph = {"z1": ["w0"], "z2": ["z1"]}
    design = world_a(4000, 3, shifted_by=0.5)
    found = graph_shapley.importance(design, Settings(folds=3), graph)
    assert found.value("z1") == pytest.approx(large.target - large.source, abs=0.008)
    for name in ("w0", "z2", "(outcome)"):
        assert abs(found.value(name)) < 0.008


def test_a_wrong_graph_credits_another_mechanism():
    """With z2 as the cause of z1 the same shift is spread over both mechanisms."""
    found = graph_shapley.importance(
        world_a(3000, 3), Settings(folds=3), {"z2": ["w0"], "z1": ["z2", "w0"]}
    )
    assert abs(found.value("z2")) > 0.01


def test_an_outcome_shift_is_the_outcomes():
    found = graph_shapley.importance(world_b(2000, 0), Settings(folds=3), {})
    assert found.ranking()[0] == "(outcome)"
    assert found.value("(outcome)") == pytest.approx(-0.171, abs=0.03)
    assert np.abs(found.values[:-1]).max() < 0.02


def test_too_many_mechanisms_are_refused(monkeypatch, design):
    monkeypatch.setattr(graph_shapley, "LARGEST_GRAPH", 3)
    with pytest.raises(SettingsError) as caught:
        graph_shapley.importance(design, Settings(), {})
    assert str(caught.value) == (
        "The causal graph may have at most 3 mechanisms. Got 4. "
        "Group variables with groups={...}; a group is one mechanism."
    )
