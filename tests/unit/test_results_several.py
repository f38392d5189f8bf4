"""One quantity in several targets: intervals that hold at once, and who differs from the rest."""

from __future__ import annotations

import math

import numpy as np
import pytest
from result_factory import make_gap

from whygap.errors import InputError
from whygap.estimate import Estimate
from whygap.results.several import (
    Series,
    apart,
    every_gap,
    every_part,
    every_point,
    require_alike,
)

TARGETS = {
    "March": make_gap(corners=(0.80, 0.80, 0.79, 0.78), seed=1),
    "April": make_gap(corners=(0.80, 0.79, 0.77, 0.70), seed=2),
    "May": make_gap(corners=(0.80, 0.79, 0.77, 0.77), seed=3),
}


def test_intervals_of_all_targets_cover_together_whatever_the_source_does() -> None:
    """The source's error is in every gap: they are correlated, and the product bound holds."""
    rng, held, rounds = np.random.default_rng(0), 0, 2000
    for _ in range(rounds):
        values = rng.normal(0, 1, 12) + rng.normal(0, 1)
        every = Series("gap", "", {str(k): Estimate(v, math.sqrt(2)) for k, v in enumerate(values)})
        held += not every.significant(0.95)
    # Between the level and all but certain: correlation 1/2 makes the bound a little wide.
    assert 0.95 - 3 * math.sqrt(0.05 * 0.95 / rounds) < held / rounds < 0.985


def test_one_target_keeps_its_own_interval() -> None:
    gap = make_gap()
    assert every_gap({"B": gap}).intervals(0.9) == {"B": gap.total.interval(0.9)}


def test_parts_and_points_of_every_target_in_order() -> None:
    assert [one.part for one in every_part(TARGETS)] == ["baseline", "covariate", "outcome"]
    points = every_point(TARGETS)
    assert {one.variable for one in points} >= {"age", "sex", "schooling"}
    strengths = [one.strength() for one in points]
    assert strengths == sorted(strengths, reverse=True)
    assert all(list(one.estimates) == list(TARGETS) for one in points)


def test_a_part_that_a_target_lacks_is_left_out_for_it() -> None:
    without = TARGETS | {"June": make_gap(baseline=())}
    assert list(every_part(without)[0].estimates) == list(TARGETS)
    assert list(every_part(without)[1].estimates) == list(without)


def test_distance_from_the_mean_of_all_targets() -> None:
    found = apart(TARGETS)
    ends = {name: gap.target for name, gap in TARGETS.items()}
    mean = np.mean([end.value for end in ends.values()])
    assert found["April"].value == pytest.approx(ends["April"].value - mean)
    errors = {name: end.standard_error for name, end in ends.items()}
    own = (2 / 3 * errors["April"]) ** 2 + (errors["March"] ** 2 + errors["May"] ** 2) / 9
    assert found["April"].standard_error == pytest.approx(math.sqrt(own))
    assert np.diag(found.covariance)[1] == pytest.approx(own)
    assert sum(one.value for one in found.values()) == pytest.approx(0)


def test_results_of_two_metrics_do_not_share_a_page() -> None:
    mixed = {"B": make_gap(), "C": make_gap(metric="auc")}
    with pytest.raises(InputError) as raised:
        require_alike(mixed)
    assert str(raised.value) == (
        "Results on one page must be of one metric. Got accuracy, auc. "
        "Write a report for each metric."
    )
