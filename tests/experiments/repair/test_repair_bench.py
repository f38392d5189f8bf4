from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from repair_worlds import world

from experiments.repair import Bench, auc_differences
from whygap.domains import ByDomain
from whygap.errors import TableError
from whygap.settings import Settings

SETTINGS = Settings(folds=3)


@pytest.fixture(scope="module")
def design():
    return world(ByDomain(1200, 900))


@pytest.fixture(scope="module")
def bench(design):
    return Bench(design, SETTINGS)


def test_the_shifted_variable_wins_most_of_the_gap_back(bench):
    before = bench.original().scores.auc
    gains = [bench.targeted(players).scores.auc - before for players in ((), (0,))]
    ceiling = bench.retrained().scores.auc - before
    assert gains[1].value > gains[0].value + 0.03
    assert gains[1].value > 0.8 * ceiling.value
    assert gains[1].interval()[0] > 0


def test_steps_are_named(bench):
    steps = [bench.original(), bench.targeted(()), bench.targeted((0,)), bench.retrained()]
    assert [(step.kind, step.variables) for step in steps] == [
        ("original", ()),
        ("targeted", ()),
        ("targeted", ("z1",)),
        ("retrained", ("z1", "z2", "z3", "z4")),
    ]


def test_the_order_of_variables_does_not_matter(bench):
    forth, back = bench.targeted((0, 1)), bench.targeted((1, 0))
    assert forth.scores is back.scores
    assert (forth.variables, back.variables) == (("z1", "z2"), ("z2", "z1"))


def test_differences_are_zero_where_the_choices_agree(design):
    first, second = auc_differences(design, ("z1", "z2"), ("z2", "z1"), 2, SETTINGS)
    assert first.interval()[0] > 0
    assert second.value == 0
    assert second.standard_error == 0


def test_a_known_source_risk_is_used(design, bench):
    known = Bench(replace(design, source_risk=design.prediction), SETTINGS)
    assert known.source_risk is design.prediction.target
    fitted = bench.targeted(()).scores.auc
    assert known.targeted(()).scores.auc.value == pytest.approx(fitted.value, abs=0.02)


def test_too_few_target_rows_are_refused():
    few = world(ByDomain(200, 30))
    with pytest.raises(TableError) as caught:
        Bench(few, SETTINGS)
    assert str(caught.value) == (
        "Revising needs at least 50 target rows with at least 10 of each outcome. "
        f"Got 30 rows, {int(few.outcome.target.sum())} with the outcome. Label more target rows."
    )
    one_sided = replace(world(ByDomain(200, 80)), outcome=ByDomain(np.zeros(200), np.zeros(80)))
    with pytest.raises(TableError, match=r"Got 80 rows, 0 with the outcome\."):
        Bench(one_sided, SETTINGS)
