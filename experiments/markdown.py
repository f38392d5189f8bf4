"""Tables of numbers as Markdown."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from experiments.replicates import Config
from experiments.summary import Row

__all__ = [
    "coverage_cell",
    "grid",
    "number",
    "planned_columns",
    "plugin_cell",
    "table",
    "width_cell",
]


def table(head: Sequence[str], lines: Iterable[Sequence[str]], text: int = 1) -> str:
    """A Markdown table; the first `text` columns are text, the others are numbers."""
    rule = ["---"] * text + ["---:"] * (len(head) - text)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *lines))


def number(value: float, digits: int = 3) -> str:
    """A number without a needless leading zero; an en dash where there is none."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def coverage_cell(row: Row) -> str:
    """Coverage and bias/sd, e.g. `.91 (-0.12)`; bold where coverage is below the band."""
    if math.isnan(row.coverage):
        return "never shown"
    mark = "**" if row.verdict == "below" else ""
    return f"{mark}{number(row.coverage, 2)}{mark} ({_signed(row.bias_over_sd)})"


def plugin_cell(row: Row) -> str:
    """The same of the plug-in value, with the debiased standard error around it."""
    if math.isnan(row.plugin_coverage):
        return "never shown"
    mark = "**" if row.plugin_coverage < row.band_low else ""
    return f"{mark}{number(row.plugin_coverage, 2)}{mark} ({_signed(row.plugin_bias_over_sd)})"


def width_cell(row: Row) -> str:
    """Median width of the interval."""
    return "never shown" if math.isnan(row.width) else number(row.width)


def _signed(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:+.2f}"


def grid(
    rows: Sequence[Row],
    quantities: Sequence[str],
    columns: Sequence[tuple[str, str]],
    cell: Callable[[Row], str] = coverage_cell,
) -> str:
    """Quantities by configurations (title, label); cells of configurations without rows: not run.

    A quantity that a configuration never estimated has a dash.
    """
    by_key = {(row.config, row.quantity): row for row in rows}
    ran = {row.config for row in rows}
    truth = {row.quantity: row.truth for row in rows}

    def text(label: str, name: str) -> str:
        found = by_key.get((label, name))
        return cell(found) if found else "–" if label in ran else "not run"

    lines = [
        [name, number(truth[name], 4), *(text(label, name) for _, label in columns)]
        for name in quantities
        if name in truth
    ]
    return table(["quantity", "truth", *(title for title, _ in columns)], lines)


def planned_columns(
    plan: Sequence[tuple[Config, int]], rows: Sequence[Row], title: Callable[[Config], str]
) -> list[tuple[str, str]]:
    """A column per planned configuration, with the number of replicates that are there."""
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.config] = max(row.replicates, counts.get(row.config, 0))
    return [(f"{title(c)} (R={counts.get(c.label, 0)})", c.label) for c, _ in plan]
