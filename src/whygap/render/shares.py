"""The share of each variable, with its interval; the ones that lead are marked."""

from __future__ import annotations

from dataclasses import dataclass, field

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whygap.render import style
from whygap.render.formats import shorten
from whygap.render.numbers import level_name, percent, with_minus
from whygap.render.reading import reading_of
from whygap.render.views import ShareLine, Shares, share_limits, shares_of
from whygap.results import Gap

__all__ = ["ROW_HEIGHT", "SharesDisplay"]

TITLES = {"covariate": "Covariate shift, by variable", "outcome": "Outcome shift, by variable"}
ROW_HEIGHT = 0.30  # inches: a line of 9.5 points and some air
FEWEST = 6  # rows of room, so that two bars do not fill a page
CROWDED = 25  # rows from which names take one small line instead of two


@dataclass(eq=False)
class SharesDisplay:
    """Drawn by `plot`; made by `from_gap`.

    Attributes:
        shares: one line per variable, from the top down; empty when undefined.
        leading: variables that cannot be told apart from the largest.
        level: of the intervals.
        ax_: the axes drawn on, after `plot`.
        figure_: their figure.
    """

    shares: Shares
    leading: tuple[str, ...]
    level: float
    ax_: Axes | None = field(default=None, init=False, repr=False)
    figure_: Figure | None = field(default=None, init=False, repr=False)

    @classmethod
    def from_gap(
        cls, gap: Gap, part: str, level: float = 0.95, top: int | None = None
    ) -> SharesDisplay:
        """Largest first; with `top`, the smaller ones are added up into one line."""
        return cls(shares_of(gap, part, top), reading_of(gap, level).standings[part].top, level)

    def plot(self, ax: Axes | None = None) -> SharesDisplay:
        """Draw on `ax`, or on a figure of its own."""
        lines, title = self.shares.lines, TITLES[self.shares.part]
        ax = style.axes_of(ax, 6.4, 1.5 + ROW_HEIGHT * max(len(lines), FEWEST))
        self.ax_, self.figure_ = ax, ax.get_figure(root=True)
        if not lines:
            style.heading(ax, title, "No shares")
            style.message(ax, self.shares.reason)
            return self
        style.quiet_axes(ax, grid="x")
        ax.set_xlim(*share_limits([line.estimate for line in lines], self.level))
        for row, line in enumerate(lines):
            self._draw(ax, row, line)
        self._label(ax)
        style.heading(ax, title, f"Share of each; lines: {level_name(self.level)} intervals")
        return self

    def _label(self, ax: Axes) -> None:
        names = [line.name for line in self.shares.lines]
        crowded = len(names) >= CROWDED
        shown = [shorten(name, 30) if crowded else style.label(name) for name in names]
        style.name_ticks(ax.yaxis, names, shown, fontsize=8 if crowded else 9.5)
        ax.set_ylim(max(len(names), FEWEST) - 0.4, -0.6)
        ax.axvline(0, color=style.INK, lw=0.9, zorder=1)
        ax.xaxis.set_major_formatter(lambda value, _: with_minus(percent(value)))
        if set(self.leading) & set(names):
            ax.set_xlabel(
                "Filled dots may be the largest: cannot be told apart from it", fontsize=9
            )

    def _draw(self, ax: Axes, row: int, line: ShareLine) -> None:
        colour = style.MUTED if line.is_base else style.COLOURS[self.shares.part]
        leads = line.name in self.leading and not line.is_base
        ax.barh(row, line.estimate.value, height=0.62, color=colour, alpha=0.28, zorder=2)
        style.whisker(ax, row, line.estimate.interval(self.level))
        ax.plot(
            line.estimate.value,
            row,
            "D" if line.is_base else "o",
            markersize=6.5,
            markerfacecolor=colour if leads else "white",
            markeredgecolor=style.INK if leads else colour,
            markeredgewidth=1.4,
            zorder=5,
        )
