"""Pages: Jinja templates over numbers that are already computed, and the cells of their tables."""

from __future__ import annotations

import math
import os
import platform
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from experiments.record import library_versions
from experiments.replicates import Config
from experiments.summary import Row
from whygap.estimate import Estimate
from whygap.results.files import write_whole

__all__ = [
    "LEVEL",
    "Measured",
    "coverage_cell",
    "ends",
    "grid",
    "interval",
    "number",
    "planned_columns",
    "plugin_cell",
    "render",
    "signed",
    "table",
    "width_cell",
    "write_page",
]

TEMPLATES = Path(__file__).resolve().parent / "templates"
LEVEL = 0.95  # of every interval that is not about coverage
Columns = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Measured:
    """A number with its 95% interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, estimate: Estimate) -> Measured:
        """What an analysis estimated."""
        low, high = estimate.interval(LEVEL)
        return cls(float(estimate.value), float(low), float(high))

    @property
    def sign(self) -> int:
        """1 or -1 where the interval lies on one side of 0, else 0."""
        return int(self.low > 0) - int(self.high < 0)


def write_page(path: Path, command: str, note: str, **values: Any) -> Path:
    """The template of the page's name, filled, with where its numbers come from at the end."""
    versions = ", ".join(f"{name} {number}" for name, number in library_versions().items())
    made = (
        f"Page written {datetime.now(UTC):%Y-%m-%d} with {versions}; "
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores."
    )
    text = render(path.name, command=command, note=note, made=made, **values)
    return write_whole(path, text)


def render(template: str, **values: Any) -> str:
    """A template's text."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701 - Markdown, not HTML
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": number, "signed": signed}
    environment.filters |= {"interval": interval, "ends": ends}
    cells = {"coverage": coverage_cell, "plugin": plugin_cell, "width": width_cell}
    environment.globals |= {"table": table, "grid": grid, "cells": cells}
    text = environment.get_template(template).render(**values)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def table(head: Sequence[str], lines: Iterable[Sequence[object]], text: int = 1) -> str:
    """A Markdown table; the first `text` columns are text, the others are numbers."""
    rule = ["---"] * text + ["---:"] * (len(head) - text)
    return "\n".join("| " + " | ".join(map(str, cells)) + " |" for cells in (head, rule, *lines))


def number(value: float | None, digits: int = 3) -> str:
    """A number without a needless leading zero; an en dash where there is none."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def signed(value: float, digits: int = 2) -> str:
    """A number with its sign."""
    return "–" if math.isnan(value) else f"{value:+.{digits}f}"


def interval(found: Measured | Estimate, digits: int = 3) -> str:
    """`value (low to high)`; the value alone where the interval has no ends."""
    if isinstance(found, Estimate):
        found = Measured.of(found)
    if not math.isfinite(found.low):
        return number(found.value, digits)
    ends = f"{number(found.low, digits)} to {number(found.high, digits)}"
    return f"{number(found.value, digits)} ({ends})"


def ends(estimate: Estimate) -> str:
    """Both ends of its 95% interval."""
    found = Measured.of(estimate)
    return f"{number(found.low)} to {number(found.high)}"


def coverage_cell(row: Row) -> str:
    """Coverage and bias/sd, e.g. `.91 (-0.12)`; bold where coverage is below the band."""
    return _covered(row.coverage, row.bias_over_sd, row.band_low)


def plugin_cell(row: Row) -> str:
    """The same of the plug-in value, with the debiased standard error around it."""
    return _covered(row.plugin_coverage, row.plugin_bias_over_sd, row.band_low)


def _covered(coverage: float, bias: float, lowest: float) -> str:
    if math.isnan(coverage):
        return "never shown"
    mark = "**" if coverage < lowest else ""
    return f"{mark}{number(coverage, 2)}{mark} ({signed(bias)})"


def width_cell(row: Row) -> str:
    """Median width of the interval."""
    return "never shown" if math.isnan(row.width) else number(row.width)


def grid(
    rows: Sequence[Row],
    quantities: Sequence[str],
    columns: Columns,
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
        for name in dict.fromkeys(quantities)
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
