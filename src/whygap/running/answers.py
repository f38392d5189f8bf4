"""What an analysis answers."""

from __future__ import annotations

from dataclasses import dataclass

from whygap.estimate import Estimate
from whygap.results import Detailed, Points, Recoverable, Where


@dataclass(frozen=True, slots=True, eq=False)
class SubsetNumerators:
    """Denominator of a part and numerators of some subsets, combined over repeats."""

    denominator: Estimate
    numerators: tuple[Estimate, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Details:
    """Answers to the questions that were asked."""

    points: Points | None = None
    where: Where | None = None
    recoverable: Recoverable | None = None
    covariate: Detailed | None = None
    outcome: Detailed | None = None
