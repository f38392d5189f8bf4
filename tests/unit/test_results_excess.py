"""Who is hit more than others: a group's points beyond what its share of the rows would carry."""

from __future__ import annotations

import numpy as np
import pytest

from whygap.domains import ByDomain
from whygap.estimate import Estimate, Sample
from whygap.estimate.combine import joint_covariance
from whygap.results import Affected, AffectedGroup

ROWS = 6000
SIZES = {"rare": 0.06, "common": 0.94}


def where(changes: dict[str, float], seed: int = 0) -> Affected:
    """Rows whose metric changed by so much, by level of one variable; and halves by chance."""
    rng = np.random.default_rng(seed)
    sample = Sample.of(ByDomain(10, ROWS))
    level = rng.choice(list(SIZES), size=ROWS, p=list(SIZES.values()))
    half = rng.choice(["left", "right"], size=ROWS)
    change = np.vectorize(changes.get)(level) + rng.normal(0, 0.4, ROWS)
    groups = [
        _group(sample, name, label, codes == label, change)
        for name, codes in {"size": level, "side": half}.items()
        for label in np.unique(codes)
    ]
    return Affected(tuple(groups), joint_covariance([g.points for g in groups]), (), 0)


def _group(
    sample: Sample, name: str, label: str, inside: np.ndarray, change: np.ndarray
) -> AffectedGroup:
    points = Estimate.from_contributions(sample, source=np.zeros(10), target=inside * change)
    return AffectedGroup(name, str(label), 0.0, float(inside.mean()), points, None)


def clear(found: Affected, intervals: tuple[tuple[float, float], ...]) -> list[str]:
    named = zip(found.groups, intervals, strict=True)
    return [group.label for group, (low, high) in named if low > 0 or high < 0]


def test_a_shift_that_hits_everybody_alike_hits_nobody_more_than_others():
    found = where({"rare": -0.1, "common": -0.1})
    assert "common" in clear(found, found.simultaneous())
    assert clear(found, found.simultaneous_excess()) == []


def test_rows_that_are_hit_harder_have_an_excess():
    found = where({"rare": -0.5, "common": -0.05})
    assert clear(found, found.simultaneous_excess()) == ["common", "rare"]
    excess = dict(zip((g.label for g in found.groups), found.excess(), strict=True))
    assert excess["rare"].value == pytest.approx(0.06 * 0.94 * -0.45, rel=0.2)
    assert excess["rare"].value == pytest.approx(-excess["common"].value)


def test_it_is_the_points_less_the_share_of_the_whole_as_influence_values_have_it():
    found = where({"rare": -0.3, "common": -0.05})
    for group, excess in zip(found.groups, found.excess(), strict=True):
        own = [one.points for one in found.groups if one.variable == group.variable]
        exact = group.points - sum(own[1:], own[0]) * group.target_share
        assert excess.value == pytest.approx(exact.value)
        assert excess.standard_error == pytest.approx(exact.standard_error)
        assert excess.degrees_of_freedom <= group.points.degrees_of_freedom
