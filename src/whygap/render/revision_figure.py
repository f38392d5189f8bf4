"""What every revision of the model would bring, with intervals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whygap.render import style
from whygap.render.numbers import level_name, with_minus
from whygap.render.revision import Choice, Curve, curve_of

__all__ = ["RevisionDisplay"]

ROW_HEIGHT = 0.34  # inches: a line of 9.5 points, and air between markers
COLOURS = {
    "targeted": style.COLOURS["outcome"],
    "reweighted": style.COLOURS["covariate"],
    "retrained": style.INK,
}
MARKS = {"targeted": "o", "reweighted": "s", "retrained": "D"}


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
            MARKS[choice.kind],
            markersize=7,
            color=COLOURS[choice.kind],
            markeredgecolor=style.INK,
            markeredgewidth=0.8,
            zorder=4,
        )
        ax.annotate(
            with_minus(self.curve.units.mean(choice.score.value)),
            (1.02, row),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=9.5,
            color=style.INK,
        )

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
