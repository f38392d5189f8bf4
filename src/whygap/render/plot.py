"""Figures: Display objects hold what is drawn, `.plot(ax=None)` draws it and returns itself.

Once drawn, `ax_` is the axes drawn on (`axes_`: two of them) and `figure_` their figure.
"""

from __future__ import annotations

import importlib
import io
import textwrap
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from whygap.errors import InputError, SettingsError, require_known
from whygap.progress import notebook_shell
from whygap.render import phrases, style
from whygap.render.forest import PointsDisplay, SharesDisplay, WhereDisplay, height_of
from whygap.render.formats import shorten
from whygap.render.panels import (
    OverlapDisplay as OverlapDisplay,  # for those who import all displays from here
)
from whygap.render.panels import RecoverableDisplay
from whygap.render.units import level_name, with_minus
from whygap.render.views import Step, Walk, walk_of
from whygap.results import Gap

FORMATS = ("svg", "png", "pdf")


@dataclass(eq=False)
class WaterfallDisplay:
    """Drawn by `plot`; made by `from_gap`.

    Attributes:
        title: what happened, in a few words.
        walk: the source's mean, the parts with their variables, the target's mean.
        level: of the intervals.
    """

    title: str
    walk: Walk
    level: float
    ax_: Axes | None = field(default=None, init=False, repr=False)
    figure_: Figure | None = field(default=None, init=False, repr=False)

    @classmethod
    def from_gap(cls, gap: Gap, level: float = 0.95, top: int = 5) -> WaterfallDisplay:
        """Everything the drawing needs; parts open into their `top` largest variables."""
        walk = walk_of(gap, top)
        if not gap.comparable:
            return cls("The tables cannot be compared", walk, level)
        change, metric = gap.total, phrases.metric_name(gap.about)
        verb = "fell" if change.value < 0 else "rose"
        title = f"{phrases.capital(metric)} {verb} by {walk.units.size(change.value)}"
        clear = change.excludes_zero(level)
        return cls(title if clear else f"No clear change of {metric}", walk, level)

    def plot(self, ax: Axes | None = None) -> WaterfallDisplay:
        """Draw on `ax`, or on a figure of its own, from the source down to the target."""
        steps = self.walk.steps
        ax = style.axes_of(ax, 7.2, height_of(len(steps)))
        style.quiet_axes(ax, grid="x")
        ax.set_xlim(*self.walk.limits(self.level, 0.06))
        for row, step in enumerate(steps):
            if row:
                ax.plot([step.start] * 2, [row - 1, row], color=style.MUTED, lw=0.8, ls=":")
            draw = self._draw_part if step.is_part else self._draw_mean
            draw(ax, row, step)
        self._label(ax)
        self.ax_, self.figure_ = ax, ax.get_figure(root=True)
        return self

    def _label(self, ax: Axes) -> None:
        steps, walk = self.walk.steps, self.walk
        shown = [shorten(step.name, 28) for step in steps]
        style.name_ticks(ax.yaxis, [step.name for step in steps], shown)
        for tick, step in zip(ax.get_yticklabels(), steps, strict=True):
            tick.set_fontweight("normal" if step.is_variable else "bold")
            tick.set_color(style.MUTED if step.is_variable else style.INK)
        for row, step in enumerate(steps):
            style.beside(ax, walk.text(step), row, bold=not step.is_variable)
        ax.set_ylim(len(steps) - 0.4, -0.6)
        if not all(step.is_clear(self.level) for step in steps):
            ax.set_xlabel("Hollow bars: not distinguishable from 0", fontsize=9)
        ax.xaxis.set_major_formatter(lambda value, _: with_minus(walk.units.tick(value)))
        unit = " (points)" if walk.units.is_share else ""
        parts = f"Bold: parts of the change; below each its variables{unit}\n"
        below = parts if any(step.is_part for step in steps) else ""
        style.heading(ax, self.title, f"{below}Lines: {level_name(self.level)} intervals")

    def _draw_mean(self, ax: Axes, row: int, step: Step) -> None:
        colour = style.SOURCE if step.key == "source" else style.TARGET
        style.whisker(ax, row, step.whisker(self.level))
        ax.plot(step.end, row, "o", color=colour, markersize=9, zorder=5)

    def _draw_part(self, ax: Axes, row: int, step: Step) -> None:
        colour, clear = style.COLOURS.get(step.key, style.INK), step.is_clear(self.level)
        ax.barh(
            row,
            step.change,
            left=step.start,
            height=0.4 if step.is_variable else 0.7,
            color=colour if clear else "white",
            edgecolor=colour,
            linewidth=1.2,
            zorder=2,
        )
        style.whisker(ax, row, step.whisker(self.level))


def figure(gap: Gap, what: str = "answer", level: float | None = None, **options: Any) -> Figure:
    """One of `FIGURES`: the whole answer, or one question."""
    if what == "trend":
        raise SettingsError(
            "A trend needs several targets",
            got="one result",
            hint="many = wg.explain_many(study, targets), then many.plot().",
        )
    require_known(what, FIGURES, f"There is no figure '{what}'", "Figures", SettingsError)
    made: Figure = FIGURES[what](gap, gap.level(level), **options)
    leads = [] if what in SAY_THEMSELVES else [gap.reason]
    problems = [text for text in leads if text]
    problems += [f"{phrases.BANNER} {text}" for text in phrases.banner(gap)]
    if problems:
        width = int(12 * made.get_figwidth())
        above = "\n".join(textwrap.fill(text, width) for text in problems)
        made.suptitle(above, x=0.01, ha="left", **style.words([above], 10))
    _show_in_notebooks()
    return made


def _show_in_notebooks() -> None:
    """Jupyter shows a figure that pyplot has not made only once it is told how."""
    shell = notebook_shell()
    if shell is not None:
        tools = importlib.import_module("IPython.core.pylabtools")
        tools.select_figure_formats(shell, {"png"})


def _answer(gap: Gap, level: float, top: int = 4) -> Figure:
    """The walk opened into `top` variables a part and the rest; who is hit; what can be won."""
    walk = WaterfallDisplay.from_gap(gap, level, top)
    rights: list[Any] = []
    if gap.affected:
        rights.append(WhereDisplay.shortest(gap, level))
    if gap.recoverable:
        rights.append(RecoverableDisplay.from_gap(gap, level, top))
    heights = [2.2 if isinstance(one, RecoverableDisplay) else 1.3 for one in rights]
    height = max(height_of(len(walk.walk.steps)), 2.7 * sum(heights))
    made = Figure(figsize=(14.0 if rights else 7.2, height), layout=ConstrainedLayoutEngine())
    parts: Any = made.subfigures(1, 2) if rights else [made]
    walk.plot(parts[0].subplots())
    if rights:
        below = parts[1].subfigures(len(rights), 1, height_ratios=heights, squeeze=False)[:, 0]
        for display, place in zip(rights, below, strict=True):
            two = isinstance(display, RecoverableDisplay)
            display.plot(place.subplots(2, 1, height_ratios=(1, 1.4)) if two else place.subplots())
    return made


def _shares(gap: Gap, level: float, top: int = 15) -> Figure:
    """The paper's shares of every detailed part, side by side."""
    parts = [SharesDisplay.from_gap(gap, part, level, top) for part in gap.shares]
    if not parts:
        made = Figure(figsize=(6.4, height_of(0)), layout="constrained")
        asked = "Shares were not asked for: detail=('shares',)."
        style.message(made.subplots(), gap.reason or asked)
        return made
    longest = max(len(part.block.lines) for part in parts)
    made = Figure(figsize=(6.4 * len(parts), height_of(longest)), layout="constrained")
    for ax, part in zip(made.subplots(1, len(parts), squeeze=False)[0], parts, strict=True):
        part.plot(ax)
    return made


def _one(display: Any) -> Any:
    return lambda gap, level, **options: display.from_gap(gap, level, **options).plot().figure_


FIGURES: dict[str, Any] = {
    "answer": _answer,
    "walk": _one(WaterfallDisplay),
    "points": _one(PointsDisplay),
    "affected": _one(WhereDisplay),
    "recoverable": _one(RecoverableDisplay),
    "shares": _shares,
}


SAY_THEMSELVES = (
    "points",
    "affected",
    "shares",
)  # why they are empty


def save_figure(figure: Figure, path: str | Path, **options: Any) -> Path:
    """Write svg, png or pdf, by the path's ending; whole or not at all.

    Text in svg stays text, so that it can be searched, and any script is drawn by the viewer.
    """
    from whygap.results.files import write_bytes

    path = Path(path)
    kind = path.suffix.lower().lstrip(".")
    if kind not in FORMATS:
        raise InputError(
            "A figure is written as .svg, .png or .pdf", got=repr(path.name), hint="Try gap.svg."
        )
    return write_bytes(path, drawn(figure, kind, **options))


def drawn(figure: Figure, kind: str, **options: Any) -> bytes:
    """The figure as a file's content; the same bytes for the same figure."""
    plain = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    buffer = io.BytesIO()
    plain_text: Any = {"svg.fonttype": "none", "svg.hashsalt": "whygap", "pdf.fonttype": 42}
    with mpl.rc_context(plain_text), warnings.catch_warnings():
        # A letter no installed font has is drawn as a box; svg keeps the letter itself.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(buffer, format=kind, metadata=plain, **{"dpi": 160, **options})
    return buffer.getvalue()
