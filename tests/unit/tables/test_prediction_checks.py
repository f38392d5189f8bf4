"""What a look at predictions and rows finds before anything is explained."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from small_study import make_study, make_table, tables

from whygap.data_checks.hints import _hashed
from whygap.data_checks.predictions import look_at, prediction_notes
from whygap.domains import ByDomain
from whygap.tables.design import Design

NAMES = ByDomain("2018", "2024")
NAMED = {"source_name": "2018", "target_name": "2024"}


def notes_of(**changes) -> list[tuple[str, str]]:
    """Level and text of the notes on two tables whose columns were changed by name."""
    pair = [table.assign(**changes) for table in (make_table(500, 0.0, 1), make_table(500, 0.0, 2))]
    design = make_study(*pair).design
    return [(note.level, str(note)) for note in prediction_notes(design, NAMES)]


def test_sound_predictions_need_no_word():
    assert notes_of() == []


def test_measures_are_those_of_the_rows():
    source, target = tables()
    source, target = (t.assign(k=np.arange(len(t)) % 3 + 1.0) for t in (source, target))
    found = {m.name: m for m in look_at(make_study(source, target, weights="k").design)}
    assert list(found) == [
        "AUC",
        "accuracy",
        "commoner outcome",
        "mean prediction",
        "mean outcome",
        "calibration error",
    ]
    for domain, table in (("source", source), ("target", target)):
        weight = table["k"] / table["k"].sum()
        auc = roc_auc_score(table["y"], table["risk"], sample_weight=weight)
        assert found["AUC"].value[domain] == pytest.approx(auc)
        right = (table["risk"] >= 0.5) == (table["y"] == 1)
        assert found["accuracy"].value[domain] == pytest.approx((weight * right).sum())
        positive = (weight * table["y"]).sum()
        assert found["mean outcome"].value[domain] == pytest.approx(positive)
        assert found["commoner outcome"].value[domain] == pytest.approx(max(positive, 1 - positive))
        assert found["mean prediction"].value[domain] == pytest.approx(
            (weight * table["risk"]).sum()
        )
    assert found["AUC"].text(0.81234) == "0.812"
    assert found["accuracy"].text(0.81234) == "81.2%"


def test_calibration_error_is_the_distance_in_tenths():
    rng = np.random.default_rng(0)
    risk = np.tile(np.linspace(0.05, 0.95, 10), 2000)
    truth = (rng.random(len(risk)) < np.clip(risk + 0.04, 0, 1)).astype(int)
    table = make_table(len(risk), 0.0, 3).assign(risk=risk, y=truth)
    found = {m.name: m.value.source for m in look_at(make_study(table, table).design)}
    assert found["calibration error"] == pytest.approx(0.04, abs=0.01)


def test_labels_have_no_calibration():
    pair = [t.assign(risk=(t["risk"] > 0.5).astype(int)) for t in tables()]
    assert "calibration error" not in {m.name for m in look_at(make_study(*pair).design)}


def test_reversed_scores_are_a_problem_at_home_and_a_warning_away():
    found = notes_of(risk=lambda t: 1 - t["risk"])
    assert [level for level, _ in found] == ["problem", "warning", "warning"]
    areas = {m.name: m for m in look_at(make_study(*tables()).design)}["AUC"].value
    assert areas.source > 0.5
    assert found[0][1].startswith("In 2018 high scores go with outcome 0 (AUC 0.")
    assert found[0][1].endswith(
        "): the scores may be 1 - p, or meant for the other outcome value (positive=)."
    )
    assert found[1][1].startswith("In 2024 high scores go with outcome 0 (AUC 0.")


def test_a_model_below_the_commoner_outcome_is_told():
    found = notes_of(y=lambda t: (np.arange(len(t)) % 10 > 0).astype(int), risk=lambda t: t["risk"])
    ((level, text),) = found
    table = make_table(500, 0.0, 1)
    right = np.mean((table["risk"] >= 0.5) == (np.arange(500) % 10 > 0))
    assert level == "warning"
    assert text == (
        f"In 2018 the model is right in {right:.1%} of the rows; always saying 1 would be right in "
        "90.0%."
    )


def test_a_threshold_that_was_moved_makes_that_no_surprise():
    table = make_table(500, 0.0, 1).assign(y=np.arange(500) % 10 == 0)
    design = make_study(table, table, threshold=0.05).design
    (note,) = prediction_notes(design, NAMES)
    assert note.level == "info"
    assert str(note).startswith("In 2018 the model is right in ")


def test_a_constant_score_is_told():
    assert notes_of(risk=0.3) == [
        ("warning", "The prediction is 0.3 in every row: it cannot tell any rows apart.")
    ]


def test_a_score_that_is_the_outcome_is_a_problem():
    text = (
        "The prediction gives the outcome in every row of both tables: it is the outcome itself, "
        "or was made from it."
    )
    assert notes_of(risk=lambda t: t["y"]) == [("problem", text)]
    assert notes_of(risk=lambda t: 0.2 + 0.1 * t["y"])[0] == ("problem", text)


def test_an_almost_perfect_score_is_a_warning():
    pair = [make_table(2000, 0.0, seed) for seed in (1, 2)]
    for table in pair:
        table["risk"] = 0.1 + 0.8 * table["y"] + np.linspace(0, 0.1, len(table))
        table.loc[table.index[table["y"] == 1][0], "risk"] = 0.15
    found = prediction_notes(make_study(*pair).design, NAMES)
    assert [note.level for note in found] == ["warning", "warning"]
    assert str(found[0]).startswith(
        "The prediction gives the outcome almost perfectly in 2018 (AUC"
    )


def other_task(task: str, outcome, prediction) -> Design:
    design = make_study(*tables(300, 300)).design
    both = ByDomain(outcome, outcome), ByDomain(prediction, prediction)
    classes = ("red", "green", "blue") if task == "multiclass" else ()
    return replace(design, task=task, outcome=both[0], prediction=both[1], classes=classes)


def test_numbers_are_compared_with_their_mean():
    rng = np.random.default_rng(0)
    outcome = rng.normal(10, 2, 300)
    design = other_task("regression", outcome, outcome + rng.normal(1, 1, 300))
    found = {m.name: m.value.source for m in look_at(design)}
    error = np.mean((design.prediction.source - outcome) ** 2)
    assert found["R2"] == pytest.approx(1 - error / outcome.var())
    assert found["bias"] == pytest.approx(np.mean(design.prediction.source - outcome))
    assert prediction_notes(design, NAMES) == ()
    (note,) = prediction_notes(other_task("regression", outcome, outcome * 1000), NAMES)
    assert str(note).startswith(
        f"In 2018 the predictions are further from the outcome than its mean ({outcome.mean():.4g})"
    )
    (equal,) = prediction_notes(other_task("regression", outcome, outcome), NAMES)
    assert equal.level == "problem"


def test_classes_are_compared_with_the_commonest():
    outcome = np.repeat([0.0, 1.0, 2.0], [180, 60, 60])
    found = {
        m.name: m.value.source for m in look_at(other_task("multiclass", outcome, outcome[::-1]))
    }
    assert found["commonest class"] == pytest.approx(0.6)
    (note,) = prediction_notes(other_task("multiclass", outcome, (outcome + 1) % 3), NAMES)
    assert str(note) == (
        "In 2018 the model is right in 0.0% of the rows; always saying 'red' would be right in "
        "60.0%."
    )


# -- rows in both tables ---------------------------------------------------------------------------


def copies(source, target, **roles):
    notes = make_study(source, target, **NAMED, **roles).design.notes
    return [(n.level, str(n)) for n in notes if n.kind in ("shared_rows", "repeated_rows")]


def test_rows_in_both_tables_are_counted():
    source, target = tables()
    target.iloc[:40] = source.iloc[:40].to_numpy()
    text = (
        "40 of 300 rows of 2024 are equal in every column to rows of 2018: if they are the same "
        "cases, leave them out of one table; intervals take the tables for independent."
    )
    assert copies(source, target.astype(source.dtypes)) == [("warning", text)]


def test_rows_that_stand_twice_in_one_table_are_counted():
    source, target = tables()
    twice = pd.concat([source, source.head(40)])
    text = (
        f"40 of {len(twice)} rows of 2018 repeat another one in every column: if they are copies, "
        "leave them out; if several rows belong to one case, name it with clusters=. Intervals "
        "take rows for independent."
    )
    assert copies(twice, target) == [("warning", text)]
    numbered = [t.assign(case=np.arange(len(t)) // 2) for t in (twice, target)]
    assert copies(*numbered, clusters="case") == []


def test_missing_values_are_equal_and_zeros_have_no_sign():
    source, target = tables(400, 400)
    for values in (np.nan, -0.0):
        source.loc[:39, "b"] = values
        target.iloc[:40] = source.iloc[:40].to_numpy()
        target = target.astype(source.dtypes)
        target.loc[:39, "b"] = 0.0 if values == 0 else values
        ((_, text),) = copies(source, target)
        assert text.startswith("40 of 400 rows")


def test_rows_of_a_few_codes_are_equal_by_chance():
    rng = np.random.default_rng(0)
    pair = []
    for rows in (600, 500):
        codes = {name: rng.integers(0, 3, rows) for name in "wabc"}
        score = rng.integers(1, 3, rows) / 3
        pair.append(make_table(rows, 0.0, 1).assign(**codes, risk=score))
    assert copies(*pair) == []


def test_small_whole_numbers_do_not_collide():
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 1000, 20_000) for _ in range(4)]
    draw = np.random.default_rng(1)
    keys = sum(_hashed(column, draw) for column in columns)
    assert len(np.unique(keys)) == len(set(zip(*(c.tolist() for c in columns), strict=True)))
