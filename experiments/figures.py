"""Figures of the experiments; they draw rows that are already computed."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from experiments.pages import Measured
from experiments.summary import Row, band
from whygap.results.files import write_bytes

if TYPE_CHECKING:
    from experiments.scaling import Cost
    from experiments.trust import Cell

__all__ = [
    "Bars",
    "Curve",
    "bars_figure",
    "beside_figure",
    "cost_figure",
    "coverage_figure",
    "save_figure",
    "trust_figure",
]

INK = "#1B1F27"
MUTED = "#5B6472"
PALETTE = ("#004488", "#BB5566", "#DDAA33", "#228833", "#66CCEE", "#AA3377", "#777777")
MARKS = "osD^vPX"
INK, MUTED, FAINT = "#1B1F27", "#5B6472", "#D5D9E0"
ROWS = (500, 1000, 2000, 4000, 8000, 16000)  # the sizes that experiments draw


def save_figure(figure: Figure, path: Path) -> Path:
    """Write SVG, whole or not at all; equal figures give equal bytes, and text stays text."""
    buffer = io.BytesIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "whygap"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return write_bytes(path, buffer.getvalue())


def _quiet_axes(ax: Axes, *, grid: str) -> None:
    """Draw no box, and faint grid lines along one axis behind the marks."""
    for side in ("top", "right", "left" if grid == "y" else "bottom"):
        ax.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        ax.spines[side].set_color(MUTED)
    ax.tick_params(colors=INK, length=0)
    ax.grid(axis=grid, color=FAINT, linewidth=0.7)  # type: ignore[arg-type]  # "x" or "y"
    ax.set_axisbelow(True)


def coverage_figure(rows: Sequence[Row], panels: Mapping[str, Sequence[str]]) -> Figure:
    """Coverage against sample size: a panel per group of quantities, debiased and plug-in."""
    figure = Figure(figsize=(4.2 * len(panels), 3.8), layout="constrained")
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for ax, (title, quantities) in zip(axes, panels.items(), strict=True):
        _coverage_panel(ax, rows, quantities)
        ax.set_title(title, loc="left", fontsize=11, fontweight="bold", color=INK)
    axes[0].set_ylabel("share of 90% intervals that cover")
    return figure


def _coverage_panel(ax: Axes, rows: Sequence[Row], quantities: Sequence[str]) -> None:
    sizes = sorted({row.rows_source for row in rows})
    for k, name in enumerate(quantities):
        found = sorted((r for r in rows if r.quantity == name), key=lambda r: r.rows_source)
        x = [r.rows_source for r in found]
        colour, mark = PALETTE[k % len(PALETTE)], MARKS[k % len(MARKS)]
        label = name.split(maxsplit=1)[1]
        ax.plot(x, [r.coverage for r in found], mark, ls="-", color=colour, label=label, ms=5)
        ax.plot(x, [r.plugin_coverage for r in found], mark, ls=":", color=colour, ms=3, alpha=0.6)
    counts = {n: max(r.replicates for r in rows if r.rows_source == n) for n in sizes}
    low, high = zip(*(band(0.9, counts[n]) for n in sizes), strict=True)
    ax.fill_between(sizes, low, high, color=MUTED, alpha=0.15, lw=0)
    ax.axhline(0.9, color=MUTED, lw=0.8)
    ax.set_xscale("log")
    ax.set_xticks(sizes, [f"{n:,}" for n in sizes], fontsize=8)
    ax.minorticks_off()
    ax.set_ylim(0, 1.03)
    ax.set_xlabel("rows in each domain")
    _quiet_axes(ax, grid="y")
    ax.legend(fontsize=8, frameon=False, loc="lower right")


def beside_figure(curves: Mapping[str, Sequence[Row]]) -> Figure:
    """Coverage against sample size: a dot per quantity, a line through their means, per method."""
    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    ax = figure.add_subplot()
    for k, (name, rows) in enumerate(curves.items()):
        means = {
            n: [r.coverage for r in rows if r.rows_source == n]
            for n in sorted({row.rows_source for row in rows})
        }
        aside = 0.97 + 0.06 * k  # so that dots of two methods do not cover each other
        for n, found in means.items():
            ax.plot([aside * n] * len(found), found, MARKS[k], color=PALETTE[k], ms=4, alpha=0.45)
        line = [sum(found) / len(found) for found in means.values()]
        x = [aside * n for n in means]
        ax.plot(x, line, MARKS[k], ls="-", color=PALETTE[k], label=name, ms=7, lw=2)
    sizes = sorted({row.rows_source for rows in curves.values() for row in rows})
    ax.axhline(0.9, color=MUTED, lw=0.8)
    ax.set_xscale("log")
    ax.set_xticks(sizes, [f"{n:,}" for n in sizes], fontsize=8)
    ax.minorticks_off()
    ax.set_ylim(0.4, 1.03)
    ax.set_xlabel("rows in each table")
    ax.set_ylabel("share of 90% intervals that hold")
    ax.set_title("Asked for: 90%", loc="left", fontsize=11, fontweight="bold", color=INK)
    _quiet_axes(ax, grid="y")
    ax.legend(fontsize=9, frameon=False, loc="lower right")
    return figure


def trust_figure(cells: Sequence[Cell], worlds: Mapping[str, str]) -> Figure:
    """Coverage and width against the rows of the smaller table; a mark per quantity and world."""
    figure = Figure(figsize=(9.2, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    for k, (name, title) in enumerate(worlds.items()):
        _marks((left, right), [c for c in cells if c.experiment == name and c.ours], k, title)
    published = [c for c in cells if c.as_published]
    _marks((left, right), published, len(worlds), "intervals as published")
    left.axhspan(*band(0.9, 200), color=MUTED, alpha=0.15, lw=0)
    left.axhline(0.9, color=MUTED, lw=0.8)
    left.set_ylim(min(0.6, *(c.row.coverage - 0.03 for c in cells)), 1.02)
    right.set_yscale("log")
    right.yaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    right.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    right.yaxis.set_minor_locator(NullLocator())
    titles = {left: "90% intervals that hold", right: "their width, in points (accuracy)"}
    for ax, title in titles.items():
        ax.set_xscale("log")
        ax.set_xlim(0.8 * ROWS[0], 1.25 * ROWS[-1])
        ax.set_xticks(ROWS, [f"{n:,}" for n in ROWS], fontsize=8)
        ax.tick_params(which="minor", bottom=False)
        ax.set_xlabel("rows of the smaller table", fontsize=9)
        ax.set_title(title, loc="left", fontsize=11, fontweight="bold", color=INK)
        _quiet_axes(ax, grid="y")
    figure.legend(loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    return figure


def _marks(axes: tuple[Axes, Axes], cells: Sequence[Cell], k: int, title: str) -> None:
    """The cells of one world, a little aside from those of the others."""
    if not cells:
        return
    colour, mark = PALETTE[k % len(PALETTE)], MARKS[(k + k // len(MARKS)) % len(MARKS)]
    look: dict[str, Any] = {"color": colour, "ms": 5, "alpha": 0.6, "ls": "", "mew": 0}
    aside = 1 + 0.03 * (k - 4)
    left, right = axes
    x = [aside * cell.rows for cell in cells]
    left.plot(x, [c.row.coverage for c in cells], mark, label=title, **look)
    same = [c for c in cells if c.row.metric == "accuracy"]
    x = [aside * cell.rows for cell in same]
    right.plot(x, [100 * c.row.width for c in same], mark, **look)


@dataclass(frozen=True)
class Bars:
    """One panel of horizontal bars with intervals where there are any."""

    title: str
    names: tuple[str, ...]
    means: tuple[Measured, ...]
    unit: str


def bars_figure(panels: Sequence[Bars], columns: int = 4) -> Figure:
    """Several panels of bars, each with its own unit."""
    lines = math.ceil(len(panels) / columns)
    tallest = max(len(p.names) for p in panels)
    size = (3.4 * min(columns, len(panels)), lines * (1.1 + 0.26 * tallest))
    with mpl.rc_context({"font.size": 9}):
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(lines, min(columns, len(panels)), squeeze=False).ravel()
        for ax, panel in zip(axes, panels, strict=False):
            _bars(ax, panel)
        for ax in axes[len(panels) :]:
            ax.set_axis_off()
    return figure


def _bars(ax: Axes, panel: Bars) -> None:
    places = range(len(panel.names))
    ax.barh(places, [mean.value for mean in panel.means], color=PALETTE[0], height=0.6)
    for y, mean in zip(places, panel.means, strict=True):
        if math.isfinite(mean.low):
            ax.plot([mean.low, mean.high], [y, y], color=INK, lw=1.2)
    ax.set_yticks(places, panel.names)
    ax.invert_yaxis()
    ax.axvline(0, color=MUTED, lw=0.8)
    ax.set_title(panel.title, loc="left", fontsize=10, fontweight="bold", color=INK)
    ax.set_xlabel(panel.unit, fontsize=7)
    _quiet_axes(ax, grid="x")


@dataclass(frozen=True)
class Curve:
    """What an analysis took, against one size."""

    against: str
    x: tuple[float, ...]
    costs: tuple[Cost, ...]


def cost_figure(curves: Sequence[Curve]) -> Figure:
    """A row per size that is varied: CPU seconds, memory, width of an interval."""
    figure = Figure(figsize=(11, 2.9 * len(curves)), layout="constrained")
    axes = figure.subplots(len(curves), 3, squeeze=False)
    units = {
        "cpu_seconds": "CPU seconds",
        "peak_megabytes": "peak memory, MB",
        "width": "width of Z1's 90% interval",
    }
    for line, curve in zip(axes, curves, strict=True):
        for k, (ax, (name, unit)) in enumerate(zip(line, units.items(), strict=True)):
            y = [getattr(cost, name) for cost in curve.costs]
            ax.plot(curve.x, y, "o-", color=PALETTE[k], ms=5)
            ax.set_xscale("log")
            ax.set_xticks(curve.x, [f"{x:,.0f}" for x in curve.x], fontsize=8)
            ax.minorticks_off()
            known = [value for value in y if math.isfinite(value)]
            ax.set_ylim(0, 1.1 * max(known, default=1.0))
            ax.set_title(unit, loc="left", fontsize=10, fontweight="bold", color=INK)
            ax.set_xlabel(curve.against, fontsize=9)
            _quiet_axes(ax, grid="y")
    return figure
