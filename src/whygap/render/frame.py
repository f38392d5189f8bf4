"""The one tidy table: every estimate of a result, in the kind of table the study came in."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from whygap.estimate import Estimate
from whygap.results import Affected, Budget, Gap, Shares
from whygap.tables import native_table

BASE, TOTAL, ADDED = "(base)", "(total)", "(total less source)"
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


def rows(gap: Gap, level: float | None = None) -> tuple[Row, ...]:
    """Return the gap and its parts; points, groups, recoverable error; shares."""
    return tuple(_rows(gap, gap.level(level)))


def to_frame(gap: Gap, level: float | None = None) -> Any:
    """Return columns part, term, estimate, standard_error, low, high, unit, plugin."""
    lines = rows(gap, level)
    columns = {f.name: [getattr(line, f.name) for line in lines] for f in fields(Row)}
    return native_table(columns, gap.table_kind)


def _rows(gap: Gap, level: float) -> Iterator[Row]:
    if not gap.comparable:
        yield Row("reason", gap.reason, *(math.nan,) * 4, "", math.nan)
    for term, estimate in {"total": gap.total, **gap.parts}.items():
        yield _row("gap", term, estimate, level)
    for part, points in gap.points.items():
        for name, estimate in points.items():
            yield _row(f"points {part}", name, estimate, level)
    for part, affected in gap.affected.items():
        yield from _affected_rows(f"affected {part}", affected, level)
    if gap.recoverable:
        budget = gap.recoverable
        yield from _budget_rows("recoverable", budget, level)
        yield _row("recoverable", ADDED, budget.added_in_target, level, "squared error")
        if budget.reweighted:
            yield from _budget_rows("recoverable reweighted", budget.reweighted, level)
        yield from _budget_rows("recoverable source", budget.source, level)
    for shares in gap.shares.values():
        yield from _share_rows(shares, level)


def _affected_rows(part: str, affected: Affected, level: float) -> Iterator[Row]:
    """Groups with intervals that hold at once; rules with those they were confirmed by (95%)."""
    for group, ends in zip(affected.groups, affected.simultaneous(level), strict=True):
        name = f"{group.variable}: {group.label}"
        yield _row(part, name, group.points, level, ends=ends)
    for rule in affected.rules:
        yield _row(part, f"rule: {rule}", rule.points, level, ends=rule.interval)


def _budget_rows(part: str, budget: Budget, level: float) -> Iterator[Row]:
    found = {TOTAL: budget.total, RECALIBRATION: budget.recalibration, **(budget.variables or {})}
    for name, estimate in {**found, IRREDUCIBLE: budget.irreducible}.items():
        if estimate is not None:
            yield _row(part, name, estimate, level, "squared error")


def _share_rows(shares: Shares, level: float) -> Iterator[Row]:
    part = f"shares {shares.part}"
    if shares.part == "outcome" or shares.base is not None:
        yield _row(part, BASE, shares.base, level, "share")
    for name in shares.players:
        yield _row(part, name, shares.values.get(name), level, "share")


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
