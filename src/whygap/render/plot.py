"""Figures: Display objects hold what is drawn, `.plot(ax=None)` draws it and returns itself."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from whygap.errors import InputError
from whygap.render.figures import (
    ROW_HEIGHT,
    RevisionDisplay,
    SharesDisplay,
    WaterfallDisplay,
)
from whygap.render.panels import OverlapDisplay, ProfileDisplay
from whygap.render.words import default_level
from whygap.results import Gap

__all__ = [
    "OverlapDisplay",
    "ProfileDisplay",
    "RevisionDisplay",
    "SharesDisplay",
    "WaterfallDisplay",
    "overview",
    "save_figure",
]

SHOWN = 15  # variables of a part in the overview; the rest stand together in one line
FORMATS = ("svg", "png", "pdf")


def overview(gap: Gap, level: float | None = None, top: int = SHOWN) -> Figure:
    """The waterfall, and the shares of every detailed part beside it."""
    level = level or default_level(gap)
    parts = [SharesDisplay.from_gap(gap, part, level, top) for part in gap.details()]
    longest = max((len(part.shares.lines) for part in parts), default=0)
    height = max(4.6, 1.6 + ROW_HEIGHT * longest)
    widths = [6.4, *(5.6 for _ in parts)]
    layout = ConstrainedLayoutEngine(wspace=0.06)
    figure = Figure(figsize=(sum(widths), height), layout=layout)
    grid = figure.add_gridspec(1, len(widths), width_ratios=widths)
    WaterfallDisplay.from_gap(gap, level).plot(figure.add_subplot(grid[0]))
    for k, part in enumerate(parts, start=1):
        part.plot(figure.add_subplot(grid[k]))
    return figure


def save_figure(figure: Figure, path: str | Path, **options: Any) -> Path:
    """Write svg, png or pdf, by the path's ending; whole or not at all.

    Text in svg stays text, so that it can be searched, and any script is drawn by the viewer.
    """
    from whygap.storage.files import write_bytes

    path = Path(path)
    kind = path.suffix.lower().lstrip(".")
    if kind not in FORMATS:
        raise InputError(
            "A figure is written as .svg, .png or .pdf", got=repr(path.name), hint="Try gap.svg."
        )
    return write_bytes(path, drawn(figure, kind, **options))


def drawn(figure: Figure, kind: str, **options: Any) -> bytes:
    """The figure as a file's content; the same bytes for the same figure."""
    plain = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    buffer = io.BytesIO()
    style: Any = {"svg.fonttype": "none", "svg.hashsalt": "whygap", "pdf.fonttype": 42}
    with mpl.rc_context(style), warnings.catch_warnings():
        # A letter no installed font has is drawn as a box; svg keeps the letter itself.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(buffer, format=kind, metadata=plain, **{"dpi": 160, **options})
    return buffer.getvalue()
