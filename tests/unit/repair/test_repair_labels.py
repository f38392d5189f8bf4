from __future__ import annotations

import numpy as np
import pytest

from whygap.domains import ByDomain
from whygap.errors import ResultError, SettingsError
from whygap.estimate import Estimate, Sample
from whygap.repair import plan_labels


def difference(rows: ByDomain[int], seed: int = 0) -> Estimate:
    rng = np.random.default_rng(seed)
    values = ByDomain(rng.normal(0, 1, rows.source), rng.normal(0, 2, rows.target))
    return Estimate.from_contributions(Sample.of(rows), source=-values.source, target=values.target)


def width(estimate: Estimate) -> float:
    low, high = estimate.interval(0.95)
    return high - low


def test_the_planned_rows_reach_the_width():
    before = difference(ByDomain(4000, 300))
    plan = plan_labels(before, width=0.3)
    assert plan.width_now == pytest.approx(width(before))
    assert plan.more_target is not None
    after = difference(ByDomain(4000, 300 + plan.more_target), seed=1)
    assert width(after) == pytest.approx(0.3, rel=0.1)
    assert str(plan) == (
        f"The 95% interval is {plan.width_now:.3g} wide with 300 target rows; "
        f"{plan.more_target} more would make it 0.3."
    )


def test_the_source_sets_a_floor():
    plan = plan_labels(difference(ByDomain(100, 3000)), width=0.2)
    assert plan.more_target is None
    assert plan.floor > 0.2
    grown = ByDomain(100 + plan.more_each.source, 3000 + plan.more_each.target)
    assert width(difference(grown, seed=2)) == pytest.approx(0.2, rel=0.15)
    assert str(plan) == (
        f"The 95% interval is {plan.width_now:.3g} wide; target rows alone cannot make it 0.2 "
        f"(the source keeps it above {plan.floor:.3g}). {plan.more_each.source} more source rows "
        f"and {plan.more_each.target} more target rows would."
    )


def test_a_width_that_is_reached_needs_nothing():
    plan = plan_labels(difference(ByDomain(500, 500)), width=5.0)
    assert plan.more_target == 0
    assert plan.more_each == ByDomain(0, 0)
    assert str(plan) == (
        f"The 95% interval is {plan.width_now:.3g} wide, which is no more than 5: "
        "no more rows are needed."
    )


def test_a_level_is_not_rounded():
    plan = plan_labels(difference(ByDomain(500, 500)), width=5.0, level=0.999)
    assert str(plan).startswith("The 99.9% interval is ")


def test_bad_use_is_refused():
    with pytest.raises(ResultError) as caught:
        plan_labels(Estimate(0.1, 0.01), width=0.1)
    assert str(caught.value) == (
        "A plan for labels needs the estimate's influence values. "
        "Save the result with gap.save(path, influence=True), or plan before saving."
    )
    with pytest.raises(SettingsError) as refused:
        plan_labels(difference(ByDomain(50, 50)), width=0.0)
    assert str(refused.value) == "The wanted width must be above 0. Got 0.0."


def test_tables_of_the_same_people_are_refused():
    people = ByDomain(np.arange(30), np.arange(30))
    values = np.random.default_rng(0).normal(size=30)
    sample = Sample.of(ByDomain(30, 30), clusters=people)
    estimate = Estimate.from_contributions(sample, source=values, target=-values)
    with pytest.raises(ResultError, match="needs tables that share no clusters"):
        plan_labels(estimate, 0.1)
