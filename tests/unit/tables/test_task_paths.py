"""What hints, checks and other main paths make of each kind of outcome."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as sk
from task_tables import BINARY, LABELS, VALUES, tables

import whygap as wg
from whygap.checks.facts import domain_facts
from whygap.errors import SettingsError


@pytest.mark.parametrize(
    ("roles", "leak", "level"),
    [
        (LABELS, lambda t: t["way"].str.upper(), "problem"),
        (VALUES, lambda t: np.exp(t["wage"]), "problem"),
        (VALUES, lambda t: t["age"], None),
        (LABELS, lambda t: (t["distance"] > 1).astype(int), None),
    ],
)
def test_a_column_that_gives_the_outcome_away(roles, leak, level):
    both = {name: table.assign(distance=leak(table)) for name, table in tables().items()}
    both = {
        name: t.drop(columns="age").assign(age=np.arange(len(t)) % 7) for name, t in both.items()
    }
    notes = wg.Study(**both, **roles).design.notes
    found = [note.level for note in notes if "Column 'distance' alone" in str(note)]
    assert found == ([level] if level else [])


@pytest.mark.parametrize(
    ("roles", "rarer", "positive"),
    [(BINARY, None, True), (LABELS, None, False), (VALUES, 260, False)],
)
def test_facts_of_each_kind_of_outcome(roles, rarer, positive):
    facts = domain_facts(wg.Study(**tables(), **roles).design).target
    counts = tables()["target"][roles["outcome"]].value_counts()
    assert facts.rarer == (rarer or counts.min())
    assert (facts.positive_share is not None) == positive


def test_the_metric_in_a_check_has_the_spread_of_its_influence():
    facts = domain_facts(wg.Study(**tables(), **BINARY, metric="auc").design).source
    table = tables()["source"]
    assert facts.metric.value == pytest.approx(sk.roc_auc_score(table["high"], table["risk"]))
    draws = []
    for seed in range(200):
        again = table.sample(300, replace=True, random_state=seed)
        draws.append(sk.roc_auc_score(again["high"], again["risk"]))
    assert facts.metric.standard_error == pytest.approx(np.std(draws), rel=0.15)


def test_a_rehearsal_is_for_means_of_two_values():
    with pytest.raises(SettingsError) as caught:
        wg.rehearse(wg.Study(**tables(), **BINARY, metric="f1"), replicates=2)
    assert str(caught.value) == (
        "A rehearsal takes a metric that is a mean over rows, of an outcome with two values. Got "
        "'f1' of two values. Rehearse with metric='brier' or 'accuracy': overlap and sizes are the "
        "same."
    )
