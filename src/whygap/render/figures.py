"""The walk, the shares of a part, the gains of a revision: displays that draw a view."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whygap.render import phrases, style
from whygap.render.formats import shorten
from whygap.render.numbers import level_name, percent, with_minus
from whygap.render.reading import excludes_zero, reading_of
from whygap.render.revision import Choice, Curve, curve_of
from whygap.render.views import ShareLine, Shares, Step, Walk, share_limits, shares_of, walk_of
from whygap.results import Gap

__all__ = ["ROW_HEIGHT", "RevisionDisplay", "SharesDisplay", "WaterfallDisplay"]

SHARE_TITLES = {
    "covariate": "Covariate shift, by variable",
    "outcome": "Outcome shift, by variable",
}
ROW_HEIGHT = 0.30  # inches: a line of 9.5 points and some air
FEWEST = 6  # rows of room, so that two bars do not fill a page
CROWDED = 25  # rows from which names take one small line instead of two
CHOICE_COLOURS = {
    "targeted": style.COLOURS["outcome"],
    "reweighted": style.COLOURS["covariate"],
    "retrained": style.INK,
}
CHOICE_MARKS = {"targeted": "o", "reweighted": "s", "retrained": "D"}


@dataclass(eq=False)
class WaterfallDisplay:
    """Drawn by `plot`; made by `from_gap`.

    Attributes:
        title: what happened, in a few words.
        walk: the source's mean, the parts, the target's mean.
        level: of the intervals.
        ax_: the axes drawn on, after `plot`.
        figure_: their figure.
    """

    title: str
    walk: Walk
    level: float
    ax_: Axes | None = field(default=None, init=False, repr=False)
    figure_: Figure | None = field(default=None, init=False, repr=False)

    @classmethod
    def from_gap(cls, gap: Gap, level: float = 0.95) -> WaterfallDisplay:
        """Everything the drawing needs, taken from a result."""
        walk = walk_of(gap)
        change, metric = gap.aggregate.gap, phrases.metric_name(gap.about)
        verb = "fell" if change.value < 0 else "rose"
        title = f"{phrases.capital(metric)} {verb} by {walk.units.size(change.value)}"
        clear = excludes_zero(change, level)
        return cls(title if clear else f"No clear change of {metric}", walk, level)

    def plot(self, ax: Axes | None = None) -> WaterfallDisplay:
        """Draw on `ax`, or on a figure of its own."""
        steps = self.walk.steps
        ax = style.axes_of(ax, 1.6 + 1.25 * len(steps), 4.2)
        style.quiet_axes(ax, grid="y")
        for position, step in enumerate(steps):
            if position:
                ax.plot(
                    [position - 1, position], [step.start] * 2, color=style.MUTED, lw=0.8, ls=":"
                )
            draw = self._draw_part if step.is_part else self._draw_mean
            draw(ax, position, step)
        self._label(ax)
        self.ax_, self.figure_ = ax, ax.get_figure(root=True)
        return self

    def _label(self, ax: Axes) -> None:
        names, walk = [step.name for step in self.walk.steps], self.walk
        shown = [style.label(name, 13, lines=3) for name in names]
        style.name_ticks(ax.xaxis, names, shown)
        if not all(step.is_clear(self.level) for step in walk.steps):
            ax.set_xlabel("Hatched bars: cannot be told from 0", fontsize=9)
        ax.set_ylim(*walk.limits(self.level, 0.2))
        ax.set_xlim(-0.55, len(names) - 0.45)
        ax.yaxis.set_major_formatter(lambda value, _: with_minus(walk.units.tick(value)))
        style.heading(
            ax, self.title, f"Bars: parts of the change. Lines: {level_name(self.level)} intervals."
        )

    def _draw_mean(self, ax: Axes, position: int, step: Step) -> None:
        colour = style.SOURCE if step.key == "source" else style.TARGET
        ends = step.whisker(self.level)
        ax.plot([position] * 2, ends, color=colour, lw=1.6, zorder=3)
        ax.plot(position, step.end, "o", color=colour, markersize=9, zorder=4)
        style.number(
            ax, self.walk.text(step), (position, max(*ends, step.end)), fontsize=10.5, bold=True
        )

    def _draw_part(self, ax: Axes, position: int, step: Step) -> None:
        colour, clear = style.COLOURS[step.key], step.is_clear(self.level)
        ax.bar(
            position,
            step.change,
            bottom=step.start,
            width=0.56,
            color=colour if clear else "white",
            edgecolor=colour,
            hatch=None if clear else "////",
            linewidth=1.2,
            zorder=2,
        )
        ends = step.whisker(self.level)
        ax.plot([position] * 2, ends, color="white", lw=2.8, zorder=3, solid_capstyle="butt")
        ax.plot([position] * 2, ends, color=style.INK, lw=1.4, zorder=4, solid_capstyle="butt")
        above = step.change >= 0
        edge = max(*ends, step.end) if above else min(*ends, step.end)
        style.number(ax, self.walk.text(step), (position, edge), above=above)


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
        lines, title = self.shares.lines, f"{phrases.capital(self.shares.part)} shift, by variable"
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


@dataclass(eq=False)
class RevisionDisplay:
    """Drawn by `plot`; made by `from_revision`.

    Attributes:
        curve: every choice, its score and its gain over the model as it is.
        level: of the intervals.
        ax_: the axes drawn on, after `plot`.
        figure_: their figure.
    """

    curve: Curve
    level: float
    ax_: Axes | None = field(default=None, init=False, repr=False)
    figure_: Figure | None = field(default=None, init=False, repr=False)

    @classmethod
    def from_revision(
        cls, revision: Any, score: str = "auc", level: float = 0.95
    ) -> RevisionDisplay:
        """One score of `wg.revise(...)`, or of what `whygap revise --json` printed."""
        return cls(curve_of(revision, score), level)

    def plot(self, ax: Axes | None = None) -> RevisionDisplay:
        """Draw on `ax`, or on a figure of its own; the model as it is is the line at 0."""
        groups = {title: choices for title, choices in self.curve.groups().items() if title}
        lines: list[Choice | str] = []
        for title, choices in groups.items():
            lines += [title, *choices]
        ax = style.axes_of(ax, 6.8, 1.5 + ROW_HEIGHT * len(lines))
        style.quiet_axes(ax, grid="x")
        ax.set_xlim(*self.curve.limits(self.level))
        ax.axvline(0, color=style.INK, lw=0.9, zorder=1)
        for row, choice in enumerate(lines):
            if isinstance(choice, Choice):
                self._draw(ax, row, choice)
        self._label(ax, lines)
        self.ax_, self.figure_ = ax, ax.get_figure(root=True)
        return self

    def _draw(self, ax: Axes, row: int, choice: Choice) -> None:
        style.whisker(ax, row, choice.gain.interval(self.level))
        ax.plot(
            choice.gain.value,
            row,
            CHOICE_MARKS[choice.kind],
            markersize=7,
            color=CHOICE_COLOURS[choice.kind],
            markeredgecolor=style.INK,
            markeredgewidth=0.8,
            zorder=4,
        )
        score, beside = with_minus(self.curve.units.mean(choice.score.value)), style.words("", 9.5)
        ax.annotate(score, (1.02, row), xycoords=("axes fraction", "data"), va="center", **beside)

    def _label(self, ax: Axes, lines: list[Choice | str]) -> None:
        texts = [line if isinstance(line, str) else line.label for line in lines]
        style.name_ticks(ax.yaxis, texts, [style.label(text, 30) for text in texts])
        for tick, line in zip(ax.get_yticklabels(), lines, strict=True):
            tick.set_fontweight("bold" if isinstance(line, str) else "normal")
        ax.set_ylim(len(lines) - 0.4, -0.6)
        units = self.curve.units
        ax.xaxis.set_major_formatter(lambda value, _: with_minus(units.gain_tick(value)))
        start = with_minus(units.mean(self.curve.choices[0].score.value))
        unit = " (points)" if units.is_share else ""
        ax.set_xlabel(f"Gain of {self.curve.name}{unit} over the model as it is, {start}")
        style.heading(
            ax,
            "What a revision would bring",
            f"Right: the {self.curve.name} reached. Lines: {level_name(self.level)} intervals",
        )
