"""Overlap of the two domains, and what can be won back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whygap.render import style
from whygap.render.forest import ROW_HEIGHT, draw_blocks, height_of
from whygap.render.lines import Block, BudgetBar, budget_bars, recoverable_block
from whygap.render.units import (
    Units,
    count,
    level_name,
    percent,
    squared_error_units,
    weight,
    with_minus,
)
from whygap.results import Gap, RatioRecord
from whygap.results.overlap import LIMITS

PIECES = {"recalibration": style.MUTED, "variables": style.WON, "irreducible": style.FAINT}


@dataclass(eq=False)
class OverlapDisplay:
    """How much of the source can stand in for the target, per set of columns.

    Attributes:
        ratios: one per density ratio.
    """

    ratios: tuple[RatioRecord, ...]
    ax_: Axes | None = field(default=None, init=False, repr=False)
    figure_: Figure | None = field(default=None, init=False, repr=False)

    @classmethod
    def from_gap(cls, gap: Gap) -> OverlapDisplay:
        """The ratios of a result."""
        return cls(gap.diagnostics.ratios)

    def plot(self, ax: Axes | None = None) -> OverlapDisplay:
        """Draw on `ax`, or on a figure of its own."""
        ax = style.axes_of(ax, 6.4, 1.3 + 0.72 * max(len(self.ratios), 1))
        self.ax_, self.figure_ = ax, ax.get_figure(root=True)
        subtitle = "Source rows that effectively remain when weighted like the target"
        style.heading(ax, "Overlap", subtitle)
        if not self.ratios:
            style.message(ax, "No density ratio was needed.")
            return self
        style.quiet_axes(ax, grid="x")
        for row, ratio in enumerate(self.ratios):
            _draw_ratio(ax, row, ratio)
        names = [ratio.columns for ratio in self.ratios]
        style.name_ticks(ax.yaxis, names, [style.label(name, 18) for name in names])
        ax.set_ylim(len(self.ratios) - 0.3, -0.5)
        ax.set_xlim(0, 1)
        ax.xaxis.set_major_formatter(lambda value, _: percent(value))
        ax.set_xlabel("of source rows (short of the dotted line: do not rely on it)", fontsize=9)
        return self


def _draw_ratio(ax: Axes, row: int, ratio: RatioRecord) -> None:
    ax.barh(row, 1, height=0.4, color=style.FAINT, zorder=1)
    ax.barh(row, ratio.kept_share, height=0.4, color=style.COLOURS["baseline"], zorder=2)
    clipped = f", {percent(ratio.clipped_share, 0.001)} clipped" if ratio.clipped_share else ""
    text = f"{count(ratio.effective_size)} of {count(ratio.rows)} rows, largest weight "
    text += f"{weight(ratio.largest_weight)}, "
    text += f"domains told apart with AUC {ratio.domain_auc:.2f}{clipped}"
    ax.plot([LIMITS.poor] * 2, [row - 0.3, row + 0.22], color=style.INK, lw=1.2, ls=":", zorder=3)
    ax.text(0, row + 0.27, text, fontsize=8.5, color=style.MUTED, va="top", parse_math=False)


def _two_axes(
    ax: Axes | Sequence[Axes] | None, size: tuple[float, float], ratios: Sequence[float] = (1, 1)
) -> tuple[Axes, Axes]:
    if ax is None:
        figure = Figure(figsize=size, layout="constrained")
        upper, lower = figure.subplots(2, 1, height_ratios=ratios)
        return upper, lower
    if isinstance(ax, Axes):
        ax.set_axis_off()
        share = ratios[1] / sum(ratios)
        return (
            ax.inset_axes((0, share + 0.1, 1, 0.9 - share)),
            ax.inset_axes((0, 0, 1, share - 0.08)),
        )
    upper, lower = ax
    return upper, lower


@dataclass(eq=False)
class RecoverableDisplay:
    """What can be won back: three budgets, and through what in the target.

    Attributes:
        bars: the three budgets of squared error.
        block: recalibration and variables, with labels from the target.
        units: how squared errors are written.
        level: of the intervals.
    """

    bars: tuple[BudgetBar, ...]
    block: Block
    units: Units
    level: float
    axes_: tuple[Axes, Axes] | None = field(default=None, init=False, repr=False)
    figure_: Figure | None = field(default=None, init=False, repr=False)

    @classmethod
    def from_gap(cls, gap: Gap, level: float = 0.95, top: int = 8) -> RecoverableDisplay:
        """The `top` variables of the largest gains; the rest together."""
        bars, block = tuple(budget_bars(gap)), recoverable_block(gap, top)
        return cls(bars, block, squared_error_units(gap), level)

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> RecoverableDisplay:
        """Draw inside `ax`, on a pair of axes, or on a figure of its own."""
        below = height_of(len(self.block.lines))
        size = (7.2, below + 1.2 + 2 * ROW_HEIGHT * len(self.bars))
        upper, lower = _two_axes(ax, size, (size[1] - below, below))
        if self.bars:
            self._draw_budgets(upper)
            draw_blocks(lower, [self.block], self.level)
            lower.set_xlabel("Squared error. Hollow dots: not distinguishable from 0", fontsize=9)
            subtitle = f"{self.block.title}; lines: {level_name(self.level)} intervals"
            lower.set_title(subtitle, loc="left", **style.words([subtitle], 9, style.MUTED))
        else:
            style.message(upper, "Budgets were not asked for: detail=('recoverable',).")
            lower.set_axis_off()
        self.axes_, self.figure_ = (upper, lower), upper.get_figure(root=True)
        return self

    def _draw_budgets(self, ax: Axes) -> None:
        style.quiet_axes(ax, grid="x")
        widest = max(bar.width for bar in self.bars)
        ax.set_xlim(-0.04 * widest, 1.05 * widest)
        for row, bar in enumerate(self.bars):
            left = 0.0
            for name, size in bar.pieces().items():
                ax.barh(row, size, left=left, height=0.6, color=PIECES[name])
                left += size
            style.whisker(ax, row, bar.budget.total.interval(self.level))
            style.beside(ax, with_minus(self.units.bare(bar.budget.total.value)), row)
        names = [bar.name for bar in self.bars]
        style.name_ticks(ax.yaxis, names, [style.label(name, 20) for name in names])
        ax.set_ylim(len(names) - 0.4, -0.6)
        below = "Squared error. Green: through variables, dark: by recalibration, grey: nobody can"
        style.heading(ax, "What can be won back", below)
