"""What figures and the page both draw: one view per thing, asked for a level by whoever draws."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from whygap.estimate import Estimate
from whygap.render.lines import Block, framed, largest_lines
from whygap.render.reading import Reading
from whygap.render.style import label
from whygap.render.units import Units, units_of, with_minus
from whygap.results import Gap

TOP, BOTTOM = 26.0, 250.0  # pixels from the top of the walk between which its values stand
LEFT, RIGHT = 13.0, 91.0  # percent of the walk's width: room for ticks, and for the last label

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
        return not self.is_part or self.estimate.excludes_zero(level)


@dataclass(frozen=True, slots=True)
class Walk:
    """The source's mean, the parts, the target's mean."""

    steps: tuple[Step, ...]
    units: Units

    def limits(self, level: float, air: float) -> tuple[float, float]:
        """Values from the lowest to the highest, with their intervals and some air around them."""
        values = [value for step in self.steps for value in (step.start, step.end)]
        return framed(values, [step.whisker(level) for step in self.steps], air)

    def text(self, step: Step) -> str:
        """The number written beside a step."""
        if step.is_part:
            return with_minus(self.units.suited(step.estimate).bare(step.change, signed=True))
        return with_minus(self.units.mean(step.end))

    def exact(self, step: Step, level: float) -> str:
        """A part with its interval, or a mean, with all digits."""
        ends = step.estimate.interval(level)
        if step.is_part:
            size, low, high = map(self.units.exact, (step.change, *ends))
            return with_minus(f"{step.name}\n{size}{self.units.unit} ({low} to {high})")
        unit, factor = ("%", 100) if self.units.is_share else ("", 1)
        size, low, high = (f"{factor * one:,.5g}{unit}" for one in (step.end, *ends))
        return with_minus(f"{step.name}\n{size} ({low} to {high})")


def walk_of(gap: Gap, opened: int = 0) -> Walk:
    """The parts that exist, between the two means; each with its `opened` largest variables."""
    about, first, last = gap.about, gap.source, gap.target
    steps: list[Step] = []
    place = first.value
    for name, part in gap.parts.items():
        steps.append(Step(name, part.label, place, place + part.value, part))
        steps += _variables(gap, steps[-1], opened) if opened else []
        place += part.value
    source = Step("source", about.source_name or "source", first.value, first.value, first)
    target = Step("target", about.target_name or "target", last.value, last.value, last)
    return Walk((source, *steps, target), units_of(gap))


def _variables(gap: Gap, part: Step, most: int) -> list[Step]:
    """A part's variables one after the other, from where the part starts to where it ends."""
    joint = gap.points.get(part.key)
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

    def cut(self, ends: tuple[float, float], names: tuple[str, str] = ("left", "right")) -> str:
        """The sides on which an interval leaves the scale."""
        leaves = (ends[0] < self.low, ends[1] > self.high)
        return " ".join(name for name, out in zip(names, leaves, strict=True) if out)

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


# -- on the page: where marks stand, in percent across and pixels down -----------------------------


@dataclass(frozen=True, slots=True)
class WalkDrawing:
    """The walk on the page: columns across in percent, values down in pixels."""

    walk: Walk
    scale: Scale

    @property
    def gap(self) -> float:
        """Percent between two columns."""
        return (RIGHT - LEFT) / (len(self.walk.steps) - 1)

    @property
    def half(self) -> float:
        """Half a bar, in percent: three tenths of the distance between two columns."""
        return round(0.3 * self.gap, 2)

    def x(self, column: int) -> float:
        """Where a column stands."""
        return round(LEFT + self.gap * column, 2)

    def lines(self, step: Step) -> list[str]:
        """A column's name, on as many lines as it needs."""
        return label(step.name, 10, lines=3).split("\n")

    def at(self, level: float) -> list[list[Any]]:
        """Per column: whisker's top and bottom, label's height, clear or not, cuts, exact words."""
        return [self._whisker(step, level) for step in self.walk.steps]

    def _whisker(self, step: Step, level: float) -> list[Any]:
        ends = step.whisker(level)
        bottom, top = map(self.scale.at, ends)
        edges = [top, bottom, self.scale.at(step.start), self.scale.at(step.end)]
        place = max(edges) + 16 if step.end < step.start else min(edges) - 7
        cut = self.scale.cut(ends, ("down", "up"))
        words = self.walk.exact(step, level)
        return [top, bottom, round(place, 2), step.is_clear(level), cut, words]


@dataclass(frozen=True, slots=True)
class BlockDrawing:
    """Lines on the page, on one scale at every level."""

    block: Block
    scale: Scale

    def rows(self) -> list[list[Any]]:
        """Per line, what the script sorts and says, whatever the level."""
        last = self.block.last
        return [
            [line.name, self.block.exact(line), *last(line), line.adjusted, line.estimate.value]
            for line in self.block.lines
        ]

    def at(self, reading: Reading) -> list[list[Any]]:
        """Per line: whisker from, to, interval, what is said of it, ranks, where it is cut."""
        level, ends = reading.level, self.block.intervals(reading.level)
        standing = reading.standings.get(self.block.key)
        top = () if standing is None or len(standing.top) == len(standing.ranks) else standing.top
        tag = "largest" if len(top) == 1 else "may be largest"
        found = []
        for line, (low, high) in zip(self.block.lines, ends, strict=True):
            clear = "clear" if standing is None and not low <= 0 <= high else ""
            cut = self.scale.cut((low, high))
            said = tag if line.name in top else clear
            ranks = standing.rank_span(line.name) if standing else ""
            span = self.block.span(line, (low, high), level)
            found.append([self.scale.at(low), self.scale.at(high), span, said, ranks, cut])
        return found
