"""How charts are drawn: rows of two lines, a decomposition in one line, panels of a trend."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from whygap.render.formats import shorten, width
from whygap.render.units import with_minus
from whygap.results import Finding

WIDTH = 330.0  # points: what is left of a phone's screen (390 px) within margins and a frame
ROW = 34.0  # points: a line of text, the bar, and some air
AXIS = 24.0  # points below the last row, for the axis
LINE = 14.0  # points from a line of text to the next
TEXT = 11.0  # points, the least that a phone shows legibly
LETTER = 6.2  # points: the mean width of a letter of that size
COLUMN_LETTER = 5.7  # likewise in a browser's font, which draws the decomposition in one line
LETTERS = 50  # of a title in one line
LINE_HEIGHT = 104.0  # points: of the bars of a decomposition in one line

# Paul Tol's high-contrast colours: told apart under every colour vision and in grey.
# Pages replace each colour by the CSS variable of that name.
COLOURS = {
    "baseline": "#004488",
    "covariate": "#ddaa33",
    "outcome": "#bb5566",
    "source_only": "#a0a6b1",
    "target_only": "#5f6671",
    "other": "#7755aa",
    "recoverable": "#2b8c6b",
    "ink": "#1b1f27",
    "muted": "#5b6472",
    "line": "#d5d9e0",
    "card": "#fefefe",
}
# Families for letters that matplotlib's own font lacks, where they are installed
FALLBACKS = ("Noto Sans", "Noto Sans Arabic", "Noto Sans Hebrew", "Noto Sans Devanagari")
FALLBACKS += ("Noto Sans CJK JP", "Noto Sans CJK SC", "Arial Unicode MS", "Noto Emoji")
# Control characters as their pictures; marks that turn the direction of text as a replacement
PICTURES = {code: 0x2400 + code for code in range(32)} | {9: " ", 10: " ", 13: " ", 127: 0x2421}
PICTURES |= dict.fromkeys([*range(128, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A)], 65533)

Span = tuple[float, float]
NO_SPAN: Span = (math.nan, math.nan)


@dataclass(frozen=True, slots=True)
class Row:
    """Hold one row of a chart: a bar from `start` to `end` with an interval around its end.

    Attributes:
        name: what stands at the left.
        numbers: what stands at the right: the estimate with its interval.
        note: below the name; rows with one take a line more.
        size: the estimate alone, where there is no room for the interval.
        start: where the bar begins; equal to `end` for a mean, which is drawn as a dot.
        end: where the bar ends; NaN for a heading without a bar.
        interval: in the place of the bar's end.
        colour: a key of `COLOURS`.
        is_significant: whether the bar is filled.
        is_heading: whether the name is bold.
        part: name of the part that the row is of; empty for none.
    """

    name: str
    numbers: str = ""
    note: str = ""
    size: str = ""
    start: float = math.nan
    end: float = math.nan
    interval: Span = NO_SPAN
    colour: str = "other"
    is_significant: bool = True
    is_heading: bool = False
    part: str = ""


def shown(text: str) -> str:
    """Return a text whose control characters can be seen and change nothing.

    Args:
        text: any name.
    """
    return text.translate(PICTURES)


def axes_of(ax: Axes | None, rows: Sequence[Row], title: str, note: str) -> Axes:
    """Return the given axes, or those of a figure that is just large enough, below a title.

    Args:
        ax: the axes to draw on; None makes a figure.
        rows: that are going to be drawn.
        title: what happened; empty for none.
        note: below the title.
    """
    lines = [(line, "bold") for line in textwrap.wrap(shown(title), LETTERS)]
    lines += [(line, "normal") for line in textwrap.wrap(note, LETTERS)]
    lines = lines if title else []
    if ax is None:
        body = _height(rows) * len(rows)
        height = 4.0 + LINE * len(lines) + body + AXIS
        figure = Figure(figsize=(WIDTH / 72, height / 72))
        figure.patch.set_facecolor(COLOURS["card"])
        ax = figure.add_axes((0.02, AXIS / height, 0.96, body / height))
    for k, (line, weight) in enumerate(reversed(lines)):
        colour = "ink" if weight == "bold" else "muted"
        _text(ax, line, (0, 1), (0, 5 + LINE * k), colour=colour, weight=weight)
    return ax


def _height(rows: Sequence[Row]) -> float:
    """Return the height of every row, in points."""
    return ROW + (LINE if any(row.note for row in rows) else 0.0)


def draw_rows(
    ax: Axes, rows: Sequence[Row], tick: Callable[[float], str], zero: bool = False
) -> None:
    """Draw names, numbers, bars and intervals from the top down.

    Args:
        ax: the axes to draw on.
        rows: from the top down.
        tick: writes a number on the axis.
        zero: draw a line at 0.
    """
    _clear(ax, "x")
    ends = [value for row in rows for value in (row.start, row.end)]
    limits = limits_of([*ends, 0.0] if zero else ends, [row.interval for row in rows])
    ax.set_xlim(*limits)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_yticks([])
    height = _height(rows)
    bars = [place + 0.5 - 13 / height for place in range(len(rows))]
    if zero:
        middles = [middle for middle, row in zip(bars, rows, strict=True) if row.end == row.end]
        ends = [[middle + side * 8 / height for middle in middles] for side in (-1, 1)]
        ax.vlines([0.0] * len(middles), *ends, color=COLOURS["ink"], lw=0.9, zorder=1)
    for place, row in enumerate(rows):
        weight = "bold" if row.is_heading else "normal"
        across = ("axes fraction", "data")
        top = place - 0.5 + 8 / height
        low = top + (LINE / height if row.note else 0.0)
        look: dict[str, Any] = {"coordinates": across, "va": "center"}
        indent = "" if row.is_heading or zero else "   "
        room = int(0.96 * WIDTH / LETTER) - len(indent) - (0 if row.note else width(row.numbers))
        _text(ax, indent + shorten(row.name, room), (0, top), weight=weight, **look)
        _text(ax, row.numbers, (1, low), weight=weight, ha="right", **look)
        if row.note:
            _text(ax, row.note, (0, low), colour="muted", **look)
        if row.end == row.end:
            _draw_bar(ax, bars[place], row, limits, place, 10 / height)
    ax.xaxis.set_major_locator(MaxNLocator(5, prune="both"))
    ax.xaxis.set_major_formatter(lambda value, _: with_minus(tick(value)))


def _draw_bar(
    ax: Axes, middle: float, row: Row, limits: Span, place: int, thickness: float
) -> None:
    colour = COLOURS[row.colour]
    if row.start == row.end and row.is_heading:
        (mark,) = ax.plot(row.end, middle, "o", color=colour, ms=7, zorder=5, clip_on=False)
    else:
        fill = colour if row.is_significant else COLOURS["card"]
        look: dict[str, Any] = {"color": fill, "edgecolor": colour, "linewidth": 1.2, "zorder": 2}
        (mark,) = ax.barh(middle, row.end - row.start, thickness, row.start, **look)
    mark.set_gid(f"row{place}")
    low = min(max(row.interval[0], limits[0]), limits[1])
    high = max(min(row.interval[1], limits[1]), limits[0])
    for name, size in (("card", 3.2), ("ink", 1.3)):
        ax.plot([low, high], [middle] * 2, color=COLOURS[name], lw=size, zorder=3)
    if row.interval[0] < limits[0]:
        ax.plot(low, middle, "<", color=COLOURS["ink"], ms=6, zorder=4, clip_on=False)
    if row.interval[1] > limits[1]:
        ax.plot(high, middle, ">", color=COLOURS["ink"], ms=6, zorder=4, clip_on=False)


def connect(ax: Axes, rows: Sequence[Row]) -> None:
    """Draw dotted lines from the end of each part to the beginning of the next.

    Args:
        ax: with the rows.
        rows: of a decomposition.
    """
    places = [place for place, row in enumerate(rows) if row.is_heading]
    for before, after in zip(places, places[1:], strict=False):
        ends = [before + 0.35, after + 0.05]
        ax.plot([rows[before].end] * 2, ends, color=COLOURS["muted"], lw=0.9, ls=":", zorder=1)


def draw_line(ax: Axes | None, rows: Sequence[Row], total: float) -> Axes:
    """Draw a decomposition from left to right, a column per part; return the axes.

    Args:
        ax: the axes to draw on; None makes a figure.
        rows: the source, the parts and the target.
        total: width in points.
    """
    pitch = total / len(rows)
    longest = max(width(row.name) for row in rows)
    steps = 2 if longest * COLUMN_LETTER > pitch else 1  # lines of names, so that neighbours do not touch
    below = LINE * steps + 6
    if ax is None:
        height = below + LINE_HEIGHT + LINE
        figure = Figure(figsize=(total / 72, height / 72))
        ax = figure.add_axes((0, below / height, 1, LINE_HEIGHT / height))
    _clear(ax, "")
    limits = limits_of([v for r in rows for v in (r.start, r.end)], [r.interval for r in rows])
    ax.set_ylim(*limits)
    ax.set_xlim(-0.5, len(rows) - 0.5)
    ax.set_xticks([])
    ax.set_yticks([])
    for place, row in enumerate(rows):
        colour = COLOURS[row.colour]
        if row.start == row.end and row.colour == "ink":
            (mark,) = ax.plot(place, row.end, "o", color=colour, ms=8, zorder=5, clip_on=False)
        else:
            fill = colour if row.is_significant else COLOURS["card"]
            look = {"color": fill, "edgecolor": colour, "linewidth": 1.2, "zorder": 2}
            (mark,) = ax.bar(place, row.end - row.start, 0.66, row.start, **look)
        mark.set_gid(f"row{place}")
        low = max(row.interval[0], limits[0])
        high = min(row.interval[1], limits[1])
        for name, size in (("card", 3.2), ("ink", 1.3)):
            ax.plot([place] * 2, [low, high], color=COLOURS[name], lw=size, zorder=3)
        if place:
            begin = place - 1 + (0.33 if place > 1 else 0.1)
            end = place + (0.33 if place < len(rows) - 1 else -0.1)
            ax.plot([begin, end], [row.start] * 2, color=COLOURS["muted"], lw=0.9, ls=":", zorder=1)
        top = max(high, row.start, row.end) if high == high else max(row.start, row.end)
        _text(ax, row.size, (place, top), (0, 3), "data", weight="bold", ha="center")
        _name_column(ax, place, row, len(rows), pitch, steps)
    return ax


def _name_column(ax: Axes, place: int, row: Row, n_rows: int, pitch: float, steps: int) -> None:
    """Write a name below its column; at the edges towards the middle."""
    sides = {0: ("left", -0.5), n_rows - 1: ("right", n_rows - 0.5)} if steps > 1 else {}
    side, x = sides.get(place, ("center", float(place)))
    room = int((1.5 if place in sides else steps) * pitch / COLUMN_LETTER)
    drop = -LINE * (1 + place % steps)
    across = ("data", "axes fraction")
    _text(ax, shorten(row.name, room), (x, 0), (0, drop), across, ha=side, colour="muted")


def panels_of(n_panels: int, title: str, height: float) -> list[Axes]:
    """Return axes one below the next, on a figure of their own.

    Args:
        n_panels: how many.
        title: above them; empty for none.
        height: of a panel, in points.
    """
    lines = textwrap.wrap(shown(title), LETTERS)
    above = LINE * len(lines) + 4
    below = 3 * AXIS
    size = above + n_panels * height + below
    figure = Figure(figsize=(WIDTH / 72, size / 72))
    figure.patch.set_facecolor(COLOURS["card"])
    for k, line in enumerate(lines):
        look: dict[str, Any] = _look("ink", "bold") | {"va": "top"}
        figure.text(0.02, 1 - (LINE * k + 4) / size, line, **look)
    panels = []
    for k in range(n_panels):
        bottom = (below + (n_panels - 1 - k) * height) / size
        panels.append(figure.add_axes((0.14, bottom, 0.84, (height - 30) / size)))
    return panels


def draw_panel(
    ax: Axes,
    name: str,
    marks: Sequence[tuple[int, Finding]],
    colour: str,
    tick: Callable[[float], str],
) -> None:
    """Draw one estimate of each target with its interval.

    Args:
        ax: the axes to draw on.
        name: above the panel.
        marks: place and finding of each target.
        colour: a key of `COLOURS`.
        tick: writes a number on the axis.
    """
    _clear(ax, "y")
    spans = [finding.interval or NO_SPAN for _, finding in marks]
    limits = limits_of([0.0, *(finding.value for _, finding in marks)], spans)
    ax.set_ylim(*limits)
    ax.axhline(0, color=COLOURS["ink"], lw=0.9, zorder=1)
    for place, finding in marks:
        low, high = finding.interval or NO_SPAN
        ends = [max(low, limits[0]), min(high, limits[1])]
        ax.plot([place, place], ends, color=COLOURS[colour], lw=1.4, zorder=3)
        fill = COLOURS[colour if finding.significant else "card"]
        look: dict[str, Any] = {"mec": COLOURS[colour], "mew": 1.3, "clip_on": False, "zorder": 4}
        ax.plot(place, finding.value, "o", ms=6, mfc=fill, **look)
    _text(ax, shown(name), (0, 1), (0, 5), weight="bold")
    ax.set_xticks([])
    ax.yaxis.set_major_locator(MaxNLocator(4, prune="both"))
    ax.yaxis.set_major_formatter(lambda value, _: with_minus(tick(value)))


def name_targets(ax: Axes, targets: Sequence[str], most: int) -> None:
    """Write the targets' names below a panel.

    Args:
        ax: the lowest panel.
        targets: their names.
        most: names that have room; of more targets every second, third, ... is named.
    """
    step = math.ceil(len(targets) / most)
    places = list(range(0, len(targets), step))
    labels = [shorten(shown(targets[k]), 14) for k in places]
    is_slanted = sum(map(width, labels)) * LETTER > WIDTH * 0.7
    side = "right" if is_slanted else "center"
    look = _look("muted") | {"rotation": 30 if is_slanted else 0, "ha": side}
    ax.set_xticks(places, labels, **look)


def limits_of(values: Iterable[float], spans: Iterable[Span]) -> Span:
    """Return axis limits; intervals far wider than the values and most intervals are cut.

    Args:
        values: that must be within the limits; NaN is left out.
        spans: intervals; NaN is left out.
    """
    finite = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    bottom = min(finite)
    top = max(finite)
    pairs = [span for span in spans if span[0] == span[0]]
    widths = sorted(high - low for low, high in pairs)
    middle = widths[len(widths) // 2] if widths else 0.0
    reach = max(top - bottom, middle if math.isfinite(middle) else 0.0)
    low = min([bottom, *(max(span[0], bottom - reach) for span in pairs)])
    high = max([top, *(min(span[1], top + reach) for span in pairs)])
    air = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    return low - air, high + air


def _text(
    ax: Axes,
    text: str,
    place: Span,
    offset: Span = (0, 0),
    coordinates: Any = "axes fraction",
    colour: str = "ink",
    weight: str = "normal",
    **align: str,
) -> None:
    where: dict[str, Any] = {"xycoords": coordinates, "textcoords": "offset points"}
    ax.annotate(text, place, xytext=offset, **where, **_look(colour, weight), **align)


def _look(colour: str, weight: str = "normal") -> dict[str, Any]:
    """Return how texts are written: never as formulas, in letters that can be drawn."""
    look = {"fontsize": TEXT, "color": COLOURS[colour], "fontweight": weight}
    return look | {"parse_math": False, "fontfamily": _families()}


@cache
def _families() -> list[str]:
    installed = set(font_manager.get_font_names())
    return ["DejaVu Sans", *(family for family in FALLBACKS if family in installed)]


def _clear(ax: Axes, grid: str) -> None:
    """Remove the box and draw faint grid lines along one axis, behind the marks."""
    for side in ("top", "right", "left", "bottom"):
        ax.spines[side].set_visible(False)
    ax.patch.set_alpha(0.0)
    ax.tick_params(colors=COLOURS["muted"], labelsize=TEXT, length=0)
    if grid:
        ax.grid(axis=grid, color=COLOURS["line"], linewidth=0.7)  # type: ignore[arg-type]
        ax.set_axisbelow(True)
