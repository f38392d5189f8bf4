"""The share of each variable, with its interval; the ones that lead are marked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whygap.fieller import normal_quantile
from whygap.render import style
from whygap.render.formats import shorten
from whygap.render.numbers import level_name, percent, with_minus
from whygap.render.reading import reading_of
from whygap.results import Detailed, Gap

__all__ = ["Share", "SharesDisplay"]

TITLES = {"covariate": "Covariate shift, by variable", "outcome": "Outcome shift, by variable"}
BASE_NAME = "recalibration alone"
ROW_HEIGHT = 0.30
FEWEST = 6  # rows of room, so that two bars do not fill a page


@dataclass(frozen=True, slots=True)
class Share:
    """One line of the figure."""

    name: str
    value: float
    low: float
    high: float
    leads: bool = False
    is_base: bool = False


@dataclass(eq=False)
class SharesDisplay:
    """Drawn by `plot`; made by `from_gap`.

    Attributes:
        part: "covariate" or "outcome".
        shares: one per line, from the top down; empty when undefined.
        reason: why there are none, in words.
        level: of the intervals.
        ax_: the axes drawn on, after `plot`.
        figure_: their figure.
    """

    part: str
    shares: tuple[Share, ...]
    reason: str
    level: float
    ax_: Axes | None = field(default=None, init=False, repr=False)
    figure_: Figure | None = field(default=None, init=False, repr=False)

    @classmethod
    def from_gap(
        cls, gap: Gap, part: str, level: float = 0.95, top: int | None = None
    ) -> SharesDisplay:
        """Largest first; with `top`, the smaller ones are added up into one line."""
        detail = gap.details()[part]
        if not detail.defined:
            return cls(part, (), f"Undefined. {detail.reason}", level)
        leading = reading_of(gap, level).standings[part].top
        lines = _lines(detail, leading, level)
        if top is not None and len(lines) > top + 1:
            lines = [*lines[:top], _rest(detail, lines[top:], level)]
        return cls(part, (*_base(detail, level), *lines), "", level)

    def plot(self, ax: Axes | None = None) -> SharesDisplay:
        """Draw on `ax`, or on a figure of its own."""
        ax = style.axes_of(ax, 6.4, 1.5 + ROW_HEIGHT * max(len(self.shares), FEWEST))
        self.ax_, self.figure_ = ax, ax.get_figure(root=True)
        if not self.shares:
            style.heading(ax, TITLES[self.part], "No shares")
            style.message(ax, self.reason)
            return self
        style.quiet_axes(ax, grid="x")
        limits = _limits(self.shares)
        ax.set_xlim(*limits)
        for row, share in enumerate(self.shares):
            _draw(ax, row, share, style.COLOURS[self.part], limits)
        self._label(ax)
        return self

    def _label(self, ax: Axes) -> None:
        count = len(self.shares)
        names = [share.name for share in self.shares]
        ax.set_yticks(
            range(count),
            [style.label(name) if count < 25 else shorten(name, 30) for name in names],
            fontsize=9.5 if count < 25 else 8,
            parse_math=False,
            fontfamily=style.fonts_for(names),
        )
        ax.set_ylim(max(count, FEWEST) - 0.4, -0.6)
        ax.axvline(0, color=style.INK, lw=0.9, zorder=1)
        ax.xaxis.set_major_formatter(lambda value, _: with_minus(percent(value)))
        if any(share.leads for share in self.shares):
            ax.set_xlabel(
                "Filled dots may be the largest: cannot be told apart from it", fontsize=9
            )
        style.heading(
            ax, TITLES[self.part], f"Share of each; lines: {level_name(self.level)} intervals"
        )


def _lines(detail: Detailed, leading: Sequence[str], level: float) -> list[Share]:
    lines = [
        Share(name, share.value, *share.interval(level), leads=name in leading)
        for name, share in detail.shares.items()
    ]
    return sorted(lines, key=lambda line: -line.value)


def _base(detail: Detailed, level: float) -> list[Share]:
    if detail.base is None or detail.part == "covariate":
        return []
    return [Share(BASE_NAME, detail.base.value, *detail.base.interval(level), is_base=True)]


def _rest(detail: Detailed, lines: Sequence[Share], level: float) -> Share:
    """The smaller shares together; their variance from the covariance of the shares."""
    chosen = np.array([name in {line.name for line in lines} for name in detail.players], float)
    value = sum(line.value for line in lines)
    half = normal_quantile(level) * math.sqrt(max(chosen @ detail.covariance @ chosen, 0.0))
    return Share(f"{len(lines)} others together", value, value - half, value + half)


def _limits(shares: Sequence[Share]) -> tuple[float, float]:
    """Room for the intervals, but not for those that would flatten everything else."""
    values = [share.value for share in shares]
    reach = 1.5 * (max(*values, 0.3) - min(*values, 0.0))
    lows = [max(share.low, min(*values, 0.0) - reach) for share in shares]
    highs = [min(share.high, max(*values, 0.0) + reach) for share in shares]
    return style.padded([*lows, *highs, 0.0], 0.06)


def _draw(ax: Axes, row: int, share: Share, colour: str, limits: tuple[float, float]) -> None:
    colour = style.MUTED if share.is_base else colour
    inset = 0.02 * (limits[1] - limits[0])
    shown = replace(
        share, low=max(share.low, limits[0] + inset), high=min(share.high, limits[1] - inset)
    )
    ax.barh(row, share.value, height=0.62, color=colour, alpha=0.28, zorder=2)
    ax.plot([shown.low, shown.high], [row] * 2, color=style.INK, lw=1.3, zorder=3)
    for clipped, end, arrow in (
        (shown.low > share.low, shown.low, "<"),
        (shown.high < share.high, shown.high, ">"),
    ):
        if clipped:
            ax.plot(end, row, arrow, color=style.INK, markersize=6, zorder=4)
    ax.plot(
        share.value,
        row,
        "D" if share.is_base else "o",
        markersize=6.5,
        markerfacecolor=colour if share.leads else "white",
        markeredgecolor=style.INK if share.leads else colour,
        markeredgewidth=1.4,
        zorder=5,
    )
