"""The revision's section of the page: rows for the template, whiskers and words per level."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from whygap.render import style
from whygap.render.geometry import round_ticks
from whygap.render.numbers import with_minus
from whygap.render.revision import Curve
from whygap.render.revision_words import label_of, revision_sentences

__all__ = ["RevisionRow", "RevisionView", "view_of"]


@dataclass(frozen=True, slots=True)
class RevisionRow:
    """One choice; `at` and `zero` are percent of the track's width."""

    kind: str
    label: str
    score: str
    gain: str
    at: float


@dataclass(frozen=True, slots=True)
class RevisionView:
    """Everything the section shows that does not change with the level."""

    curve: Curve
    low: float
    high: float
    rows: tuple[RevisionRow, ...]

    def place(self, value: float) -> float:
        """Percent of the track's width."""
        return round(min(max(100 * (value - self.low) / (self.high - self.low), 0.0), 100.0), 2)

    def ticks(self) -> list[tuple[float, str]]:
        """A few round gains and where they are."""
        scale = round_ticks(self.low, self.high)
        return [(self.place(tick), self.curve.units.gain_tick(tick)) for tick in scale]

    def at(self, level: float) -> dict[str, Any]:
        """Words, and per row: whisker from, to, interval."""
        lines = []
        for choice in _shown(self.curve):
            low, high = choice.gain.interval(level)
            text = "" if choice.kind == "original" else self.curve.units.span(low, high)
            lines.append([self.place(low), self.place(high), text])
        return {"words": revision_sentences(self.curve, level), "rows": lines}


def _shown(curve: Curve) -> list[Any]:
    order = ("original", "targeted", "retrained", "reweighted")
    return [choice for kind in order for choice in curve.of(kind)]


def view_of(curve: Curve, levels: Iterable[float]) -> RevisionView:
    """The section; its scale holds the widest interval."""
    widest = max(levels)
    ends = [end for choice in curve.choices for end in choice.gain.interval(widest)]
    low, high = style.padded([*ends, 0.0], 0.05)
    empty = RevisionView(curve, low, high, ())
    return RevisionView(curve, low, high, tuple(_rows(curve, empty)))


def _rows(curve: Curve, scale: RevisionView) -> Sequence[RevisionRow]:
    units = curve.units
    return [
        RevisionRow(
            kind=choice.kind,
            label=label_of(choice),
            score=with_minus(units.mean(choice.score.value)),
            gain=""
            if choice.kind == "original"
            else with_minus(units.bare(choice.gain.value, signed=True)),
            at=scale.place(choice.gain.value),
        )
        for choice in _shown(curve)
    ]
