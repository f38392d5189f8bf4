"""Overlap of the two domains, and one variable's own story."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whygap.errors import ResultError, did_you_mean
from whygap.fieller import normal_quantile
from whygap.render import phrases, style
from whygap.render.explanations import POOR, kept_share
from whygap.render.formats import shorten
from whygap.render.numbers import Units, count, level_name, percent, units_of, weight, with_minus
from whygap.render.views import padded
from whygap.results import Gap, Profile, RatioRecord

__all__ = ["OverlapDisplay", "ProfileDisplay"]

UNUSUAL = 6.0  # times the median standard error: such an interval leaves the figure


@dataclass(eq=False)
class OverlapDisplay:
    """How much of the source can stand in for the target, per set of columns.

    Attributes:
        ratios: one per density ratio.
        ax_: the axes drawn on, after `plot`.
        figure_: their figure.
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
    ax.barh(row, kept_share(ratio), height=0.4, color=style.COLOURS["baseline"], zorder=2)
    clipped = f", {percent(ratio.clipped_share, 0.001)} clipped" if ratio.clipped_share else ""
    text = f"{count(ratio.effective_size)} of {count(ratio.rows)} rows, largest weight "
    text += f"{weight(ratio.largest_weight)}, "
    text += f"domains told apart with AUC {ratio.domain_auc:.2f}{clipped}"
    ax.plot([POOR] * 2, [row - 0.3, row + 0.22], color=style.INK, lw=1.2, ls=":", zorder=3)
    ax.text(0, row + 0.27, text, fontsize=8.5, color=style.MUTED, va="top", parse_math=False)


@dataclass(eq=False)
class ProfileDisplay:
    """One variable: its distribution in both domains, and the outcome part along it.

    Attributes:
        profile: the variable's bins, shares and gaps.
        names: of source and target.
        metric: in words.
        units: how numbers are written.
        level: of the intervals.
        axes_: the two axes drawn on, after `plot`.
        figure_: their figure.
    """

    profile: Profile
    names: tuple[str, str]
    metric: str
    units: Units
    level: float
    axes_: tuple[Axes, Axes] | None = field(default=None, init=False, repr=False)
    figure_: Figure | None = field(default=None, init=False, repr=False)

    @classmethod
    def from_gap(cls, gap: Gap, variable: str, level: float = 0.95) -> ProfileDisplay:
        """The story of one variable of a result."""
        profiles = {profile.variable: profile for profile in gap.profiles}
        if variable not in profiles:
            raise ResultError(
                f"There is no profile of '{variable}' in this result",
                hint=did_you_mean(variable, profiles)
                or f"Profiles are: {', '.join(profiles) or 'none'}.",
            )
        about = gap.about
        return cls(
            profile=profiles[variable],
            names=(about.source_name, about.target_name),
            metric=phrases.metric_name(about),
            units=units_of(gap),
            level=level,
        )

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> ProfileDisplay:
        """Draw inside `ax`, on a pair of axes, or on a figure of its own."""
        upper, lower = _two_axes(ax, len(self.profile.bins))
        self._draw_distribution(upper)
        self._draw_gap(lower)
        self.axes_, self.figure_ = (upper, lower), upper.get_figure(root=True)
        return self

    def _draw_distribution(self, ax: Axes) -> None:
        style.quiet_axes(ax, grid="y")
        positions = np.arange(len(self.profile.bins))
        shares = (self.profile.source_share, self.profile.target_share)
        for k, (share, colour) in enumerate(zip(shares, (style.FAINT, style.TARGET), strict=True)):
            ax.bar(
                positions + (k - 0.5) * 0.38,
                share,
                width=0.36,
                color=colour,
                edgecolor=style.TARGET,
                linewidth=0.8,
                label=self.names[k],
            )
        ax.set_xticks(positions, [])
        ax.set_xlim(-0.6, len(positions) - 0.4)
        ax.yaxis.set_major_formatter(lambda value, _: percent(value))
        ax.set_ylim(0, 1.3 * max(*shares[0], *shares[1]))
        legend = ax.legend(frameon=False, fontsize=8.5, ncols=2, loc="upper right")
        for text in legend.get_texts():
            text.set(parse_math=False, fontfamily=style.fonts_for(self.names))
        style.heading(ax, style.label(self.profile.variable, 44), "Share of rows in each domain")

    def _draw_gap(self, ax: Axes) -> None:
        style.quiet_axes(ax, grid="y")
        profile, half = self.profile, normal_quantile(self.level)
        positions = np.arange(len(profile.bins))
        ax.axhline(0, color=style.INK, lw=0.9)
        ax.errorbar(
            positions,
            profile.gap,
            yerr=half * np.array(profile.gap_error),
            fmt="o",
            color=style.COLOURS["outcome"],
            ecolor=style.INK,
            elinewidth=1.4,
            markersize=7,
        )
        crowded = len(profile.bins) > 6 or max(map(len, profile.bins)) > 14
        slanted = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"} if crowded else {}
        shown = [shorten(name, 22) for name in profile.bins]
        style.name_ticks(ax.xaxis, profile.bins, shown, fontsize=9, **slanted)
        ax.set_xlim(-0.6, len(positions) - 0.4)
        ax.set_ylim(*_usual_reach(profile, half))
        ax.yaxis.set_major_formatter(
            lambda value, _: with_minus(self.units.bare(value, signed=True))
        )
        unit = "points" if self.units.is_share else "units"
        subtitle = f"Change of {self.metric} due to the outcome ({unit}), "
        subtitle += f"{level_name(self.level)} intervals"
        ax.set_title(subtitle, loc="left", **style.words([subtitle], 9, style.MUTED))


def _usual_reach(profile: Profile, half: float) -> tuple[float, float]:
    """Limits for the gaps; bins of which nearly nothing is known must not flatten the others."""
    error = np.array(profile.gap_error, dtype=float)
    known = np.isfinite(error) & np.isfinite(np.array(profile.gap, dtype=float))
    if not known.any():
        return -1.0, 1.0
    usual = known & (error <= UNUSUAL * np.median(error[known]))
    ends = [
        gap + sign * half * width
        for gap, width, shown in zip(profile.gap, profile.gap_error, usual, strict=True)
        for sign in (-1, 1)
        if shown
    ]
    return padded([*ends, 0.0], 0.08)


def _two_axes(ax: Axes | Sequence[Axes] | None, bins: int) -> tuple[Axes, Axes]:
    if ax is None:
        figure = Figure(figsize=(max(5.2, 2.0 + 0.75 * bins), 4.8), layout="constrained")
        upper, lower = figure.subplots(2, 1)
        return upper, lower
    if isinstance(ax, Axes):
        ax.set_axis_off()
        return ax.inset_axes((0, 0.56, 1, 0.44)), ax.inset_axes((0, 0, 1, 0.42))
    upper, lower = ax
    return upper, lower
