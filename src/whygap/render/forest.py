"""Lines with bars, dots and intervals: points, groups, what can be won back, shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from whygap.render import phrases, style
from whygap.render.formats import shorten
from whygap.render.lines import (
    Block,
    Line,
    hits_block,
    limits_of,
    points_blocks,
    shares_block,
    where_blocks,
)
from whygap.render.reading import reading_of
from whygap.render.units import level_name, percent, with_minus
from whygap.results import Gap

ROW_HEIGHT = 0.30  # inches: a line of 9.5 points and some air
FEWEST = 6  # rows of room, so that two bars do not fill a page
CROWDED = 25  # rows from which names take one small line instead of two
MOST_VARIABLES = 15  # of a part in one figure; the rest stand together in one line
MOST_GROUPED = 4  # variables whose groups are drawn: more is read as a table


def height_of(rows: int) -> float:
    """Inches for so many rows, a title and an axis."""
    return 1.5 + ROW_HEIGHT * max(rows, FEWEST)


@dataclass(frozen=True, slots=True)
class _Row:
    """A heading, or a line with its interval; `shown` is its text on one line or more."""

    text: str
    shown: str
    line: Line | None = None
    block: Block | None = None
    ends: tuple[float, float] = (0.0, 0.0)

    @property
    def room(self) -> int:
        """Rows that the text takes: two of its lines have room in one."""
        return 1 + self.shown.count("\n") // 2


def _rows_of(blocks: Sequence[Block], level: float) -> list[_Row]:
    rows: list[_Row] = []
    crowded = sum(len(block.lines) + 1 for block in blocks) > CROWDED
    for block in blocks:
        rows += [_Row(block.title, style.label(block.title, 32))] if len(blocks) > 1 else []
        for line, ends in zip(block.lines, block.intervals(level), strict=True):
            text = f"{line.name} ({line.note})" if line.note else line.name
            whole = line.kind in ("group", "rule")  # words that lose their sense when cut
            shown = (
                shorten(text, 34)
                if crowded and not whole
                else style.label(text, 32, 6 * whole or 2)
            )
            rows.append(_Row(text, shown, line, block, ends))
    return rows


def draw_blocks(
    ax: Axes, blocks: Sequence[Block], level: float, filled: Sequence[str] | None = None
) -> None:
    """Bars from 0, dots and whiskers; `filled` names the dots to fill, else those clear of 0."""
    rows = _rows_of(blocks, level)
    style.quiet_axes(ax, grid="x")
    ax.set_xlim(*limits_of(blocks, level))
    ax.axvline(0, color=style.INK, lw=0.9, zorder=1)
    places = [
        end - (row.room + 1) / 2
        for row, end in zip(rows, accumulate(row.room for row in rows), strict=True)
    ]
    names, shown = [row.text for row in rows], [row.shown for row in rows]
    style.name_ticks(ax.yaxis, names, shown, 8 if len(rows) >= CROWDED else 9.5, places)
    for tick, row in zip(ax.get_yticklabels(), rows, strict=True):
        tick.set_fontweight("normal" if row.line else "bold")
    ax.set_ylim(max(sum(row.room for row in rows), FEWEST) - 0.4, -0.6)
    units = blocks[0].units
    write = percent if units is None else units.gain_tick
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.xaxis.set_major_formatter(lambda value, _: with_minus(write(value)))
    for place, row in zip(places, rows, strict=True):
        if row.line is None or row.block is None:
            continue
        clear = not row.ends[0] <= 0 <= row.ends[1]
        _draw_line(ax, place, row, clear if filled is None else row.line.name in filled)
        style.beside(ax, row.block.text(row.line), place)


def _draw_line(ax: Axes, place: float, row: _Row, is_filled: bool) -> None:
    if row.line is None or row.block is None:
        return
    line, colour = row.line, colour_of(row.block.key)
    colour = style.MUTED if line.kind == "base" else colour
    ax.barh(place, line.estimate.value, height=0.62, color=colour, alpha=0.28, zorder=2)
    style.whisker(ax, place, row.ends)
    ax.plot(
        line.estimate.value,
        place,
        "D" if line.kind == "base" else "s" if line.kind == "rule" else "o",
        markersize=6.5,
        markerfacecolor=colour if is_filled else "white",
        markeredgecolor=style.INK if is_filled else colour,
        markeredgewidth=1.4,
        zorder=5,
    )


def colour_of(key: str) -> str:
    """The colour of a block: its part's, or that of what can be won back."""
    if key.startswith("recoverable"):
        return style.WON
    return style.COLOURS["outcome" if key == "where" else key.removeprefix("points ")]


def _draw_display(
    display: PointsDisplay | WhereDisplay, ax: Axes | None, title: str, lines: str
) -> None:
    rows = _rows_of(display.blocks, display.level)
    ax = style.axes_of(ax, 7.2, height_of(sum(row.room for row in rows)))
    below = f"{phrases.capital(display.unit)}{lines} {level_name(display.level)} intervals"
    style.heading(ax, title, below)
    if any(row.line for row in rows):
        draw_blocks(ax, display.blocks, display.level)
        ax.set_xlabel("Hollow dots: not distinguishable from 0", fontsize=9)
    else:
        style.message(ax, display.nothing)
    display.ax_, display.figure_ = ax, ax.get_figure(root=True)


@dataclass(eq=False)
class PointsDisplay:
    """What each variable costs or brings. Drawn by `plot`; made by `from_gap`.

    Attributes:
        blocks: one per part.
        unit: of the numbers, in words.
        level: of the intervals.
        nothing: what is said where there are no blocks.
    """

    blocks: tuple[Block, ...]
    unit: str
    level: float
    nothing: str = ""
    ax_: Axes | None = field(default=None, init=False, repr=False)
    figure_: Figure | None = field(default=None, init=False, repr=False)

    @classmethod
    def from_gap(cls, gap: Gap, level: float = 0.95, top: int = MOST_VARIABLES) -> PointsDisplay:
        """Largest first; the smaller ones past `top` are added up into one line."""
        nothing = gap.reason or "Points were not asked for: detail=('points',)."
        unit = phrases.unit_words(gap.about)
        return cls(tuple(points_blocks(gap, top)), unit, level, nothing)

    def plot(self, ax: Axes | None = None) -> PointsDisplay:
        """Draw on `ax`, or on a figure of its own."""
        _draw_display(self, ax, "What each variable costs or brings", "; lines:")
        return self


@dataclass(eq=False)
class WhereDisplay:
    """Who is hit by the outcome part. Drawn by `plot`; made by `from_gap`.

    Attributes:
        blocks: the groups of each variable, then the confirmed rules.
        unit: of the numbers, in words.
        level: of the intervals, which hold for all groups at once.
        nothing: what is said where there are no blocks.
    """

    blocks: tuple[Block, ...]
    unit: str
    level: float
    nothing: str = ""
    ax_: Axes | None = field(default=None, init=False, repr=False)
    figure_: Figure | None = field(default=None, init=False, repr=False)

    @classmethod
    def from_gap(
        cls, gap: Gap, level: float = 0.95, top: int = MOST_GROUPED, variable: str | None = None
    ) -> WhereDisplay:
        """One variable's groups; or the `top` variables along which contributions differ most."""
        blocks = tuple(where_blocks(gap, top, variable))
        nothing = gap.reason or "Groups were not asked for: detail=('affected',)."
        return cls(blocks, phrases.unit_words(gap.about), level, nothing)

    @classmethod
    def shortest(cls, gap: Gap, level: float = 0.95, top: int = FEWEST) -> WhereDisplay:
        """The `top` most telling groups and rules, whatever their variable."""
        blocks = (hits_block(gap, level, top),) if gap.affected else ()
        return cls(blocks, phrases.unit_words(gap.about), level)

    def plot(self, ax: Axes | None = None) -> WhereDisplay:
        """Draw on `ax`, or on a figure of its own."""
        _draw_display(self, ax, "Who is hit", " (share of rows)\nLines: simultaneous")
        return self


@dataclass(eq=False)
class SharesDisplay:
    """The paper's shares of one part. Drawn by `plot`; made by `from_gap`.

    Attributes:
        block: one line per variable, from the top down; empty when undefined.
        leading: variables that cannot be told apart from the largest.
        level: of the intervals.
    """

    block: Block
    leading: tuple[str, ...]
    level: float
    ax_: Axes | None = field(default=None, init=False, repr=False)
    figure_: Figure | None = field(default=None, init=False, repr=False)

    @classmethod
    def from_gap(
        cls, gap: Gap, part: str, level: float = 0.95, top: int | None = None
    ) -> SharesDisplay:
        """Largest first; with `top`, the smaller ones are added up into one line."""
        return cls(shares_block(gap, part, top), reading_of(gap, level).standings[part].top, level)

    def plot(self, ax: Axes | None = None) -> SharesDisplay:
        """Draw on `ax`, or on a figure of its own."""
        lines, title = self.block.lines, f"{phrases.capital(self.block.key)} shift, by variable"
        ax = style.axes_of(ax, 6.4, height_of(len(lines)))
        self.ax_, self.figure_ = ax, ax.get_figure(root=True)
        if not lines:
            style.heading(ax, title, "No shares")
            style.message(ax, self.block.reason)
            return self
        draw_blocks(ax, [self.block], self.level, self.leading)
        if {line.name for line in lines} & set(self.leading):
            ax.set_xlabel("Filled dots: may be the largest", fontsize=9)
        style.heading(ax, title, f"Share of each; lines: {level_name(self.level)} intervals")
        return self
