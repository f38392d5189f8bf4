"""A figure of several targets: the change, its parts and the variables' points."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator

from whygap.render import style
from whygap.render.formats import shorten
from whygap.render.several import differing
from whygap.render.trend import MOST_SHOWN, Trend, trend_of
from whygap.render.units import level_name, with_minus
from whygap.results import Gap
from whygap.results.several import Series, require_alike

ACROSS = 4  # small charts side by side
NAMED = 24  # targets whose names have room below the chart; of more, some are named
SIZES = {"change": 3.4, "small": 1.75}  # inches of a chart's height, with its title


@dataclass(eq=False)
class TrendDisplay:
    """Drawn by `plot`; made by `from_gaps`.

    Attributes:
        trend: the change, its parts and the points in every target.
        apart: targets that differ from the mean of all, all looked at together.
        level: of the intervals, which hold for all targets at once.
        top: variables that are drawn, those furthest from 0.
    """

    trend: Trend
    apart: tuple[str, ...]
    level: float
    top: int = MOST_SHOWN
    axes_: tuple[Axes, ...] = field(default=(), init=False, repr=False)
    figure_: Figure | None = field(default=None, init=False, repr=False)

    @classmethod
    def from_gaps(
        cls, gaps: Mapping[str, Gap], level: float = 0.95, top: int = MOST_SHOWN
    ) -> TrendDisplay:
        """Everything the drawing needs; targets stand in the order given."""
        require_alike(gaps)
        return cls(trend_of(gaps), tuple(differing(gaps, level)), level, top)

    def plot(self, ax: Axes | None = None) -> TrendDisplay:
        """Draw the change alone on `ax`, or everything on a figure of its own."""
        trend = self.trend
        whole = trend.limits(trend.table(), self.level)
        if ax is not None:
            self._draw_change(ax, whole)
            self.axes_, self.figure_ = (ax,), ax.get_figure(root=True)
            return self
        shown = trend.points[: self.top]
        groups = [list(trend.parts), list(shown)]
        rows = [math.ceil(len(group) / ACROSS) for group in groups if group]
        heights = [SIZES["change"], *(SIZES["small"] * count for count in rows)]
        made = Figure(figsize=(9.6, sum(heights)), layout="constrained")
        places = made.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
        first = places[0].subplots()
        self._draw_change(first, whole)
        drawn = [first]
        limits = [whole, trend.limits(shown, self.level) if shown else whole]
        known = [pair for pair in zip(groups, limits, strict=True) if pair[0]]
        for place, (group, scale) in zip(places[1:], known, strict=True):
            drawn += self._draw_small(place, group, scale)
        self.axes_, self.figure_ = tuple(drawn), made
        return self

    def _draw_change(self, ax: Axes, limits: tuple[float, float]) -> None:
        trend = self.trend
        self._draw(ax, trend.change, limits, 7.0)
        step = math.ceil(len(trend.names) / NAMED)
        names = [name if k % step == 0 else "" for k, name in enumerate(trend.names)]
        style.name_ticks(ax.xaxis, names, [shorten(name, 18) for name in names], 9)
        if len(names) > 5:
            for tick in ax.get_xticklabels():
                tick.set(rotation=30, ha="right", rotation_mode="anchor")
        told = f"Lines: {level_name(self.level)} intervals that hold for all targets at once\n"
        told += "Filled: distinguishable from 0"
        told += "; ringed: clearly off the mean of all targets" if self.apart else ""
        unit = " (points)" if trend.units.is_share else ""
        style.heading(ax, f"{trend.title}, target minus source{unit}", told)

    def _draw_small(
        self, place: SubFigure, group: Sequence[Series], limits: tuple[float, float]
    ) -> list[Axes]:
        rows = math.ceil(len(group) / ACROSS)
        axes = list(place.subplots(rows, ACROSS, squeeze=False).flat)
        for ax, series in zip(axes, group, strict=False):
            self._draw(ax, series, limits, 4.5)
            ends = (0, len(self.trend.names) - 1)
            shown = [shorten(self.trend.names[k], 12) for k in ends]
            ax.set_xticks(ends, shown, **style.words(shown, 8, style.MUTED))
            for tick, side in zip(ax.get_xticklabels(), ("left", "right"), strict=True):
                tick.set_ha(side)
            title = shorten(self.trend.title_of(series), 26)
            ax.set_title(title, loc="left", **style.words([title], 9.5))
        for ax in axes[len(group) :]:
            ax.set_axis_off()
        return axes[: len(group)]

    def _draw(self, ax: Axes, series: Series, limits: tuple[float, float], size: float) -> None:
        style.quiet_axes(ax, grid="y")
        ax.set_ylim(*limits)
        ax.set_xlim(-0.6, len(self.trend.names) - 0.4)
        ax.axhline(0, color=style.INK, lw=0.9, zorder=1)
        ax.yaxis.set_major_locator(MaxNLocator(5 if size > 5 else 3, steps=[1, 2, 5, 10]))
        ax.yaxis.set_major_formatter(lambda value, _: with_minus(self.trend.units.gain_tick(value)))
        colour = style.COLOURS.get(series.part, style.INK)
        places = [self.trend.names.index(name) for name in series.estimates]
        values = [one.value for one in series.estimates.values()]
        if self.trend.in_time:
            ax.plot(places, values, color=colour, lw=1.2, alpha=0.5, zorder=2)
        ends, clear = series.intervals(self.level), series.significant(self.level)
        for place, value, name in zip(places, values, series.estimates, strict=True):
            ax.plot([place] * 2, ends[name], color=style.INK, lw=1.1, zorder=3)
            inside = colour if name in clear else "white"
            dot: Any = {"markeredgecolor": colour, "markeredgewidth": 1.3, "zorder": 4}
            ax.plot(place, value, "o", markersize=size, markerfacecolor=inside, **dot)
            if series.part == "gap" and name in self.apart:
                ax.plot(place, value, "o", markersize=2 * size, mfc="none", mec=style.MUTED)


def trend_figure(gaps: Mapping[str, Gap], level: float, top: int = MOST_SHOWN) -> Figure:
    """All of it on one figure."""
    display = TrendDisplay.from_gaps(gaps, level, top)
    made: Figure = display.plot().axes_[0].get_figure(root=True)  # type: ignore[assignment]
    return made
