"""How charts are drawn: rows of two lines, a decomposition in one line, panels of a trend."""

import io
import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median_high
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from rich.cells import cell_len as width

from whygap.render.formats import shorten, visible
from whygap.render.style import COLOURS, TEXT, text_look
from whygap.render.units import with_minus

WIDTH = 330.0  # points: what is left of a phone's screen (390 px) within margins and a frame
ROW = 34.0  # points: a line of text, the bar, and some air
AXIS = 24.0  # points below the last row, for the axis
LINE = 14.0  # points from a line of text to the next
LETTER = {"normal": 6.4, "bold": 7.6}  # points: the width of a letter of that size
COLUMN_LETTER = 5.7  # likewise in a browser's font, which draws the decomposition in one line
PANEL = 120.0  # points: the height of one panel of a trend
MAX_TARGET_NAMES = 8  # names below a trend
LINE_HEIGHT = 104.0  # points: of the bars of a decomposition in one line

Span = tuple[float, float]
NO_SPAN = (math.nan, math.nan)


@dataclass(frozen=True, slots=True)
class Row:
    """Hold one row of a chart: a bar from `start` to `end` with an interval around its end.

    Attributes:
        name: what stands at the left.
        numbers: what stands at the right: the estimate with its interval.
        note: below the name.
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


def axes_of(ax: Axes | None, rows: Sequence[Row], title: str, note: str) -> Axes:
    """Write the title above axes, of a new figure just large enough for None; return the axes."""
    lines = [(line, "bold") for line in _wrapped(title)]
    lines += [(line, "normal") for line in _wrapped(note)] if title else []
    if ax is None:
        body = _height(rows) * len(rows)
        height = 4.0 + LINE * len(lines) + body + AXIS
        ax = _new_figure(WIDTH, height).add_axes((0.02, AXIS / height, 0.96, body / height))
    for k, (line, weight) in enumerate(reversed(lines)):
        _text(ax, line, (0, 1), (0, 5 + LINE * k), weight=weight)
    return ax


def draw_rows(
    ax: Axes, rows: Sequence[Row], tick: Callable[[float], str], from_zero: bool = False
) -> None:
    """Draw names, numbers, bars and intervals from the top down."""
    limits = _limits(rows, [0.0] * from_zero)
    height = _height(rows)
    _clear(ax, "x")
    ax.set_xlim(*limits)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    before = 0
    for place, row in enumerate(rows):
        _write_row(ax, place, row, height, indent=not (from_zero or row.is_heading))
        if row.end != row.end:
            continue
        middle = place + 0.5 - 13 / height
        _draw_bar(ax, row, place, (middle, 10 / height), limits, upright=False)
        if from_zero:
            ends = [middle - 8 / height, middle + 8 / height]
            ax.plot([0, 0], ends, color=COLOURS["ink"], lw=0.9, zorder=1)
        elif row.is_heading and place:
            ends = [before + 0.35, place + 0.05]
            ax.plot([rows[before].end] * 2, ends, color=COLOURS["muted"], lw=0.9, ls=":", zorder=1)
        before = place if row.is_heading else before
    ticks = MaxNLocator(5).tick_values(*limits)
    edge = 0.04 * (limits[1] - limits[0])  # where a number would leave the figure
    ticks = [value for value in ticks if limits[0] + edge <= value <= limits[1] - edge]
    ax.set_xticks(ticks, [with_minus(tick(value)) for value in ticks])


def _write_row(ax: Axes, place: int, row: Row, height: float, indent: bool) -> None:
    weight = "bold" if row.is_heading else "normal"
    look: dict[str, Any] = {"coordinates": ("axes fraction", "data"), "va": "center"}
    top = place - 0.5 + 8 / height
    low = top + (LINE / height if row.note else 0.0)
    letters = int(0.96 * WIDTH / LETTER[weight])
    room = letters - 2 * indent - (0 if row.note else width(row.numbers) + 1)
    _text(ax, shorten(row.name, room), (0, top), (10 * indent, 0), weight=weight, **look)
    _text(ax, row.numbers, (1, low), weight=weight, ha="right", **look)
    if row.note:
        _text(ax, row.note, (0, low), colour="muted", **look)


def draw_line(ax: Axes | None, rows: Sequence[Row], total: float) -> Axes:
    """Draw a decomposition from left to right, a column per part; return the axes."""
    pitch = total / len(rows)
    longest = max(width(row.name) for row in rows)
    steps = 2 if longest * COLUMN_LETTER > pitch else 1  # lines of names: neighbours do not touch
    if ax is None:
        below = LINE * steps + 6
        height = below + LINE_HEIGHT + LINE
        ax = _new_figure(total, height).add_axes((0, below / height, 1, LINE_HEIGHT / height))
    limits = _limits(rows)
    _clear(ax, "")
    ax.set_ylim(*limits)
    ax.set_xlim(-0.5, len(rows) - 0.5)
    for place, row in enumerate(rows):
        _draw_bar(ax, row, place, (place, 0.66), limits, upright=True)
        if place:
            begin = place - 1 + (0.33 if place > 1 else 0.1)
            end = place + (0.33 if place < len(rows) - 1 else -0.1)
            ax.plot([begin, end], [row.start] * 2, ":", color=COLOURS["muted"], lw=0.9, zorder=1)
        top = max(value for value in (row.start, row.end, min(row.interval[1], limits[1])))
        _text(ax, row.size, (place, top), (0, 3), "data", weight="bold", ha="center")
        is_edge = steps > 1 and place in (0, len(rows) - 1)  # names there go towards the middle
        side = ("right" if place else "left") if is_edge else "center"
        x = place + is_edge * (0.5 if place else -0.5)
        name = shorten(row.name, int((1.5 if is_edge else steps) * pitch / COLUMN_LETTER))
        drop = (0, -LINE * (1 + place % steps))
        _text(ax, name, (x, 0), drop, ("data", "axes fraction"), "muted", ha=side)
    return ax


def _draw_bar(ax: Axes, row: Row, place: int, bar: Span, limits: Span, upright: bool) -> None:
    """Draw a bar (middle, thickness) or a mean's dot, and the interval; an arrow where cut off."""
    middle, thickness = bar

    def draw(along: Sequence[float], mark: str = "-", **options: Any) -> Any:
        across = [middle] * len(along)
        ends = (across, along) if upright else (along, across)
        look: dict[str, Any] = {"color": COLOURS["ink"], "clip_on": False}
        return ax.plot(*ends, mark, **look | options)[0]

    colour = COLOURS[row.colour]
    if row.start == row.end and row.is_heading:
        shape = draw([row.end], "o", color=colour, ms=7, zorder=5)
    else:
        fill = colour if row.is_significant else COLOURS["card"]
        look: dict[str, Any] = {"color": fill, "edgecolor": colour, "linewidth": 1.2, "zorder": 2}
        draw_bar = ax.bar if upright else ax.barh
        (shape,) = draw_bar(middle, row.end - row.start, thickness, row.start, **look)
    shape.set_gid(f"row{place}")
    low, high = (min(max(end, limits[0]), limits[1]) for end in row.interval)
    draw([low, high], color=COLOURS["card"], lw=3.2, zorder=3)
    draw([low, high], lw=1.3, zorder=3)
    if row.interval[0] < limits[0]:
        draw([low], "v" if upright else "<", ms=6, zorder=4)
    if row.interval[1] > limits[1]:
        draw([high], "^" if upright else ">", ms=6, zorder=4)


def panels_of(n_panels: int, title: str) -> list[Axes]:
    """Make a figure with a column of panels and room for names; return the panels."""
    lines = _wrapped(title)
    above = LINE * len(lines) + 4
    below = 3 * AXIS
    total = above + n_panels * PANEL + below
    figure = _new_figure(WIDTH, total)
    for k, line in enumerate(lines):
        figure.text(0.02, 1 - (LINE * k + 4) / total, line, va="top", **text_look("ink", "bold"))
    bottoms = [below + k * PANEL for k in reversed(range(n_panels))]
    return [figure.add_axes((0.14, b / total, 0.84, (PANEL - 30) / total)) for b in bottoms]


def draw_panel(ax: Axes, name: str, marks: Mapping[int, Row], tick: Callable[[float], str]) -> None:
    """Draw an estimate of each target with an interval."""
    limits = _limits(list(marks.values()), [0.0])
    _clear(ax, "y")
    ax.set_ylim(*limits)
    ax.axhline(0, color=COLOURS["ink"], lw=0.9, zorder=1)
    for place, row in marks.items():
        colour = COLOURS[row.colour]
        ends = [min(max(end, limits[0]), limits[1]) for end in row.interval]
        ax.plot([place, place], ends, color=colour, lw=1.4, zorder=3, clip_on=False)
        fill = colour if row.is_significant else COLOURS["card"]
        ax.plot(place, row.end, "o", ms=6, mfc=fill, mec=colour, zorder=4, clip_on=False)
    _text(ax, visible(name), (0, 1), (0, 5), weight="bold")
    ax.yaxis.set_major_locator(MaxNLocator(4, prune="both"))
    ax.yaxis.set_major_formatter(lambda value, _: with_minus(tick(value)))


def name_targets(ax: Axes, targets: Sequence[str]) -> None:
    """Write the targets' names below a panel; of many targets every second, third, ... name."""
    places = list(range(0, len(targets), math.ceil(len(targets) / MAX_TARGET_NAMES)))
    labels = [shorten(visible(targets[k]), 14) for k in places]
    look = text_look("muted")
    if sum(map(width, labels)) * LETTER["normal"] > WIDTH * 0.7:
        look |= {"rotation": 30, "ha": "right"}
    ax.set_xticks(places, labels, **look)
    ax.set_xlim(-0.5, len(targets) - 0.5)


def _limits(rows: Sequence[Row], bounds: Iterable[float] = ()) -> Span:
    """Return axis limits; intervals far wider than the values and most intervals are cut."""
    values = [value for row in rows for value in (row.start, row.end)]
    finite = [value for value in (*values, *bounds) if math.isfinite(value)] or [0.0, 1.0]
    bottom = min(finite)
    top = max(finite)
    spans = [row.interval for row in rows if row.interval[0] == row.interval[0]]
    middle = median_high([0.0, *(high - low for low, high in spans)])
    reach = max(top - bottom, middle if math.isfinite(middle) else 0.0)
    low = min([bottom, *(max(span[0], bottom - reach) for span in spans)])
    high = max([top, *(min(span[1], top + reach) for span in spans)])
    air = 0.05 * (high - low or abs(high) or 20.0)
    return low - air, high + air


def _wrapped(text: str) -> list[str]:
    """Return the lines of a text above a chart."""
    return textwrap.wrap(visible(with_minus(text)), int(WIDTH / LETTER["bold"]))


def _height(rows: Sequence[Row]) -> float:
    """Return the height of every row, in points."""
    return ROW + (LINE if any(row.note for row in rows) else 0.0)


class _NotebookFigure(Figure):
    """A figure that notebooks show although pyplot has not made it."""

    def _repr_png_(self) -> bytes:
        png = io.BytesIO()
        self.savefig(png, format="png", bbox_inches="tight")
        return png.getvalue()


def _new_figure(across: float, height: float) -> Figure:
    """Return a figure of so many points."""
    return _NotebookFigure(figsize=(across / 72, height / 72), facecolor=COLOURS["card"])


def _text(
    ax: Axes,
    text: str,
    place: Span,
    offset: Span = (0, 0),
    coordinates: Any = "axes fraction",
    colour: str = "ink",
    weight: str = "normal",
    **align: Any,
) -> None:
    frame: dict[str, Any] = {"xycoords": coordinates, "textcoords": "offset points"}
    ax.annotate(text, place, xytext=offset, **frame, **text_look(colour, weight), **align)


def _clear(ax: Axes, grid: str) -> None:
    """Remove the box and draw faint grid lines along one axis, behind the marks."""
    ax.spines[:].set_visible(False)
    ax.patch.set_alpha(0.0)
    ax.tick_params(colors=COLOURS["muted"], labelsize=TEXT, length=0)
    ax.set(**{f"{side}ticks": [] for side in {"x", "y"} - {grid}})
    if grid:
        ax.grid(axis=grid, color=COLOURS["line"], linewidth=0.7)  # type: ignore[arg-type]
        ax.set_axisbelow(True)
