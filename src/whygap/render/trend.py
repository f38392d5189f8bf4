"""Several targets drawn: the gap, its parts and the variables' points over the targets."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from whygap.render.lines import framed
from whygap.render.phrases import metric_name
from whygap.render.several import differing, many_sentences, shared_units
from whygap.render.units import Units, with_minus
from whygap.render.views import Scale
from whygap.results import Gap
from whygap.results.several import Series, every_gap, every_part, every_point

MOST_SHOWN = 8  # variables of which a small chart is drawn: two rows of four; the table has all
TALL, SMALL = 200.0, 110.0  # pixels of the chart of the change, and of the small ones
AIR = 14.0  # pixels above and below the marks
MONTHS = (
    "jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sep(t(ember)?)?|"
    "oct(ober)?|nov(ember)?|dec(ember)?"
)
TIMES = re.compile(rf"\b(19|20)\d\d|\b({MONTHS})\b|\bq[1-4]\b|\b(week|day|w)\s?\d", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Trend:
    """The same quantities in every target.

    Attributes:
        names: the targets, in the order they were given.
        change: the gap.
        parts: its parts.
        points: of the variables, those furthest from 0 first.
        units: how all of them are written.
        title: of the change, in words.
    """

    names: tuple[str, ...]
    change: Series
    parts: tuple[Series, ...]
    points: tuple[Series, ...]
    units: Units
    title: str

    @property
    def in_time(self) -> bool:
        """Whether the targets are named like months, weeks or years: then lines join them."""
        return all(TIMES.search(name) for name in self.names)

    def table(self) -> list[Series]:
        """The columns of the table."""
        return [self.change, *self.parts]

    def title_of(self, series: Series) -> str:
        """The variable, the part, or the change."""
        return series.label or self.title

    def limits(self, every: Sequence[Series], level: float) -> tuple[float, float]:
        """Room for all of them on one scale, and for 0."""
        values = [one.value for series in every for one in series.estimates.values()]
        spans = [ends for series in every for ends in series.intervals(level).values()]
        return framed([*values, 0.0], spans, 0.04)

    def text(self, series: Series, name: str, ends: tuple[float, float]) -> str:
        """Such as: March: -2.0 points (-4.7 to +0.7)."""
        change = self.units.change(series.estimates[name].value)
        return with_minus(f"{name}: {change} ({self.units.span(*ends)})")


def trend_of(gaps: Mapping[str, Gap]) -> Trend:
    """What the drawings need."""
    about = next(iter(gaps.values())).about
    return Trend(
        tuple(gaps),
        every_gap(gaps),
        tuple(every_part(gaps)),
        tuple(every_point(gaps)),
        shared_units(gaps),
        f"Change of {metric_name(about)}",
    )


# -- on the page -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Chart:
    """One series on the page: targets across in percent, values down in pixels."""

    series: Series
    title: str
    scale: Scale
    names: tuple[str, ...]
    height: float

    def x(self, name: str) -> float:
        """Where a target stands: room for the ticks at the left."""
        place = (self.names.index(name) + 0.5) / len(self.names)
        return round(12.0 + 86.0 * place, 2)

    def joints(self) -> list[list[float]]:
        """Lines from each target to the next."""
        known = self.series.estimates
        ends = [(self.x(name), self.scale.at(one.value)) for name, one in known.items()]
        return [[*start, *end] for start, end in pairwise(ends)]


@dataclass(frozen=True, slots=True)
class SeveralPage:
    """What stands above the targets' own pages."""

    trend: Trend
    change: Chart
    parts: tuple[Chart, ...]
    points: tuple[Chart, ...]
    levels: dict[str, Any]
    first: str

    @property
    def now(self) -> dict[str, Any]:
        """What the first level shows."""
        shown: dict[str, Any] = self.levels[self.first]
        return shown

    def charts(self) -> list[Chart]:
        """All of them, in the order of the page."""
        return [self.change, *self.parts, *self.points]


def several_page(gaps: Mapping[str, Gap], levels: Mapping[str, float], first: str) -> SeveralPage:
    """The overview at every level of the switch; the change and its parts are on one scale."""
    trend, widest = trend_of(gaps), max(levels.values())
    whole = trend.limits(trend.table(), widest)
    shown = trend.points[:MOST_SHOWN]
    small = trend.limits(shown, widest)

    def chart(series: Series, limits: tuple[float, float], height: float) -> Chart:
        scale = Scale(*limits, trend.units.gain_tick, height - AIR, AIR)
        return Chart(series, trend.title_of(series), scale, trend.names, height)

    made = SeveralPage(
        trend,
        chart(trend.change, whole, TALL),
        tuple(chart(one, whole, SMALL) for one in trend.parts),
        tuple(chart(one, small, SMALL) for one in shown),
        {},
        first,
    )
    made.levels.update({key: _at_level(made, gaps, level) for key, level in levels.items()})
    return made


def _at_level(page: SeveralPage, gaps: Mapping[str, Gap], level: float) -> dict[str, Any]:
    """Sentences; per mark its whisker, words and whether it is clear; the table's intervals."""
    trend = page.trend
    ends = [series.intervals(level) for series in trend.table()]
    spans = [
        with_minus(trend.units.span(*own[name])) if name in own else ""
        for name in trend.names
        for own in ends
    ]
    apart = differing(gaps, level)
    return {
        "answers": [with_minus(text) for text in many_sentences(gaps, level)],
        "marks": [mark for chart in page.charts() for mark in _marks(trend, chart, level)],
        "spans": spans,
        "differs": [_side(apart.get(name)) for name in trend.names],
    }


def _side(ends: tuple[float, float] | None) -> str:
    """Of the mean over all targets; nothing where a target is not clear of it."""
    if ends is None:
        return ""
    return "below the mean of all" if ends[1] < 0 else "above the mean of all"


def _marks(trend: Trend, chart: Chart, level: float) -> list[list[Any]]:
    found = []
    for name, ends in chart.series.intervals(level).items():
        text = trend.text(chart.series, name, ends)
        low, high = chart.scale.at(ends.low), chart.scale.at(ends.high)
        found.append([high, low, text, ends.excludes(0.0)])
    return found
