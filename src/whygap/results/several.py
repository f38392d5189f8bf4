"""One quantity in several targets, looked at together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from whygap.errors import InputError
from whygap.estimate import Estimate, Interval
from whygap.results.gap import Gap
from whygap.results.points import Points


@dataclass(frozen=True, slots=True)
class Series:
    """The gap, a part or the points of a variable, in every target that has it.

    Attributes:
        part: "gap" or the name of the part.
        variable: of the part; empty for the part itself.
        label: what the quantity is called; empty for the gap.
        estimates: target -> estimate, in the order of the targets.
    """

    part: str
    variable: str
    estimates: Mapping[str, Estimate]
    label: str = ""

    def intervals(self, level: float) -> dict[str, Interval]:
        """Intervals that hold for all targets at once.

        Each has the level whose power is `level` (Sidak): of jointly normal estimates that is
        enough, however they are correlated, as they are through the source they share.
        """
        own = level ** (1 / len(self.estimates)) if self.estimates else level
        return {name: estimate.interval(own) for name, estimate in self.estimates.items()}

    def significant(self, level: float) -> list[str]:
        """Return the targets whose interval leaves out 0, all targets looked at."""
        return [name for name, ends in self.intervals(level).items() if ends.excludes(0.0)]

    def strength(self) -> float:
        """The largest distance from 0 in any target, in standard errors."""
        known = [one for one in self.estimates.values() if one.standard_error > 0]
        return max((abs(one.value) / one.standard_error for one in known), default=0.0)


def every_gap(gaps: Mapping[str, Gap]) -> Series:
    """The gap of every target."""
    return Series("gap", "", {name: gap.total for name, gap in gaps.items()})


def every_part(gaps: Mapping[str, Gap]) -> list[Series]:
    """Every part that some target has, from source to target."""
    parts = {name: gap.parts for name, gap in gaps.items()}
    longest = max(parts.values(), key=len)
    return [
        Series(part, "", {n: own[part] for n, own in parts.items() if part in own}, first.label)
        for part, first in longest.items()
    ]


def every_point(gaps: Mapping[str, Gap]) -> list[Series]:
    """The points of every variable that some target has, the furthest from 0 first."""
    found: dict[tuple[str, str], dict[str, Estimate]] = {}
    for target, gap in gaps.items():
        for part, variable, estimate in _points(gap):
            found.setdefault((part, variable), {})[target] = estimate
    made = [Series(part, variable, each, variable) for (part, variable), each in found.items()]
    return sorted(made, key=lambda one: -one.strength())


def apart(gaps: Mapping[str, Gap]) -> Points:
    """The metric in each target less its mean over the targets; the source has no say in it.

    Targets are tables of their own, so their means are taken as independent.
    """
    ends = {name: gap.target for name, gap in gaps.items()}
    whole = Points(ends, np.diag([end.standard_error**2 for end in ends.values()]))
    mean = dict.fromkeys(ends, -1 / len(ends))
    factors = {name: mean | {name: 1 - 1 / len(ends)} for name in ends}
    mixing = np.array([[factors[row][name] for name in ends] for row in ends])
    covariance = mixing @ whole.covariance @ mixing.T
    return Points({name: whole.combined(each) for name, each in factors.items()}, covariance)


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
    for part, points in gap.points.items():
        for variable, estimate in points.items():
            yield part, variable, estimate
