"""One comparison of a case study as a section of its page: parts, shares, rivals, revision."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import astuple, fields
from pathlib import Path

from experiments.case_kept import LEVEL, Beside, ranking
from experiments.comparator_findings import TITLES
from experiments.pages import ends, number, render, table
from whygap.render import frame
from whygap.render.plot import SharesDisplay, save_figure
from whygap.render.words import headline
from whygap.results import Detailed, Gap

__all__ = ["case_section", "draw", "overview_table", "tidy"]

SHOWN = 10  # shares in a table; the figure has all
TOP = 5  # variables named of each method


def case_section(
    name: str, slug: str, gap: Gap, beside: Beside, folder: Path, verdict: Sequence[str]
) -> str:
    """The whole section; draws the figures."""
    draw(gap, slug, folder)
    return render(
        "case_section.md",
        name=name,
        slug=slug,
        headline=headline(gap, LEVEL),
        terms={"gap": gap.aggregate.gap, **gap.aggregate.parts()},
        details=list(gap.details().values()),
        outcome_ranking=ranking(gap.outcome),
        beside=beside,
        verdict=verdict,
        ranking=ranking,
        level=LEVEL,
        shown=SHOWN,
        top=TOP,
        titles=TITLES,
    ).strip()


def draw(gap: Gap, slug: str, folder: Path) -> None:
    """The figures of a section."""
    save_figure(gap.plot(level=LEVEL, top=SHOWN), folder / f"{slug}.svg")
    for part, detail in gap.details().items():
        if detail.defined:
            everyone = SharesDisplay.from_gap(gap, part, LEVEL, len(detail.players)).plot()
            if everyone.figure_ is not None:
                save_figure(everyone.figure_, folder / f"{slug}_{part}.svg")


def tidy(gap: Gap) -> str:
    """Every estimate, comma-separated."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([field.name for field in fields(frame.Row)])
    for row in frame.rows(gap, LEVEL):
        writer.writerow([f"{c:.6g}" if isinstance(c, float) else c for c in astuple(row)])
    return buffer.getvalue()


def overview_table(found: Sequence[tuple[str, Gap]]) -> str:
    """All comparisons at a glance."""
    head = ["comparison", "accuracy", "baseline", "covariate", "outcome", "first in the outcome"]
    lines = []
    for name, gap in found:
        first, *_, last = (number(corner.value) for corner in gap.aggregate.corners())
        cells = [f"{number(e.value)} ({ends(e)})" for e in gap.aggregate.parts().values()]
        lines.append([name, f"{first} to {last}", *cells, _leader(gap.outcome)])
    return table(head, lines)


def _leader(detail: Detailed | None) -> str:
    if detail is None or not detail.defined:
        return "undefined"
    tied = len(detail.top_group(LEVEL))
    first = ranking(detail)[0]
    return f"{first}, alone" if tied == 1 else f"{first}, tied with {tied - 1}"
