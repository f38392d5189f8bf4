"""One quantity in several targets, looked at together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from whygap.errors import InputError
from whygap.estimate import Estimate
from whygap.results.gap import Gap
from whygap.results.joint import Joint


@dataclass(frozen=True, slots=True)
class Series:
    """The gap, a part or the points of a variable, in every target that has it.

    Attributes:
        part: "gap" or the name of the part.
        variable: of the part; empty for the part itself.
        estimates: target -> estimate, in the order of the targets.
    """

    part: str
    variable: str
    estimates: Mapping[str, Estimate]

    def intervals(self, level: float) -> dict[str, tuple[float, float]]:
        """Intervals that hold for all targets at once.

        Each has the level whose power is `level` (Sidak): of jointly normal estimates that is
        enough, however they are correlated, as they are through the source they share.
        """
        own = level ** (1 / len(self.estimates)) if self.estimates else level
        return {name: estimate.interval(own) for name, estimate in self.estimates.items()}

    def clear(self, level: float) -> list[str]:
        """Targets whose interval leaves out 0, all targets looked at."""
        found = self.intervals(level)
        return [name for name, (low, high) in found.items() if low > 0 or high < 0]

    def strength(self) -> float:
        """The largest distance from 0 in any target, in standard errors."""
        known = [one for one in self.estimates.values() if one.standard_error > 0]
        return max((abs(one.value) / one.standard_error for one in known), default=0.0)


def every_gap(gaps: Mapping[str, Gap]) -> Series:
    """The gap of every target."""
    return Series("gap", "", {name: gap.aggregate.gap for name, gap in gaps.items()})


def every_part(gaps: Mapping[str, Gap]) -> list[Series]:
    """Every part that some target has, from source to target."""
    parts = {name: gap.shown_parts() for name, gap in gaps.items()}
    longest = max(parts.values(), key=len)
    return [
        Series(part, "", {name: own[part] for name, own in parts.items() if part in own})
        for part in longest
    ]


def every_point(gaps: Mapping[str, Gap]) -> list[Series]:
    """The points of every variable that some target has, the furthest from 0 first."""
    found: dict[tuple[str, str], dict[str, Estimate]] = {}
    for target, gap in gaps.items():
        for part, variable, estimate in _points(gap):
            found.setdefault((part, variable), {})[target] = estimate
    made = [Series(part, variable, each) for (part, variable), each in found.items()]
    return sorted(made, key=lambda one: -one.strength())


def apart(gaps: Mapping[str, Gap]) -> Joint:
    """The metric in each target less its mean over the targets; the source has no say in it.

    Targets are tables of their own, so their means are taken as independent.
    """
    ends = {name: gap.aggregate.end for name, gap in gaps.items()}
    whole = Joint(ends, np.diag([end.standard_error**2 for end in ends.values()]))
    mean = dict.fromkeys(ends, -1 / len(ends))
    factors = {name: mean | {name: 1 - 1 / len(ends)} for name in ends}
    mixing = np.array([[factors[row][name] for name in ends] for row in ends])
    covariance = mixing @ whole.covariance @ mixing.T
    return Joint({name: whole.combined(each) for name, each in factors.items()}, covariance)


def require_alike(gaps: Mapping[str, Gap]) -> None:
    """Results on one page must be there, and be of one metric."""
    if not gaps:
        raise InputError("A report needs at least one result", got="none")
    metrics = dict.fromkeys(gap.about.metric for gap in gaps.values())
    if len(metrics) > 1:
        raise InputError(
            "Results on one page must be of one metric",
            got=", ".join(metrics),
            hint="Write a report for each metric.",
        )


def _points(gap: Gap) -> Iterator[tuple[str, str, Estimate]]:
    for part, joint in (gap.points.parts() if gap.points else {}).items():
        for variable, estimate in joint.items():
            yield part, variable, estimate
