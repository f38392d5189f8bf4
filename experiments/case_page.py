"""One comparison of a case study as a section of its page, and what agrees with the paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from experiments.case_kept import Beside, ranking
from experiments.comparator_findings import TITLES
from experiments.pages import LEVEL, Measured, interval, number, render, table
from experiments.summary import comma_separated
from whygap.render import tables
from whygap.render.text import headline
from whygap.results import Gap, Shares

__all__ = [
    "INSURANCE",
    "NULL",
    "READMISSION",
    "Paper",
    "case_section",
    "overview_table",
    "tidy",
    "verdict",
]

SHOWN = 10  # shares in a table; the figure has all
TOP = 5  # variables named of each method
NEARLY_ALL = 0.8  # share of the variables that counts as nearly every one


def case_section(
    name: str, slug: str, gap: Gap, beside: Beside, folder: Path, verdict: Sequence[str]
) -> str:
    """The whole section; draws the figures."""
    _draw(gap, slug, folder)
    return render(
        "case_section.md",
        name=name,
        slug=slug,
        headline=" ".join(headline(gap, gap.findings(LEVEL))),
        terms={"gap": gap.total, **gap.parts},
        details=list(gap.shares.values()),
        outcome_ranking=ranking(gap.shares.get("outcome")),
        beside=beside,
        verdict=verdict,
        ranking=ranking,
        level=LEVEL,
        shown=SHOWN,
        top=TOP,
        titles=TITLES,
    ).strip()


def _draw(gap: Gap, slug: str, folder: Path) -> None:
    """Draw the decomposition, and every share of the parts that have any (Fig. 5)."""
    from experiments.figures import Bars, bars_figure, save_figure

    save_figure(gap.plot(level=LEVEL), folder / f"{slug}.svg")
    for part, detail in gap.shares.items():
        if detail.defined:
            names = ranking(detail)
            means = tuple(Measured.of(detail.values[name]) for name in names)
            bars = Bars(f"{part.capitalize()} shares", names, means, "share")
            save_figure(bars_figure([bars], columns=1), folder / f"{slug}_{part}.svg")


def tidy(gap: Gap) -> str:
    """Every estimate, comma-separated."""
    rows = tables.rows(gap.findings(LEVEL))
    return comma_separated(tables.COLUMNS, [tuple(row.values()) for row in rows], digits=6)


def overview_table(found: Sequence[tuple[str, Gap]]) -> str:
    """All comparisons at a glance."""
    head = ["comparison", "accuracy", "baseline", "covariate", "outcome", "first in the outcome"]
    lines = []
    for name, gap in found:
        first, last = number(gap.source.value), number(gap.target.value)
        cells = [interval(e) for e in gap.parts.values()]
        lines.append([name, f"{first} to {last}", *cells, _leader(gap.shares.get("outcome"))])
    return table(head, lines)


def _leader(detail: Shares | None) -> str:
    if detail is None or not detail.defined:
        return "undefined"
    tied = len(detail.values.first(LEVEL))
    first = ranking(detail)[0]
    return f"{first}, alone" if tied == 1 else f"{first}, tied with {tied - 1}"


@dataclass(frozen=True)
class Paper:
    """What the paper reports of its own comparison.

    Attributes:
        accuracy: in the source and in the target; None where no gap is expected.
        where: its two tables.
        largest: the part that it found largest.
        leaders: columns that mean the variable it found first, by far, in the outcome shift.
        leader: that variable, in words.
        flags_all: whether it reports that MeanChange flags nearly every variable.
        revises: whether it compares revisions with RandomForestAcc's.
    """

    accuracy: tuple[float, float] | None
    where: str = ""
    largest: Literal["baseline", "covariate", "outcome", ""] = ""
    leaders: tuple[str, ...] = ()
    leader: str = ""
    flags_all: bool = False
    revises: bool = False


INSURANCE = Paper(
    accuracy=(0.84, 0.66),
    where="NE to LA, 2018",
    largest="outcome",
    leaders=("PINCP", "POVPIP"),
    leader="income",
    revises=True,
)
READMISSION = Paper(
    accuracy=(0.70, 0.53), where="a private hospital", largest="covariate", flags_all=True
)
NULL = Paper(accuracy=None)


def verdict(gap: Gap, beside: Beside, paper: Paper) -> list[str]:
    """One sentence per finding, each beginning with whether it agrees."""
    parts = gap.parts
    text = render(
        "case_verdict.md",
        gap=gap,
        beside=beside,
        paper=paper,
        parts=parts,
        largest=max(parts, key=lambda name: abs(parts[name].value)),
        sizes=", ".join(f"{name} {estimate.value:+.3f}" for name, estimate in parts.items()),
        better=sum(d.auc.low > 0 for d in beside.differences),
        worse=sum(d.auc.high < 0 for d in beside.differences),
        ranking=ranking,
        level=LEVEL,
        nearly_all=NEARLY_ALL,
    )
    return [line for line in text.splitlines() if line]
