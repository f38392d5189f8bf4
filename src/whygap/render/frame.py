"""The one tidy table: every estimate of a result, in the kind of table the study came in."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from whygap.estimate import Estimate
from whygap.results import Detailed, Gap
from whygap.tables import native_table

__all__ = ["BASE", "Row", "rows", "to_frame"]

BASE = "(base)"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the tidy table; numbers are NaN where a share is undefined."""

    part: str
    term: str
    estimate: float
    standard_error: float
    low: float
    high: float
    plugin: float


def rows(gap: Gap, level: float = 0.95) -> tuple[Row, ...]:
    """The gap, its parts, then the shares of each detailed part."""
    aggregate = {"gap": gap.aggregate.gap, **gap.aggregate.parts()}
    lines = [_row("aggregate", term, estimate, level) for term, estimate in aggregate.items()]
    for detail in gap.details().values():
        lines.extend(_detail_rows(detail, level))
    return tuple(lines)


def to_frame(gap: Gap, level: float = 0.95) -> Any:
    """Columns part, term, estimate, standard_error, low, high, plugin."""
    lines = rows(gap, level)
    columns = {f.name: [getattr(line, f.name) for line in lines] for f in fields(Row)}
    return native_table(columns, gap.table_kind)


def _detail_rows(detail: Detailed, level: float) -> Iterator[Row]:
    if detail.part == "outcome" or detail.base is not None:
        yield _row(detail.part, BASE, detail.base, level)
    for name in detail.players:
        yield _row(detail.part, name, detail.shares.get(name), level)


def _row(part: str, term: str, estimate: Estimate | None, level: float) -> Row:
    if estimate is None:
        return Row(part, term, *(math.nan,) * 5)
    low, high = estimate.interval(level)
    return Row(part, term, estimate.value, estimate.standard_error, low, high, estimate.plugin)
