"""The one tidy table: every estimate of a result, in the kind of table the study came in."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from whygap.estimate import Estimate
from whygap.results import Budget, Detailed, Gap, Where
from whygap.tables import native_table

BASE, TOTAL, LESS_AT_HOME = "(base)", "(total)", "(total less at home)"
RECALIBRATION, IRREDUCIBLE = "(recalibration)", "(irreducible)"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the tidy table; numbers are NaN where a share is undefined.

    `unit` is "metric", "squared error" or "share". Of tables that cannot be compared, the first
    row is of the part "reason", its term says why.
    """

    part: str
    term: str
    estimate: float
    standard_error: float
    low: float
    high: float
    unit: str
    plugin: float


def rows(gap: Gap, level: float = 0.95) -> tuple[Row, ...]:
    """The gap and its parts; points, groups, budgets; the shares of each detailed part."""
    return tuple(_rows(gap, level))


def to_frame(gap: Gap, level: float = 0.95) -> Any:
    """Columns part, term, estimate, standard_error, low, high, unit, plugin."""
    lines = rows(gap, level)
    columns = {f.name: [getattr(line, f.name) for line in lines] for f in fields(Row)}
    return native_table(columns, gap.table_kind)


def _rows(gap: Gap, level: float) -> Iterator[Row]:
    if not gap.aggregate.comparable:
        yield Row("reason", gap.aggregate.reason, *(math.nan,) * 4, "", math.nan)
    for term, estimate in {"gap": gap.aggregate.gap, **gap.aggregate.parts()}.items():
        yield _row("aggregate", term, estimate, level)
    for part, points in (gap.points.parts() if gap.points else {}).items():
        for name, estimate in points.items():
            yield _row(f"points {part}", name, estimate, level)
    if gap.where:
        yield from _where_rows(gap.where, level)
    if gap.recoverable:
        found = gap.recoverable
        yield from _budget_rows("recoverable here", found.here, level)
        name = LESS_AT_HOME
        yield _row("recoverable here", name, found.here_less_at_home, level, "squared error")
        if found.on_target_mix:
            yield from _budget_rows("recoverable on target mix", found.on_target_mix, level)
        yield from _budget_rows("recoverable at home", found.at_home, level)
    for detail in gap.details().values():
        yield from _detail_rows(detail, level)


def _where_rows(where: Where, level: float) -> Iterator[Row]:
    """Groups with intervals that hold at once; rules with those they were confirmed by (95%)."""
    for group, ends in zip(where.groups, where.simultaneous(level), strict=True):
        name = f"{group.variable}: {group.label}"
        yield _row("where", name, group.points, level, ends=ends)
    for rule in where.rules:
        yield _row("where", f"rule: {rule}", rule.points, level, ends=rule.interval)


def _budget_rows(part: str, budget: Budget, level: float) -> Iterator[Row]:
    found = {TOTAL: budget.total, RECALIBRATION: budget.recalibration, **(budget.variables or {})}
    for name, estimate in {**found, IRREDUCIBLE: budget.irreducible}.items():
        if estimate is not None:
            yield _row(part, name, estimate, level, "squared error")


def _detail_rows(detail: Detailed, level: float) -> Iterator[Row]:
    if detail.part == "outcome" or detail.base is not None:
        yield _row(detail.part, BASE, detail.base, level, "share")
    for name in detail.players:
        yield _row(detail.part, name, detail.shares.get(name), level, "share")


def _row(
    part: str,
    term: str,
    estimate: Estimate | None,
    level: float,
    unit: str = "metric",
    ends: tuple[float, float] | None = None,
) -> Row:
    if estimate is None:
        return Row(part, term, *(math.nan,) * 4, unit, math.nan)
    low, high = ends or estimate.interval(level)
    error, plugin = estimate.standard_error, estimate.plugin
    return Row(part, term, estimate.value, error, low, high, unit, plugin)
