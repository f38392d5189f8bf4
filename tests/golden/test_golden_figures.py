"""Figures as normalised SVG: their words, colours and marks, without coordinates or ids.

Coordinates are left out because they follow the drawing library's version; tests of the displays
check them as numbers.
"""

from __future__ import annotations

import re
from collections import Counter

import pytest
from golden_file import check
from result_factory import make_gap, many_players

from whygap.render import plot
from whygap.render.plot import (
    OverlapDisplay,
    PointsDisplay,
    RecoverableDisplay,
    SharesDisplay,
    WaterfallDisplay,
    WhereDisplay,
)
from whygap.render.trend_figure import TrendDisplay

MONTHS = {
    "March 2025": make_gap(corners=(0.80, 0.80, 0.79, 0.78)),
    "April 2025": make_gap(corners=(0.80, 0.79, 0.77, 0.70)),
}


def normalised(svg: str) -> str:
    body = svg.split("</metadata>")[-1]
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", body)
    colours = Counter(re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", body))
    marks = Counter(re.findall(r"<(path|use|text|tspan|rect|image)\b", body))
    lines = [f"text  {text}" for text in texts]
    lines += [f"color {name} {count}" for name, count in sorted(colours.items())]
    lines += [f"mark  {name} {count}" for name, count in sorted(marks.items())]
    return "\n".join(lines) + "\n"


FIGURES = {
    "waterfall": lambda: WaterfallDisplay.from_gap(make_gap(), 0.9).plot().figure_,
    "shares": lambda: SharesDisplay.from_gap(make_gap(), "outcome", 0.9).plot().figure_,
    "shares_top": lambda: (
        SharesDisplay.from_gap(make_gap(outcome=many_players(30)), "outcome", 0.9, top=8)
        .plot()
        .figure_
    ),
    "shares_undefined": lambda: (
        SharesDisplay.from_gap(make_gap(defined=()), "outcome", 0.9).plot().figure_
    ),
    "overlap": lambda: OverlapDisplay.from_gap(make_gap()).plot().figure_,
    "points": lambda: PointsDisplay.from_gap(make_gap(), 0.9).plot().figure_,
    "where": lambda: WhereDisplay.from_gap(make_gap(), 0.9).plot().figure_,
    "recoverable": lambda: RecoverableDisplay.from_gap(make_gap(), 0.9).plot().figure_,
    "answer": lambda: make_gap().plot(level=0.9),
    "trend": lambda: TrendDisplay.from_gaps(MONTHS, 0.9).plot().figure_,
}


@pytest.mark.parametrize("name", FIGURES)
def test_figure(name: str) -> None:
    check(f"figure_{name}.txt", normalised(plot.drawn(FIGURES[name](), "svg").decode()))
