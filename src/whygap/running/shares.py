"""The paper's shares of one part: a game of explained shift, divided by the whole shift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from whygap.domains import Subset
from whygap.estimate import Estimate
from whygap.estimate.combine import joint_covariance, median_of
from whygap.results import Points, Shares, SubsetValue
from whygap.running.game import Played, Run, lean, play
from whygap.tables.design import Design

PartName = Literal["covariate", "outcome"]
FLOOR = 0.005  # of a share: a sampling error of half a percentage point is always small enough
# Shares with standard errors of ten times the whole say nothing, whatever their sampling error.
_WIDEST = 10.0
_WHERE = {"covariate": "in each stratum of the baseline variables", "outcome": "at each row"}


class Part(Protocol):
    """A detailed part of one cross-fitting: `nuisances.covariate` and `nuisances.outcome`."""

    @property
    def players(self) -> int:
        """How many players there are."""

    @property
    def denominator(self) -> Estimate:
        """What shares are shares of."""

    def numerator(self, subset: Subset) -> Estimate:
        """What a subset leaves unexplained."""


@dataclass(frozen=True, slots=True, eq=False)
class _Explained:
    """The game v(s) = denominator - numerator(s)."""

    part: Part

    @property
    def players(self) -> int:
        return self.part.players

    def value(self, subset: Subset) -> Estimate:
        return self.part.denominator - self.part.numerator(subset)


def shares(part: PartName, parts: Sequence[Part], names: tuple[str, ...], run: Run) -> Shares:
    """Denominator, values of subsets, shares."""
    denominator = median_of([one.denominator for one in parts])
    low, high = denominator.interval(run.settings.level)
    if low <= 0 or not np.isfinite(denominator.value):
        reason = _nothing_sure(part, denominator, (low, high), run.settings.level)
        return undefined(part, names, denominator, reason)
    games = [_Explained(one) for one in parts]
    played = play(f"{part} shares", games, run, floor=FLOOR, scale=denominator)
    widest = max(e.standard_error for e in played.shares)
    if not widest <= _WIDEST:
        return undefined(part, names, denominator, _too_wide(widest))
    values = dict(zip(names, played.shares, strict=True))
    return Shares(
        part=part,
        players=names,
        denominator=denominator,
        base=played.empty / denominator,
        values=Points(values, joint_covariance(played.shares), played.sampling),
        subsets=_subset_values(names, played, denominator),
    )


def _subset_values(
    names: tuple[str, ...], played: Played, denominator: Estimate
) -> tuple[SubsetValue, ...]:
    numerators = lean([denominator - explained for explained in played.values])
    values = lean([explained / denominator for explained in played.values])
    return tuple(
        SubsetValue(tuple(names[k] for k in subset), numerator, value)
        for subset, numerator, value in zip(played.subsets, numerators, values, strict=True)
    )


def _nothing_sure(
    name: str, denominator: Estimate, interval: tuple[float, float], level: float
) -> str:
    """The denominator may be too noisy although the part as a whole is clear."""
    low, high = interval
    return (
        f"Shares divide up the effect of the {name} shift on the metric {_WHERE[name]}, squared "
        f"and averaged. That size, {denominator.value:.3g}, has a {100 * level:g}% interval from "
        f"{low:.3g} to {high:.3g}, which {'lies below' if high < 0 else 'reaches'} 0, so there is "
        "nothing sure to divide."
    )


def _too_wide(widest: float) -> str:
    return (
        f"A share has a standard error of {widest:.3g} times the whole, so shares would say "
        "nothing. A few rows carry nearly all the weight: the tables overlap too little."
    )


def no_shares(design: Design) -> str:
    """Why there are no shares, whatever the data; empty where there may be some."""
    if design.order == "outcome first":
        return (
            "Shares are defined where the covariates come first. Points say what each variable "
            "costs among rows alike in the outcome."
        )
    scored_right_or_wrong = design.metric.name in ("accuracy", "zero_one")
    if design.task == "binary" or (design.task == "multiclass" and scored_right_or_wrong):
        return ""
    of_what = "of several classes" if design.task == "multiclass" else "of numbers"
    return (
        f"Shares are defined for an outcome of two values; '{design.metric.name}' {of_what} has "
        "none. Points say what each variable costs, groups who is hit by a changed outcome."
    )


def undefined(name: PartName, names: tuple[str, ...], denominator: Estimate, reason: str) -> Shares:
    """A part without shares, and why."""
    return Shares(name, names, denominator, reason)
