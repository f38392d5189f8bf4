"""Views placed on the page: where marks stand, in percent across and pixels down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from whygap.render.lines import Block, BudgetBar, budget_bars
from whygap.render.numbers import squared_error_units, with_minus
from whygap.render.reading import Reading
from whygap.render.revision import Curve
from whygap.render.style import label
from whygap.render.views import Scale, Step, Walk
from whygap.results import Gap

TOP, BOTTOM = 26.0, 250.0  # pixels from the top of the walk between which its values stand
LEFT, RIGHT = 13.0, 91.0  # percent of the walk's width: room for ticks, and for the last label


@dataclass(frozen=True, slots=True)
class WalkDrawing:
    """The walk on the page: columns across in percent, values down in pixels."""

    walk: Walk
    scale: Scale

    @property
    def gap(self) -> float:
        """Percent between two columns."""
        return (RIGHT - LEFT) / (len(self.walk.steps) - 1)

    @property
    def half(self) -> float:
        """Half a bar, in percent: three tenths of the distance between two columns."""
        return round(0.3 * self.gap, 2)

    def x(self, column: int) -> float:
        """Where a column stands."""
        return round(LEFT + self.gap * column, 2)

    def lines(self, step: Step) -> list[str]:
        """A column's name, on as many lines as it needs."""
        return label(step.name, 10, lines=3).split("\n")

    def at(self, level: float) -> list[list[Any]]:
        """Per column: the whisker's top and bottom, the label's height, clear of 0 or not."""
        return [self._whisker(step, level) for step in self.walk.steps]

    def _whisker(self, step: Step, level: float) -> list[Any]:
        bottom, top = map(self.scale.at, step.whisker(level))
        edges = [top, bottom, self.scale.at(step.start), self.scale.at(step.end)]
        place = max(edges) + 16 if step.end < step.start else min(edges) - 7
        return [top, bottom, round(place, 2), step.is_clear(level)]


@dataclass(frozen=True, slots=True)
class BlockDrawing:
    """Lines on the page, on one scale at every level."""

    block: Block
    scale: Scale

    def at(self, reading: Reading) -> list[list[Any]]:
        """Per line: whisker from, to, interval, what is said of it, ranks, where it is cut."""
        level, ends = reading.level, self.block.intervals(reading.level)
        standing = reading.standings.get(self.block.key)
        top = () if standing is None or len(standing.top) == len(standing.ranks) else standing.top
        tag = "largest" if len(top) == 1 else "may be largest"
        found = []
        for line, (low, high) in zip(self.block.lines, ends, strict=True):
            clear = "clear" if standing is None and not low <= 0 <= high else ""
            cut = "left " * (low < self.scale.low) + "right" * (high > self.scale.high)
            said = tag if line.name in top else clear
            ranks = standing.rank_span(line.name) if standing else ""
            span = self.block.span(line, (low, high), level)
            found.append([self.scale.at(low), self.scale.at(high), span, said, ranks, cut])
        return found


@dataclass(frozen=True, slots=True)
class BudgetDrawing:
    """One budget as a bar on the page, its pieces in percent of the widest."""

    bar: BudgetBar
    total: str
    irreducible: str
    pieces: dict[str, float]


@dataclass(frozen=True, slots=True)
class RevisionDrawing:
    """The gains of a revision on the page, on one scale at every level."""

    curve: Curve
    scale: Scale

    def at(self, level: float) -> list[list[Any]]:
        """Per choice: whisker from, to, interval."""
        rows = []
        for choice in (c for choices in self.curve.groups().values() for c in choices):
            ends = choice.gain.interval(level)
            text = "" if choice.kind == "original" else self.curve.units.span(*ends)
            rows.append([*map(self.scale.at, ends), text, "", "", ""])
        return rows


def budget_drawings(gap: Gap) -> tuple[BudgetDrawing, ...]:
    """The three budgets, on one scale."""
    bars, units = budget_bars(gap), squared_error_units(gap)
    widest = max((sum(bar.pieces().values()) for bar in bars), default=1.0)
    return tuple(
        BudgetDrawing(
            bar,
            with_minus(units.bare(bar.budget.total.value)),
            with_minus(units.bare(bar.budget.irreducible.value)),
            {name: round(100 * size / widest, 2) for name, size in bar.pieces().items()},
        )
        for bar in bars
    )
