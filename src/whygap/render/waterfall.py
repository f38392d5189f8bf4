"""The walk from the source mean to the target mean through the parts."""

from __future__ import annotations

from dataclasses import dataclass, field

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whygap.render import phrases, style
from whygap.render.numbers import level_name, with_minus
from whygap.render.reading import excludes_zero
from whygap.render.views import Step, Walk, walk_of
from whygap.results import Gap

__all__ = ["WaterfallDisplay"]


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
