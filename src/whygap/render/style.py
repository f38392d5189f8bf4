"""One look for all figures: colours told apart by everyone and in grey, no global state.

The three part colours are Paul Tol's high-contrast set: told apart under every common colour
vision, and ordered in lightness so that they differ in print without colour.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ft2font import FT2Font
from rich.cells import cell_len as width

from whygap.render.formats import shorten

COLOURS = {
    "source_only": "#D2D2D2",
    "baseline": "#004488",
    "covariate": "#DDAA33",
    "outcome": "#BB5566",
    "target_only": "#181818",
}
WON = "#2B8C6B"  # what can be won back: a green beside the parts' blue, yellow and red
SOURCE, TARGET = "#7F8794", "#1B1F27"
INK, MUTED, FAINT = "#1B1F27", "#5B6472", "#D5D9E0"
FALLBACKS = (
    "DejaVu Sans",
    "Noto Sans",
    "Noto Sans Arabic",
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "Noto Emoji",
    "Arial Unicode MS",
    "Hiragino Sans",
    "Microsoft YaHei",
    "Segoe UI Symbol",
    "Segoe UI Emoji",
)


def axes_of(ax: Axes | None, width: float, height: float) -> Axes:
    """The given axes, or new ones on a figure of their own."""
    if ax is not None:
        return ax
    return Figure(figsize=(width, height), layout="constrained").add_subplot()


def quiet_axes(ax: Axes, *, grid: str) -> None:
    """No box; faint grid lines along one axis, behind the marks."""
    for side in ("top", "right", "left" if grid == "y" else "bottom"):
        ax.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        ax.spines[side].set_color(MUTED)
    ax.tick_params(colors=INK, length=0)
    ax.grid(axis=grid, color=FAINT, linewidth=0.7)  # type: ignore[arg-type]  # "x" or "y"
    ax.set_axisbelow(True)


def words(texts: Iterable[str], size: float, colour: str = INK) -> dict[str, Any]:
    """How texts are written: never as formulas, in letters that can be drawn."""
    family = fonts_for(texts)
    return {"fontsize": size, "color": colour, "parse_math": False, "fontfamily": family}


def heading(ax: Axes, title: str, subtitle: str = "") -> None:
    """A title at the left, with smaller lines below it, short enough beside the longest names."""
    subtitle = "\n".join(textwrap.fill(line, 60) for line in subtitle.splitlines())
    pad = 21 + 12 * subtitle.count("\n") if subtitle else 6
    ax.set_title(title, loc="left", fontweight="bold", pad=pad, **words([title], 12))
    above: dict[str, Any] = {"xytext": (0, 7), "textcoords": "offset points"}
    small = words([subtitle], 9, MUTED)
    ax.annotate(subtitle, (0, 1), xycoords="axes fraction", **above, **small)


def name_ticks(
    axis: Axis,
    names: Sequence[str],
    shown: Sequence[str],
    fontsize: float = 9.5,
    places: Sequence[float] = (),
) -> None:
    """Names along an axis, as they are shown, in letters that can be drawn."""
    axis.set_ticks(places or range(len(names)), list(shown), **words(names, fontsize))


def whisker(ax: Axes, row: float, ends: tuple[float, float]) -> None:
    """An interval along a row; an arrow where it leaves the axes."""
    first, last = ax.get_xlim()
    inset, cut = 0.02 * (last - first), (ends[0] < first, ends[1] > last)
    edges = (first + inset, last - inset)
    low = edges[0] if cut[0] else min(ends[0], edges[1])
    high = edges[1] if cut[1] else max(ends[1], edges[0])

    def draw(values: Sequence[float], mark: str = "", **look: Any) -> None:
        ax.plot(values, [row] * len(values), mark, **{"color": INK, **look})

    draw([low, high], "-", lw=2.8, zorder=3, color="white", solid_capstyle="butt")
    draw([low, high], "-", lw=1.3, zorder=3)
    for leaves, end, arrow in zip(cut, (low, high), "<>", strict=True):
        if leaves:
            draw([end], arrow, markersize=6, zorder=4)


def beside(ax: Axes, text: str, row: float, *, bold: bool = False) -> None:
    """A number to the right of a row."""
    ax.annotate(
        text,
        (1.02, row),
        xycoords=("axes fraction", "data"),
        va="center",
        fontsize=9.5,
        fontweight="bold" if bold else "normal",
        color=INK,
    )


def message(ax: Axes, text: str) -> None:
    """Words in place of a drawing."""
    ax.set_axis_off()
    filled = textwrap.fill(text, 46)
    ax.text(0.0, 0.9, filled, transform=ax.transAxes, va="top", **words([text], 10, MUTED))


def label(name: str, columns: int = 26, lines: int = 2) -> str:
    """A name on a few lines, its middle left out where even they are too few.

    Lines break at spaces and after hyphens, underscores and slashes.
    """
    wrapped = [""]
    for piece in re.findall(r"[^\s_/-]+[_/-]*\s*|[_/-]+\s*", name):
        longer = wrapped[-1] + piece
        if width(longer.rstrip()) <= columns or not wrapped[-1]:
            wrapped[-1] = longer
        else:
            wrapped.append(piece)
    if len(wrapped) > lines:
        wrapped = [*wrapped[: lines - 1], "".join(wrapped[lines - 1 :])]
    return "\n".join(shorten(line, columns) for line in wrapped)


def fonts_for(texts: Iterable[str]) -> list[str]:
    """Installed families that together can draw the texts, the default first."""
    needed = {ord(letter) for text in texts for letter in text if not letter.isspace()}
    chosen: list[str] = []
    for family in FALLBACKS:
        covered = needed & _letters(family)
        if covered or not chosen:
            chosen.append(family)
            needed -= covered
        if not needed:
            break
    return chosen


@cache
def _letters(family: str) -> frozenset[int]:
    if family not in font_manager.get_font_names():
        return frozenset()
    path = font_manager.findfont(font_manager.FontProperties(family=[family]))
    return frozenset(FT2Font(str(path)).get_charmap())
