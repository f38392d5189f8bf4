"""Where things are drawn on the page: across in percent of the width, down in pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from whygap.render import phrases, style
from whygap.render.numbers import Units, units_of
from whygap.results import Detailed, Gap

__all__ = ["Track", "Walk", "track_of", "walk_of"]

TOP, BOTTOM = 26.0, 250.0


@dataclass(frozen=True, slots=True)
class Track:
    """A horizontal scale for shares, the same at every level."""

    low: float
    high: float

    def at(self, value: float) -> float:
        """Percent of the width, kept inside it."""
        place = 100 * (value - self.low) / (self.high - self.low)
        return round(min(max(place, 0.0), 100.0), 2)

    def span(self, low: float, high: float) -> tuple[float, float]:
        """Both ends."""
        return self.at(low), self.at(high)

    def ticks(self) -> list[tuple[float, str]]:
        """A few round shares and where they are."""
        return [(self.at(tick), f"{100 * tick:,.4g}%") for tick in round_ticks(self.low, self.high)]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the walk: a mean (a dot) or a part (a bar)."""

    key: str
    lines: tuple[str, ...]
    x: float
    start: float
    end: float
    text: str
    is_part: bool


@dataclass(frozen=True, slots=True)
class Walk:
    """The waterfall: columns across, values down."""

    columns: tuple[Column, ...]
    low: float
    high: float
    half: float
    units: Units
    gap: Gap

    def y(self, value: float) -> float:
        """Pixels from the top."""
        if not math.isfinite(value):
            return TOP if value > 0 else BOTTOM
        place = BOTTOM - (BOTTOM - TOP) * (value - self.low) / (self.high - self.low)
        return round(min(max(place, 4.0), BOTTOM + 22), 2)

    def ticks(self) -> list[tuple[float, str]]:
        """A few round values and where they are."""
        scale = round_ticks(self.low, self.high)
        return [(self.y(tick), self.units.tick(tick)) for tick in scale]

    def at(self, level: float) -> list[list[Any]]:
        """Per column: the whisker's top and bottom, the label's height, clear of 0 or not."""
        return [self._whisker(column, level) for column in self.columns]

    def _whisker(self, column: Column, level: float) -> list[Any]:
        aggregate = self.gap.aggregate
        if column.is_part:
            low, high = aggregate.parts()[column.key].interval(level)
            ends = (column.start + low, column.start + high)
            clear = low > 0 or high < 0
        else:
            mean = aggregate.mean_000 if column.key == "source" else aggregate.mean_111
            ends, clear = mean.interval(level), True
        top, bottom = self.y(max(ends)), self.y(min(ends))
        below = column.is_part and column.end < column.start
        edges = [top, bottom, self.y(column.start), self.y(column.end)]
        place = max(edges) + 16 if below else min(edges) - 7
        return [top, bottom, round(place, 2), clear]


def walk_of(gap: Gap, levels: Sequence[float]) -> Walk:
    """Columns from source to target; the scale holds the widest interval."""
    parts = [p for p in gap.aggregate.parts() if p != "baseline" or gap.about.baseline]
    corners = dict(zip(("baseline", "covariate", "outcome"), gap.aggregate.corners(), strict=False))
    after = {"baseline": "mean_100", "covariate": "mean_110", "outcome": "mean_111"}
    units, count = units_of(gap), len(parts) + 2
    places = [13 + (100 - 13 - 9) * k / (count - 1) for k in range(count)]
    first, last = gap.aggregate.mean_000.value, gap.aggregate.mean_111.value
    columns = [_mean("source", gap.about.source_name, places[0], first, units)]
    for name, place in zip(parts, places[1:-1], strict=True):
        start, end = corners[name].value, getattr(gap.aggregate, after[name]).value
        text = units.bare(end - start, signed=True)
        lines = (phrases.part_title(name),)
        columns.append(Column(name, lines, round(place, 2), start, end, text, True))
    columns.append(_mean("target", gap.about.target_name, places[-1], last, units))
    low, high = _reach(gap, columns, max(levels))
    half = round(0.3 * 78 / (count - 1), 2)
    return Walk(tuple(columns), low, high, half, units, gap)


def _mean(key: str, name: str, x: float, value: float, units: Units) -> Column:
    lines = tuple(style.label(name or key, 11, lines=3).split("\n"))
    return Column(key, lines, round(x, 2), value, value, units.mean(value), False)


def _reach(gap: Gap, columns: Sequence[Column], level: float) -> tuple[float, float]:
    ends = [*gap.aggregate.mean_000.interval(level), *gap.aggregate.mean_111.interval(level)]
    for column in columns:
        shifts = gap.aggregate.parts()[column.key].interval(level) if column.is_part else ()
        ends += [column.start, column.end, *(column.start + shift for shift in shifts)]
    return style.padded(ends, 0.12)


def track_of(detail: Detailed, levels: Sequence[float]) -> Track:
    """Room for the widest intervals, but not for those that would flatten the rest."""
    estimates = [*detail.shares.values(), *([detail.base] if detail.base is not None else [])]
    if not estimates:
        return Track(0.0, 1.0)
    values = [estimate.value for estimate in estimates]
    spans = [estimate.interval(max(levels)) for estimate in estimates]
    reach = max(*values, 0.3) - min(*values, 0.0)
    lows = [max(low, min(*values, 0.0) - reach) for low, _ in spans]
    highs = [min(high, max(*values, 0.0) + reach) for _, high in spans]
    return Track(*style.padded([*lows, *highs, 0.0], 0.04))


def round_ticks(low: float, high: float, about: int = 4) -> list[float]:
    """Some multiples of 1, 2 or 5 times a power of ten, inside the limits."""
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw * 0.999)
    first = math.ceil(low / step)
    return [step * k for k in range(first, math.floor(high / step) + 1)]
