"""Figures as their rows: names, numbers and colours, without coordinates.

Tests of the displays check coordinates as numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from golden_file import check
from result_factory import make_gap

from whygap.render.drawing import Row
from whygap.render.figures import KINDS, DecompositionDisplay, IntervalsDisplay, TrendDisplay
from whygap.results import Gaps

GAP = make_gap()
MONTHS = Gaps(
    {
        "March 2025": make_gap(corners=(0.80, 0.80, 0.79, 0.78)),
        "April 2025": make_gap(corners=(0.80, 0.79, 0.77, 0.70)),
    }
)


def written(rows: Sequence[Row]) -> list[str]:
    marks = {True: "filled", False: "hollow"}
    return [
        f"{r.name} | {r.note} | {r.numbers} | {r.size} | {r.colour} | {marks[r.is_significant]}"
        for r in rows
    ]


def decomposition() -> list[str]:
    return written(DecompositionDisplay.from_gap(GAP, GAP.findings(0.9)).rows)


def trend() -> list[str]:
    display = TrendDisplay.from_gaps(MONTHS, MONTHS.findings(0.9))
    panels = display.series.items()
    return [
        f"{name}, {target}: {row.end:.4f}" for name, own in panels for target, row in own.items()
    ]


def intervals(what: str) -> list[str]:
    return written(IntervalsDisplay.from_gap(GAP, GAP.findings(0.9), what).rows)


FIGURES = {
    "decomposition": decomposition,
    "trend": trend,
    **{what: lambda what=what: intervals(what) for what in KINDS},
}


@pytest.mark.parametrize("name", FIGURES)
def test_figure(name: str) -> None:
    check(f"figure_{name}.txt", "\n".join(FIGURES[name]()) + "\n")
