"""A column that means something else in one table is named, whatever was done to it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from learning_designs import make_design

from whygap.domains import ByDomain
from whygap.nuisances.meaning import _functions, meaning_notes
from whygap.nuisances.overlap import fit_ratios_alone
from whygap.settings import Settings

FAST = Settings(learner="fast", folds=3, progress=False)
UNEXPLAINED = "Rows alike in every column get other predictions in the two tables, and no single"


def design_of(spoil=lambda x: x, hidden=0.0, label=False, noise=0.0):
    """x0, x1, x2, each part of the model; the target's x1 is spoilt after the model has seen it."""
    rng = np.random.default_rng(4)
    tables = [rng.normal(size=(500, 3)) for _ in range(2)]
    tables[1][:, 0] += 0.3
    scores = [x @ [1.0, 1.0, -1.0] + noise * rng.normal(size=500) for x in tables]
    scores[1] = scores[1] + hidden
    made = make_design(*tables)
    made.features.target[:, 1] = spoil(made.features.target[:, 1])
    risks = [1 / (1 + np.exp(-score)) for score in scores]
    prediction = [(risk > 0.5).astype(float) if label else risk for risk in risks]
    return replace(made, prediction=ByDomain(*prediction))


@pytest.mark.parametrize("label", [False, True])
@pytest.mark.parametrize("noise", [0.0, 2.0])
def test_columns_that_mean_the_same_raise_nothing(label, noise):
    assert meaning_notes(design_of(label=label, noise=noise), FAST) == ()


@pytest.mark.parametrize(
    "spoil",
    [np.sort, lambda x: -x, lambda x: 3 * x, lambda x: x + 1, lambda x: np.round(x) % 2],
    ids=["sorted", "turned", "scaled", "shifted", "recoded"],
)
def test_a_column_that_does_not_is_named(spoil):
    (note,) = meaning_notes(design_of(spoil), FAST)
    assert note.level == "problem"
    assert str(note) == (
        "Column 'x1' does not mean the same in both tables: rows alike in every column get other "
        "predictions, and far less so without 'x1'. Compare its units, its codes, and whether its "
        "values still belong to their rows; until then do not read the parts."
    )


@pytest.mark.parametrize(("hidden", "level"), [(0.8, "warning"), (3.0, "problem")])
def test_what_the_columns_do_not_show_is_no_column_s_fault(hidden, level):
    (note,) = meaning_notes(design_of(hidden=hidden), FAST)
    assert note.level == level
    assert str(note).startswith(UNEXPLAINED)


def test_units_that_are_off_by_little_are_let_pass():
    assert meaning_notes(design_of(lambda x: 1.02 * x), FAST) == ()


def test_a_constant_prediction_tells_nothing():
    design = design_of(np.sort)
    constant = design.prediction.map(lambda p: np.full(len(p), 0.5))
    assert meaning_notes(replace(design, prediction=constant), FAST) == ()


def checkered(x):
    """A model of products and steps, which no additive fit follows."""
    return 0.5 + 0.3 * np.sign(np.sin(3 * x[:, 0]) * np.sin(2 * x[:, 1])) + 0.1 * np.tanh(x[:, 2])


def honest(seed):
    """The same model of the same columns, whose law has moved."""
    rng = np.random.default_rng(seed)
    tables = rng.normal(size=(350, 3)), rng.normal(0.5, 0.8, size=(500, 3))
    return replace(make_design(*tables), prediction=ByDomain(*map(checkered, tables)))


def test_a_model_that_the_fits_cannot_follow_raises_no_alarm():
    designs = [honest(seed) for seed in range(12)]
    assert [notes for design in designs if (notes := meaning_notes(design, FAST))] == []
    found = [_functions(design, FAST).distance((0, 1, 2)) for design in designs]
    distances = np.array([one.value / one.standard_error for one in found])
    # Standard normal where the tables agree: the mean of 12 has a standard error of 0.29
    assert abs(distances.mean()) < 3 * 0.29
    assert 0.4 < distances.std() < 1.9


def test_a_ratio_that_is_there_is_taken():
    design = design_of(np.sort)
    ratio = fit_ratios_alone(design, FAST).wz
    (own,), (given,) = meaning_notes(design, FAST), meaning_notes(design, FAST, ratio)
    assert own == given
    assert "Column 'x1' does not mean the same" in str(given)
