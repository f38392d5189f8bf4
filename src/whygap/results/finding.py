"""The value type of statements: a finding is one statement on a result, as data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from whygap.estimate import Estimate, Interval

if TYPE_CHECKING:
    from whygap.results.gap import About

MAX_NAMED_VARIABLES = 3  # variables in one sentence; more are read as a table


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """One statement on a result, as data.

    Attributes:
        kind: what is stated, as listed in `whygap.results.findings`.
        part: name of the part; empty where the statement is on the whole gap.
        variable: name of the variable; empty where there is none.
        group: level, range or rule in words; empty where there is none.
        estimate: the number, if there is one.
        interval: of the estimate; of rules and groups simultaneous over all that were looked at.
        level: of the interval.
        facts: what else is known, by name.
    """

    kind: str
    part: str = ""
    variable: str = ""
    group: str = ""
    estimate: Estimate | None = None
    interval: Interval | None = None
    level: float = 0.95
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def significant(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.interval is not None and self.interval.excludes(0.0)

    @property
    def value(self) -> float:
        """The estimate's value; NaN without an estimate."""
        return math.nan if self.estimate is None else self.estimate.value

    def knowing(self, **facts: Any) -> Finding:
        """Return a copy with further facts."""
        return replace(self, facts={**self.facts, **facts})


def estimated(
    kind: str, estimate: Estimate, level: float, *, part: str = "", variable: str = "", **facts: Any
) -> Finding:
    """Return a finding on an estimate, with the estimate's own interval."""
    return Finding(kind, part, variable, "", estimate, estimate.interval(level), level, facts)


def direction(analysis: About, change: float) -> str:
    """Return "better" or "worse"; nothing where the metric's direction is not known."""
    if analysis.higher_is_better is None or change == 0:
        return ""
    return "better" if (change > 0) == analysis.higher_is_better else "worse"
