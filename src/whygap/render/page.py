"""What the HTML page shows of one result, as plain values for the template and the script.

Everything that depends on the confidence level is worked out here for every level of the switch,
so that the page needs no statistics of its own. Only aggregates leave this room, never rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from whygap.render import answers, frame
from whygap.render.advice import suggestions
from whygap.render.detail_sentences import detail_sentences
from whygap.render.formats import Sheet
from whygap.render.lines import (
    BudgetBar,
    Line,
    budget_bars,
    hits_block,
    limits_of,
    points_blocks,
    recoverable_block,
    shares_block,
)
from whygap.render.part_sentences import main_sentence, part_sentence
from whygap.render.reading import Reading, readings_of, widening
from whygap.render.table import sheet
from whygap.render.units import level_name, squared_error_units, with_minus
from whygap.render.views import (
    BOTTOM,
    TOP,
    BlockDrawing,
    Scale,
    WalkDrawing,
    walk_of,
)
from whygap.render.words import ASSOCIATION, change_sentence, trust
from whygap.results import Affected, AffectedGroup, Gap

LEVELS = (0.8, 0.9, 0.95, 0.99)  # of the switch; the level asked for joins them
HITS = 8  # groups and rules in the list; the closer look has all groups


@dataclass(frozen=True, slots=True)
class Page:
    """One result, ready to be shown.

    Attributes:
        blocks: by key: points, groups, what can be won back, shares.
        levels: level key -> everything that changes with it (see `_at_level`).
        first: the key of the level shown first.
    """

    gap: Gap
    walk: WalkDrawing
    blocks: dict[str, BlockDrawing]
    budgets: tuple[BudgetBar, ...]
    sheet: Sheet
    trust: tuple[str, ...]
    levels: dict[str, Any]
    first: str

    @property
    def now(self) -> dict[str, Any]:
        """What the first level shows."""
        shown: dict[str, Any] = self.levels[self.first]
        return shown

    @property
    def _affected(self) -> Affected | None:
        return self.gap.affected.get("outcome")

    @property
    def variables(self) -> list[str]:
        """Those of the closer look, the one with the most telling group first."""
        known = self._affected.variables() if self._affected else []
        hits = self.blocks["where"].block.lines[:1] if "where" in self.blocks else ()
        return sorted(known, key=lambda name: not any(hit.name.startswith(name) for hit in hits))

    def opens(self, line: Line) -> str:
        """The variable of the closer look that a line's name leads to, or nothing."""
        known = set(self.variables)
        return next((name for name in (line.name, *line.columns) if name in known), "")

    def names(self) -> list[str]:
        """Every variable or group of variables."""
        return [*self.gap.about.baseline, *self.gap.about.players]

    def opened_by(self, part: str) -> str:
        """The section of the page that a part of the walk opens into, or nothing."""
        if f"points {part}" in self.blocks:
            return f"points-{part}"
        return "where" if part in self.gap.affected else ""

    def payload(self) -> dict[str, Any]:
        """What the script needs."""
        where = self._affected
        return {
            "first": self.first,
            "levels": self.levels,
            "rows": {key: one.rows() for key, one in self.blocks.items()},
            "profiles": [_profile(where, name) for name in self.variables] if where else [],
            "share": self.gap.about.is_share,
            "names": [self.gap.about.source_name, self.gap.about.target_name],
            "data": numbers_of(self.gap, [float(key) for key in self.levels]),
        }


def page_of(gap: Gap, level: float, levels: Iterable[float] = LEVELS) -> Page:
    """Work out everything the page shows, at `level` and at the others of the switch."""
    levels = sorted({*levels, round(level, 6)})
    walk = walk_of(gap)
    drawing = WalkDrawing(walk, Scale(*walk.limits(levels[-1], 0.12), walk.units.tick, BOTTOM, TOP))
    blocks = _blocks(gap, level, levels[-1])
    readings = readings_of(gap, levels)
    return Page(
        gap=gap,
        walk=drawing,
        blocks=blocks,
        budgets=tuple(budget_bars(gap)),
        sheet=sheet(gap, level),
        trust=tuple(line for line in trust(gap) if line != ASSOCIATION),
        levels={_key(one.level): _at_level(one, drawing, blocks) for one in readings},
        first=_key(level),
    )


def _key(level: float) -> str:
    return f"{level:.6g}"


def _blocks(gap: Gap, level: float, widest: float) -> dict[str, BlockDrawing]:
    """By key; the points of two parts stand on one scale, and so do the shares."""
    groups = [points_blocks(gap), [hits_block(gap, level, HITS)], [recoverable_block(gap)]]
    groups += [[shares_block(gap, part) for part in gap.shares]]
    found = {}
    for blocks in filter(None, groups):
        limits = limits_of(blocks, widest)
        for block in blocks:
            tick = block.units.gain_tick if block.units else lambda tick: f"{100 * tick:,.4g}%"
            if block.lines or block.reason:
                found[block.key] = BlockDrawing(block, Scale(*limits, tick))
    return found


def _at_level(
    reading: Reading,
    walk: WalkDrawing,
    blocks: dict[str, BlockDrawing],
) -> dict[str, Any]:
    gap, level = reading.gap, reading.level
    order = [step.key for step in walk.walk.steps if step.is_part]
    units, lists = squared_error_units(gap), _lists(reading)
    shown: dict[str, Any] = {
        "name": level_name(level),
        "wide": _rounded(widening(gap, level)),
        "change": change_sentence(reading),
        "main": main_sentence(reading),
        "culprit": answers.culprit_sentence(reading),
        "next": lists["advice"][0],
        "span": reading.units.span(*gap.total.interval(level)),
        "spans": [reading.units.span(*reading.parts[name].interval(level)) for name in order],
        "parts": [[name, part_sentence(reading, name), reading.is_clear(name)] for name in order],
        "lists": lists,
        "budgets": [
            units.span(*bar.budget.total.interval(level), signed=False) for bar in budget_bars(gap)
        ],
        "walk": walk.at(level),
        "lines": {key: one.at(reading) for key, one in blocks.items()},
        "table": [line[-1] for part in sheet(gap, level).sections for line in part.lines],
    }
    return {key: _with_minus(value) for key, value in shown.items()}


def _rounded(wide: dict[str, list[float]]) -> dict[str, list[float]]:
    return {name: [round(one, 6) for one in each] for name, each in wide.items()}


def _lists(reading: Reading) -> dict[str, list[str]]:
    """Sentences by the name of the list they stand in."""
    points = reading.gap.points
    details = reading.gap.shares
    return {
        **{f"points {part}": answers.points_sentences(reading, part) for part in points},
        "where": answers.where_sentences(reading),
        "recoverable": answers.recoverable_sentences(reading),
        "advice": suggestions(reading),
        **{name: detail_sentences(reading, name, listed=False) for name in details},
    }


def numbers_of(gap: Gap, levels: Sequence[float]) -> dict[str, Any]:
    """All estimates with their intervals at every level, to be downloaded."""
    first, *others = [frame.rows(gap, level) for level in levels]
    columns = ["part", "term", "unit", "estimate", "standard_error"]
    columns += [f"{end}_{100 * level:.6g}" for level in levels for end in ("low", "high")]
    lines = []
    for row, *more in zip(first, *others, strict=True):
        ends = [end for one in (row, *more) for end in (one.low, one.high)]
        numbers = [_written(value) for value in (row.estimate, row.standard_error, *ends)]
        lines.append([row.part, row.term, row.unit, *numbers])
    return {"columns": columns, "rows": lines}


def _written(value: float) -> float | str:
    """Eight digits; JSON has no word for what is not finite."""
    if math.isnan(value):
        return ""
    return float(f"{value:.8g}") if math.isfinite(value) else str(value)


def _with_minus(value: Any) -> Any:
    """Real minus signs in every text."""
    if isinstance(value, str):
        return with_minus(value)
    if isinstance(value, list):
        return [_with_minus(item) for item in value]
    if isinstance(value, dict):
        return {key: _with_minus(item) for key, item in value.items()}
    return value


def _profile(where: Affected, variable: str) -> dict[str, Any]:
    groups = where.groups_of(variable)

    def short(value: float | None) -> float | None:
        return None if value is None or value != value else float(f"{value:.6g}")

    def change(group: AffectedGroup, name: str) -> float | None:
        return None if group.change is None else short(getattr(group.change, name))

    return {
        "variable": variable,
        "bins": [group.label for group in groups],
        "source": [short(group.source_share) for group in groups],
        "target": [short(group.target_share) for group in groups],
        "gap": [change(group, "value") for group in groups],
        "error": [change(group, "standard_error") for group in groups],
    }
