"""What figures and the page both draw: one view per thing, asked for a level by whoever draws."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from whygap.estimate import Estimate
from whygap.render.numbers import Units, p_value, percent, units_of, with_minus
from whygap.render.phrases import part_title
from whygap.render.reading import excludes_zero
from whygap.results import Detailed, Gap

__all__ = [
    "Scale",
    "ShareLine",
    "Shares",
    "Step",
    "Walk",
    "padded",
    "round_ticks",
    "share_limits",
    "shares_of",
    "walk_of",
]

BASE_NAME = "recalibration alone"
USUAL_SHARE = 0.3  # shares below this do not stretch the scale until they fill it


# -- the walk from source to target ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Step:
    """One column of the walk: the mean at either end, or a part that moves it."""

    key: str
    name: str
    start: float
    end: float
    estimate: Estimate

    @property
    def is_part(self) -> bool:
        """Whether it is a part of the change, not a mean."""
        return self.key not in ("source", "target")

    @property
    def change(self) -> float:
        """How far this step moves the mean."""
        return self.end - self.start

    def whisker(self, level: float) -> tuple[float, float]:
        """Both ends of the interval, at the height where the step stands."""
        low, high = self.estimate.interval(level)
        return (self.start + low, self.start + high) if self.is_part else (low, high)

    def is_clear(self, level: float) -> bool:
        """Whether a part can be told from 0."""
        return not self.is_part or excludes_zero(self.estimate, level)


@dataclass(frozen=True, slots=True)
class Walk:
    """The source's mean, the parts, the target's mean."""

    steps: tuple[Step, ...]
    units: Units

    def limits(self, level: float, air: float) -> tuple[float, float]:
        """Values from the lowest to the highest, with some air around them."""
        ends = [(step.start, step.end, *step.whisker(level)) for step in self.steps]
        return padded([value for one in ends for value in one], air)

    def text(self, step: Step) -> str:
        """The number written beside a step."""
        if step.is_part:
            return with_minus(self.units.bare(step.change, signed=True))
        return with_minus(self.units.mean(step.end))


def walk_of(gap: Gap) -> Walk:
    """The parts that exist, between the two means."""
    about, corners = gap.about, gap.aggregate.corners()
    parts = zip(gap.aggregate.parts().items(), pairwise(corners), strict=gap.aggregate.comparable)
    steps = [
        Step(name, part_title(name), before.value, after.value, part)
        for (name, part), (before, after) in parts
        if name != "baseline" or about.baseline
    ]
    first, last = corners[0], corners[-1]
    source = Step("source", about.source_name or "source", first.value, first.value, first)
    target = Step("target", about.target_name or "target", last.value, last.value, last)
    return Walk((source, *steps, target), units_of(gap))


# -- shares of one part ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ShareLine:
    """One variable's share, several together, or the base.

    Attributes:
        name: of the variable or group.
        estimate: its share.
        columns: that it stands for; empty for the base.
        adjusted_p: p-value of "this share is 0", adjusted for looking at all; None for the base.
    """

    name: str
    estimate: Estimate
    columns: tuple[str, ...] = ()
    adjusted_p: float | None = None

    @property
    def is_base(self) -> bool:
        """What recalibration alone explains."""
        return self.name == BASE_NAME and not self.columns

    @property
    def share(self) -> str:
        """In percent."""
        return with_minus(percent(self.estimate.value, self.estimate.standard_error))

    @property
    def p(self) -> str:
        """The p-value, written out."""
        return p_value(self.estimate.p_value())

    @property
    def adjusted(self) -> str:
        """The adjusted one."""
        return "" if self.adjusted_p is None else p_value(self.adjusted_p)


@dataclass(frozen=True, slots=True)
class Shares:
    """One detailed part: the base first, then the shares from the largest down.

    `reason` says in words why there are none.
    """

    part: str
    lines: tuple[ShareLine, ...]
    reason: str = ""


def shares_of(gap: Gap, part: str, top: int | None = None) -> Shares:
    """The shares of a part; with `top`, the smaller ones are added up into one line."""
    detail = gap.details()[part]
    if not detail.defined:
        return Shares(part, (), f"Undefined. {detail.reason}")
    adjusted, columns = detail.adjusted_p_values(), gap.about.players
    lines = [
        ShareLine(name, share, tuple(columns.get(name, (name,))), adjusted[name])
        for name, share in sorted(detail.shares.items(), key=lambda item: -item[1].value)
    ]
    if top is not None and len(lines) > top + 1:
        lines = [*lines[:top], _together(detail, lines[top:])]
    base = [] if part == "covariate" or detail.base is None else [ShareLine(BASE_NAME, detail.base)]
    return Shares(part, (*base, *lines))


def _together(detail: Detailed, lines: Sequence[ShareLine]) -> ShareLine:
    """The smaller shares together; their variance from the covariance of the shares."""
    chosen = np.array([name in {line.name for line in lines} for name in detail.players], float)
    variance = max(float(chosen @ detail.covariance @ chosen), 0.0)
    value = sum(line.estimate.value for line in lines)
    names = tuple(line.name for line in lines)
    return ShareLine(f"{len(lines)} others together", Estimate(value, math.sqrt(variance)), names)


def share_limits(shares: Iterable[Estimate], level: float) -> tuple[float, float]:
    """Room for the intervals, but not for those that would flatten everything else."""
    known = list(shares)
    values = [share.value for share in known]
    top, bottom = max([*values, 0.0]), min([*values, 0.0])
    reach = max(top, USUAL_SHARE) - bottom
    spans = [share.interval(level) for share in known]
    ends = [max(low, bottom - reach) for low, _ in spans] + [min(h, top + reach) for _, h in spans]
    return padded([*ends, 0.0], 0.06) if known else (0.0, 1.0)


# -- scales ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scale:
    """Where values from `low` to `high` stand: from `first` to `last`, in percent or pixels."""

    low: float
    high: float
    write: Callable[[float], str]
    first: float = 0.0
    last: float = 100.0

    def at(self, value: float) -> float:
        """The place of a value, kept inside the scale."""
        share = min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)
        return round(self.first + (self.last - self.first) * share, 2)

    def ticks(self) -> list[tuple[float, str]]:
        """A few round values: where they are, and their words."""
        ticks = round_ticks(self.low, self.high)
        return [(self.at(tick), with_minus(self.write(tick))) for tick in ticks]


def round_ticks(low: float, high: float, about: int = 4) -> list[float]:
    """Some multiples of 1, 2 or 5 times a power of ten, inside the limits."""
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw * 0.999)
    first = math.ceil(low / step)
    return [step * k for k in range(first, math.floor(high / step) + 1)]


def padded(values: Sequence[float], air: float) -> tuple[float, float]:
    """Limits that leave air around the finite values."""
    known = [value for value in values if math.isfinite(value)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    room = air * (high - low) or air * abs(high) or 1.0
    return low - room, high + room
