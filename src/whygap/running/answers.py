"""What an analysis answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from whygap.estimate import Estimate
from whygap.results import Affected, Points, Recoverable, Shares


@dataclass(frozen=True, slots=True, eq=False)
class SubsetNumerators:
    """Denominator of a part and numerators of some subsets, combined over repeats."""

    denominator: Estimate
    numerators: tuple[Estimate, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Details:
    """Answers to the questions that were asked."""

    points: Mapping[str, Points] = field(default_factory=dict)
    affected: Mapping[str, Affected] = field(default_factory=dict)
    recoverable: Recoverable | None = None
    shares: Mapping[str, Shares] = field(default_factory=dict)
