"""The walk from the source mean to the target mean through the three parts."""

from __future__ import annotations

from dataclasses import dataclass, field

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whygap.render import phrases, style
from whygap.render.numbers import Units, level_name, with_minus
from whygap.render.reading import reading_of
from whygap.results import Gap

__all__ = ["Step", "WaterfallDisplay"]


@dataclass(frozen=True, slots=True)
class Step:
    """One part: where the mean stands before and after it, and the interval of the change."""

    part: str
    start: float
    end: float
    low: float
    high: float
    clear: bool

    @property
    def change(self) -> float:
        """How far this part moves the mean."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Mark:
    """A mean of the metric in one domain, with its interval."""

    name: str
    value: float
    low: float
    high: float


@dataclass(eq=False)
class WaterfallDisplay:
    """Drawn by `plot`; made by `from_gap`.

    Attributes:
        title: what happened, in a few words.
        source: the metric's mean in the source.
        target: the same in the target.
        steps: the parts between them.
        units: how numbers are written.
        level: of the intervals.
        ax_: the axes drawn on, after `plot`.
        figure_: their figure.
    """

    title: str
    source: Mark
    target: Mark
    steps: tuple[Step, ...]
    units: Units
    level: float
    ax_: Axes | None = field(default=None, init=False, repr=False)
    figure_: Figure | None = field(default=None, init=False, repr=False)

    @classmethod
    def from_gap(cls, gap: Gap, level: float = 0.95) -> WaterfallDisplay:
        """Everything the drawing needs, taken from a result."""
        reading = reading_of(gap, level)
        corners, aggregate = gap.aggregate.corners(), gap.aggregate
        names = list(aggregate.parts())
        steps = [
            Step(
                name,
                corners[k].value,
                corners[k + 1].value,
                *aggregate.parts()[name].interval(level),
                clear=reading.is_clear(name),
            )
            for k, name in enumerate(names)
            if name in reading.parts
        ]
        return cls(
            title=_title(gap, reading.clear, reading.units),
            source=_mark(
                gap.about.source_name, aggregate.mean_000.value, aggregate.mean_000.interval(level)
            ),
            target=_mark(
                gap.about.target_name, aggregate.mean_111.value, aggregate.mean_111.interval(level)
            ),
            steps=tuple(steps),
            units=reading.units,
            level=level,
        )

    def plot(self, ax: Axes | None = None) -> WaterfallDisplay:
        """Draw on `ax`, or on a figure of its own."""
        ax = style.axes_of(ax, 1.6 + 1.25 * (len(self.steps) + 2), 4.2)
        style.quiet_axes(ax, grid="y")
        last = len(self.steps) + 1
        _draw_mark(ax, 0, self.source, self.units, style.SOURCE)
        for position, step in enumerate(self.steps, start=1):
            _draw_step(ax, position, step, self.units)
            ax.plot([position - 1, position], [step.start] * 2, color=style.MUTED, lw=0.8, ls=":")
        ax.plot([last - 1, last], [self.target.value] * 2, color=style.MUTED, lw=0.8, ls=":")
        _draw_mark(ax, last, self.target, self.units, style.TARGET)
        self._label(ax)
        self.ax_, self.figure_ = ax, ax.get_figure(root=True)
        return self

    def _label(self, ax: Axes) -> None:
        names = [self.source.name, *(phrases.part_title(s.part) for s in self.steps)]
        names.append(self.target.name)
        ax.set_xticks(
            range(len(names)),
            [style.label(name, 13, lines=3) for name in names],
            fontsize=9.5,
            parse_math=False,
            fontfamily=style.fonts_for(names),
        )
        if not all(step.clear for step in self.steps):
            ax.set_xlabel("Hatched bars: cannot be told from 0", fontsize=9)
        ends = [self.source.low, self.source.high, self.target.low, self.target.high]
        ends += [step.start + shift for step in self.steps for shift in (step.low, step.high, 0.0)]
        ax.set_ylim(*style.padded(ends, 0.2))
        ax.set_xlim(-0.55, len(names) - 0.45)
        ax.yaxis.set_major_formatter(lambda value, _: with_minus(self.units.tick(value)))
        style.heading(
            ax, self.title, f"Bars: parts of the change. Lines: {level_name(self.level)} intervals."
        )


def _title(gap: Gap, clear: bool, units: Units) -> str:
    change, metric = gap.aggregate.gap.value, phrases.metric_name(gap.about)
    if not clear:
        return f"No clear change of {metric}"
    verb = "fell" if change < 0 else "rose"
    return f"{phrases.capital(metric)} {verb} by {units.size(change)}"


def _mark(name: str, value: float, interval: tuple[float, float]) -> Mark:
    return Mark(name, value, *interval)


def _draw_mark(ax: Axes, position: int, mark: Mark, units: Units, colour: str) -> None:
    ax.plot([position] * 2, [mark.low, mark.high], color=colour, lw=1.6, zorder=3)
    ax.plot(position, mark.value, "o", color=colour, markersize=9, zorder=4)
    ax.annotate(
        units.mean(mark.value),
        (position, max(mark.high, mark.value)),
        xytext=(0, 4),
        textcoords="offset points",
        ha="center",
        fontsize=10.5,
        fontweight="bold",
        color=style.INK,
    )


def _draw_step(ax: Axes, position: int, step: Step, units: Units) -> None:
    colour = style.COLOURS[step.part]
    ax.bar(
        position,
        step.change,
        bottom=step.start,
        width=0.56,
        color=colour if step.clear else "white",
        edgecolor=colour,
        hatch=None if step.clear else "////",
        linewidth=1.2,
        zorder=2,
    )
    ends = (step.start + step.low, step.start + step.high)
    ax.plot([position] * 2, ends, color="white", lw=2.8, zorder=3, solid_capstyle="butt")
    ax.plot([position] * 2, ends, color=style.INK, lw=1.4, zorder=4, solid_capstyle="butt")
    above = step.change >= 0
    ax.annotate(
        with_minus(units.bare(step.change, signed=True)),
        (position, max(*ends, step.end) if above else min(*ends, step.end)),
        xytext=(0, 4 if above else -4),
        textcoords="offset points",
        ha="center",
        va="bottom" if above else "top",
        fontsize=10,
        color=style.INK,
    )
