"""Colours, letters and fonts of charts."""

from functools import cache
from typing import Any

from matplotlib import font_manager

TEXT = 11.0  # points, the least that a phone shows legibly

# Paul Tol's high-contrast colours: told apart under every colour vision and in grey.
# Pages replace each colour by the CSS variable of that name.
COLOURS = {
    "baseline": "#004488",
    "covariate": "#ddaa33",
    "outcome": "#bb5566",
    "source_only": "#a0a6b1",
    "target_only": "#5f6671",
    "other": "#7755aa",
    "recoverable": "#2b8c6b",
    "ink": "#1b1f27",
    "muted": "#5b6472",
    "line": "#d5d9e0",
    "card": "#fefefe",
}
# Families for letters that matplotlib's own font lacks, where they are installed
FALLBACKS = ("Noto Sans Arabic", "Noto Sans CJK JP", "Noto Sans Hebrew", "Arial Unicode MS")


def text_look(colour: str, weight: str = "normal") -> dict[str, Any]:
    """Return how texts are written: never as formulas, in letters that can be drawn."""
    look = {"fontsize": TEXT, "color": COLOURS[colour], "fontweight": weight}
    return look | {"parse_math": False, "fontfamily": _families()}


@cache
def _families() -> list[str]:
    return ["DejaVu Sans", *sorted({*FALLBACKS} & {*font_manager.get_font_names()})]
