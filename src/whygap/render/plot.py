"""Figures: Display objects hold what is drawn, `.plot(ax=None)` draws it and returns itself."""

from __future__ import annotations

import io
import textwrap
import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from whygap.errors import InputError, SettingsError, did_you_mean
from whygap.render import style
from whygap.render.figures import RevisionDisplay, WaterfallDisplay
from whygap.render.forest import PointsDisplay, SharesDisplay, WhereDisplay, height_of
from whygap.render.panels import OverlapDisplay, RecoverableDisplay
from whygap.render.words import default_level
from whygap.results import Gap

__all__ = [
    "OverlapDisplay",
    "PointsDisplay",
    "RecoverableDisplay",
    "RevisionDisplay",
    "SharesDisplay",
    "WaterfallDisplay",
    "WhereDisplay",
    "figure",
    "save_figure",
]

FORMATS = ("svg", "png", "pdf")


def figure(gap: Gap, what: str = "answer", level: float | None = None, **options: Any) -> Figure:
    """One of `FIGURES`: the whole answer, or one question."""
    if what not in FIGURES:
        raise SettingsError(
            f"There is no figure '{what}'",
            hint=did_you_mean(what, FIGURES) or f"Figures are: {', '.join(FIGURES)}.",
        )
    made: Figure = FIGURES[what](gap, level or default_level(gap), **options)
    if not gap.aggregate.comparable and what in ("answer", "walk", "recoverable"):
        reason = textwrap.fill(gap.aggregate.reason, int(12 * made.get_figwidth()))
        made.suptitle(reason, x=0.01, ha="left", **style.words([reason], 10))
    return made


def _answer(gap: Gap, level: float, top: int = 4) -> Figure:
    """The walk opened into `top` variables a part and the rest; who is hit; what can be won."""
    walk = WaterfallDisplay.from_gap(gap, level, top)
    rights: list[Any] = []
    if gap.where:
        rights.append(WhereDisplay.shortest(gap, level))
    if gap.recoverable:
        rights.append(RecoverableDisplay.from_gap(gap, level, top))
    heights = [2.2 if isinstance(one, RecoverableDisplay) else 1.3 for one in rights]
    height = max(height_of(len(walk.walk.steps)), 2.7 * sum(heights))
    made = Figure(figsize=(14.0 if rights else 7.2, height), layout=ConstrainedLayoutEngine())
    parts: Any = made.subfigures(1, 2) if rights else [made]
    walk.plot(parts[0].subplots())
    if rights:
        below = parts[1].subfigures(len(rights), 1, height_ratios=heights, squeeze=False)[:, 0]
        for display, place in zip(rights, below, strict=True):
            two = isinstance(display, RecoverableDisplay)
            display.plot(place.subplots(2, 1, height_ratios=(1, 1.4)) if two else place.subplots())
    return made


def _shares(gap: Gap, level: float, top: int = 15) -> Figure:
    """The paper's shares of every detailed part, side by side."""
    parts = [SharesDisplay.from_gap(gap, part, level, top) for part in gap.details()]
    if not parts:
        made = Figure(figsize=(6.4, height_of(0)), layout="constrained")
        asked = "Shares were not asked for: detail=('covariate', 'outcome')."
        style.message(made.subplots(), gap.aggregate.reason or asked)
        return made
    longest = max(len(part.block.lines) for part in parts)
    made = Figure(figsize=(6.4 * len(parts), height_of(longest)), layout="constrained")
    for ax, part in zip(made.subplots(1, len(parts), squeeze=False)[0], parts, strict=True):
        part.plot(ax)
    return made


def _one(display: Any) -> Any:
    return lambda gap, level, **options: display.from_gap(gap, level, **options).plot().figure_


FIGURES: dict[str, Any] = {
    "answer": _answer,
    "walk": _one(WaterfallDisplay),
    "points": _one(PointsDisplay),
    "where": _one(WhereDisplay),
    "recoverable": _one(RecoverableDisplay),
    "shares": _shares,
}


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
    plain_text: Any = {"svg.fonttype": "none", "svg.hashsalt": "whygap", "pdf.fonttype": 42}
    with mpl.rc_context(plain_text), warnings.catch_warnings():
        # A letter no installed font has is drawn as a box; svg keeps the letter itself.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(buffer, format=kind, metadata=plain, **{"dpi": 160, **options})
    return buffer.getvalue()
