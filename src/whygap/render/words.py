"""Plain words: the answer in two sentences, the short form, the whole summary."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from whygap.render.advice import suggestions
from whygap.render.detail_sentences import detail_sentences
from whygap.render.numbers import count, level_name
from whygap.render.phrases import metric_name, part_title
from whygap.render.reading import Reading, reading_of
from whygap.render.sentences import change_sentence, main_sentence, part_sentence
from whygap.results import Gap

__all__ = ["ASSOCIATION", "headline", "short", "summary"]

WIDTH = 80
ASSOCIATION = (
    "These are associations in two tables of rows. They say where the change shows up, not what "
    "caused it."
)
DETAIL_TITLES = {
    "covariate": "Which variables carry the covariate shift",
    "outcome": "Which variables carry the outcome shift",
}


def headline(gap: Gap, level: float | None = None) -> str:
    """The answer in two sentences."""
    return headline_of(reading_of(gap, level or default_level(gap)))


def headline_of(reading: Reading) -> str:
    """The answer in two sentences, from a result already read."""
    return f"{change_sentence(reading)} {main_sentence(reading)}".strip()


def short(gap: Gap) -> str:
    """The answer and the parts, a few lines."""
    reading = reading_of(gap, default_level(gap))
    return "\n".join([*_paragraph(headline_of(reading)), *_parts(reading)])


def summary(gap: Gap, level: float = 0.95) -> str:
    """Everything that can honestly be said, in plain words."""
    reading = reading_of(gap, level)
    lines = [*_paragraph(headline_of(reading)), "", *_parts(reading)]
    for name in gap.details():
        lines += ["", DETAIL_TITLES[name], *_bullets(detail_sentences(reading, name))]
    lines += ["", "What to do next", *_bullets(suggestions(reading))]
    lines += ["", "How far to trust it", *_bullets(trust(gap))]
    return "\n".join(lines)


def default_level(gap: Gap) -> float:
    """The level the analysis was asked for."""
    return float(gap.about.settings.get("level", 0.95))


def _parts(reading: Reading) -> list[str]:
    title = f"Where it comes from ({metric_name(reading.gap.about)}, target minus source; "
    title += f"{level_name(reading.level)} intervals)"
    order = [name for name in reading.gap.aggregate.parts() if name in reading.parts]
    return [
        *textwrap.wrap(title, WIDTH),
        *_bullets(f"{part_title(name)}: {part_sentence(reading, name)}" for name in order),
    ]


def trust(gap: Gap) -> list[str]:
    """Sizes, warnings, and what the numbers are not."""
    rows = gap.about.rows
    lines = [f"Rows used: {count(rows.source)} source and {count(rows.target)} target."]
    worth = gap.about.effective_rows
    if worth.source < rows.source - 0.5 or worth.target < rows.target - 0.5:
        lines.append(
            f"With their weights they are worth {count(worth.source)} source and "
            f"{count(worth.target)} target rows of equal weight."
        )
    kept = gap.about.kept_share
    if min(kept) < 1:
        lines.append(
            f"Only the region that both domains share is compared: {100 * kept.source:.0f}% of "
            f"source and {100 * kept.target:.0f}% of target rows."
        )
    return [*lines, *gap.diagnostics.warnings, ASSOCIATION]


def _paragraph(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, break_on_hyphens=False)


def _bullets(texts: Iterable[str]) -> list[str]:
    lines = []
    for text in texts:
        lines += textwrap.wrap(
            text,
            WIDTH,
            initial_indent="  - ",
            subsequent_indent="    ",
            break_on_hyphens=False,
        )
    return lines
