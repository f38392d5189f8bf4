"""Notes that name a value of the outcome, or quote a model, say the same without it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from task_tables import CLASSES, COLUMNS, LABELS, SHARED, VALUES, tables

from whygap.study import Study

SEEN = ["age", "distance"]


def rare() -> Study:
    both = tables()
    way = both["target"]["way"]
    others = both["target"][(way != "foot") | ((way == "foot").cumsum() <= 3)]
    return Study(both["source"], others, **CLASSES)


def one_value() -> Study:
    return Study(tables()["source"], tables()["target"].assign(wage=11.25), **VALUES)


def unseen() -> Study:
    source = tables()["source"]
    more = source.assign(way=np.where(np.arange(300) < 20, "boat", source["way"]))
    model = LogisticRegression(max_iter=500).fit(more[SEEN], more["way"])
    return Study(**tables(), outcome="way", model=model, **SHARED)


def warned() -> Study:
    def ask(table: Any) -> Any:
        warnings.warn("unknown category 'boat'", UserWarning, stacklevel=1)
        return table[list(COLUMNS.values())].to_numpy().argmax(axis=1).astype(float)

    roles = {"baseline": ["age"], "covariates": ["distance", *COLUMNS.values()]}
    return Study(**tables(), outcome="wage", model=ask, **roles, metric="mse")


def beaten() -> Study:
    both = {name: table.assign(said="bus") for name, table in tables().items()}
    for table in both.values():
        table.loc[0, "said"] = "car"
    return Study(**both, **LABELS)


CASES = {
    "rare": (rare, "'foot'", "A value of the outcome 'way' is in too few target rows (fewer than"),
    "one value": (one_value, "11.25", "The outcome 'wage' has one single value in target: "),
    "unseen": (
        unseen,
        "'boat'",
        "The model LogisticRegression also knows classes which no row of either table has.",
    ),
    "warned": (warned, "'boat'", "The model gave a warning."),
    "beaten": (beaten, "always saying '", "; always saying the commonest class would be right in "),
}


@pytest.mark.parametrize("case", CASES)
def test_the_value_is_said_and_not_in_what_may_leave_the_room(case: str) -> None:
    make, value, unnamed = CASES[case]
    notes = [note for note in make().design.notes if not str(note).endswith("If not: task=...")]
    assert any(value in str(note) for note in notes)
    shown = [str(note.redacted(10)) for note in notes]
    assert not any(value in text for text in shown)
    assert any(unnamed in text for text in shown)
