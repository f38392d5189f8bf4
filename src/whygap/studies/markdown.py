"""Tables of numbers as Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from whygap.studies.summary import Row

__all__ = ["coverage_cell", "grid", "number", "table"]


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table; the first column is text, the others are numbers."""
    rule = ["---", *("---:" for _ in head[1:])]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *lines))


def number(value: float, digits: int = 3) -> str:
    """A number without a needless leading zero; an en dash where there is none."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def coverage_cell(row: Row | None) -> str:
    """Coverage and bias/sd, e.g. `.91 (-0.12)`; bold where coverage is below the band."""
    if row is None or math.isnan(row.coverage):
        return "–"
    mark = "**" if row.verdict == "below" else ""
    return f"{mark}{number(row.coverage, 2)}{mark} ({row.bias_over_sd:+.2f})"


def grid(rows: Sequence[Row], quantities: Sequence[str], columns: Sequence[tuple[str, str]]) -> str:
    """Quantities by configurations (title, label): `coverage (bias/sd)` in each cell."""
    by_key = {(row.config, row.quantity): row for row in rows}
    truth = {row.quantity: row.truth for row in rows}
    lines = [
        [f"{name}", number(truth[name], 4)]
        + [coverage_cell(by_key.get((label, name))) for _, label in columns]
        for name in quantities
        if name in truth
    ]
    return table(["quantity", "truth", *(title for title, _ in columns)], lines)
