"""What figures and the page both draw: one view per thing, asked for a level by whoever draws."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from whygap.estimate import Estimate
from whygap.render.lines import largest_lines, padded
from whygap.render.numbers import Units, units_of, with_minus
from whygap.render.phrases import part_title
from whygap.render.reading import excludes_zero
from whygap.results import Gap

# -- the walk from source to target ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the walk: the mean at either end, a part that moves it, or a part's variable."""

    key: str
    name: str
    start: float
    end: float
    estimate: Estimate
    is_variable: bool = False

    @property
    def is_part(self) -> bool:
        """Whether it is a part of the change, not a mean."""
        return self.key not in ("source", "target")

    @property
    def change(self) -> float:
        """How far this step moves the mean."""
        return self.end - self.start

    def whisker(self, level: float) -> tuple[float, float]:
        """Both ends of the interval, at the place where the step stands."""
        low, high = self.estimate.interval(level)
        return (self.start + low, self.start + high) if self.is_part else (low, high)

    def is_clear(self, level: float) -> bool:
        """Whether a part is distinguishable from 0."""
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


def walk_of(gap: Gap, opened: int = 0) -> Walk:
    """The parts that exist, between the two means; each with its `opened` largest variables."""
    about, corners = gap.about, gap.aggregate.corners()
    steps: list[Step] = []
    parts = zip(gap.aggregate.parts().items(), pairwise(corners), strict=gap.aggregate.comparable)
    for (name, part), (before, after) in parts:
        if name != "baseline" or about.baseline:
            steps.append(Step(name, part_title(name), before.value, after.value, part))
            steps += _variables(gap, steps[-1], opened) if opened else []
    first, last = corners[0], corners[-1]
    source = Step("source", about.source_name or "source", first.value, first.value, first)
    target = Step("target", about.target_name or "target", last.value, last.value, last)
    return Walk((source, *steps, target), units_of(gap))


def _variables(gap: Gap, part: Step, most: int) -> list[Step]:
    """A part's variables one after the other, from where the part starts to where it ends."""
    joint = gap.points.parts().get(part.key) if gap.points else None
    steps, start = [], part.start
    for line in largest_lines(joint, most) if joint else ():
        end = start + line.estimate.value
        steps.append(Step(part.key, line.name, start, end, line.estimate, is_variable=True))
        start = end
    return steps


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
