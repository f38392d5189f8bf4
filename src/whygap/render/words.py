"""Plain words: the answer in two sentences, sentences on the parts, the whole summary."""

from __future__ import annotations

from collections.abc import Iterable

from whygap.render.advice import suggestions
from whygap.render.answers import (
    culprit_sentence,
    points_sentences,
    recoverable_sentences,
    where_sentences,
)
from whygap.render.detail_sentences import detail_sentences
from whygap.render.formats import wrapped
from whygap.render.part_sentences import main_sentence, part_sentence
from whygap.render.phrases import (
    BANNER,
    banner,
    capital,
    direction,
    in_domain,
    metric_name,
    metric_unit,
    named,
    predictions_sentences,
)
from whygap.render.reading import Reading, reading_of
from whygap.render.units import count, level_name
from whygap.results import Gap

ASSOCIATION = (
    "These are associations in two tables of rows. They say where the change shows up, not what "
    "caused it."
)
OVER_PREDICTION = ("calibration", "bias")  # metrics of which 0 is right
DETAIL_TITLES = {
    "covariate": "The finer view: shares of the covariate shift",
    "outcome": "The finer view: shares of the outcome shift",
}


def headline(gap: Gap, level: float | None = None) -> str:
    """The answer in two sentences."""
    return headline_of(reading_of(gap, gap.level(level)))


def headline_of(reading: Reading) -> str:
    """The answer in two or three sentences, from a result already read."""
    sentences = [change_sentence(reading), main_sentence(reading), culprit_sentence(reading)]
    if not reading.gap.comparable:
        sentences[:2] = reversed(sentences[:2])
    return " ".join(filter(None, sentences))


def short(gap: Gap) -> str:
    """The answer and the parts, a few lines."""
    reading = reading_of(gap, gap.level())
    return "\n".join([*_banner(gap), wrapped(headline_of(reading)), *_parts(reading)])


def summary(gap: Gap, level: float | None = None) -> str:
    """Everything that can honestly be said, in plain words; of what was not asked for, nothing."""
    reading = reading_of(gap, gap.level(level))
    parts = _parts(reading, opened=True)
    lines = [*_banner(gap), wrapped(headline_of(reading)), *([""] if parts else []), *parts]
    sections = {
        "Who is hit": where_sentences(reading),
        "What can be won back (squared error)": recoverable_sentences(reading),
        "What to do next": suggestions(reading),
        "How far to trust it": [*predictions_sentences(gap), *trust(gap)],
        **{DETAIL_TITLES[name]: detail_sentences(reading, name) for name in gap.shares},
    }
    for title, sentences in sections.items():
        if sentences:
            lines += ["", title, *_bullets(sentences)]
    return "\n".join(lines)


def _banner(gap: Gap) -> list[str]:
    problems = banner(gap)
    return [BANNER, *_bullets(problems), ""] if problems else []


def _parts(reading: Reading, opened: bool = False) -> list[str]:
    """A line a part; opened, its variables below it."""
    title = f"Where it comes from ({metric_name(reading.gap.about)}, target minus source; "
    if not reading.parts:
        return []
    lines = [wrapped(f"{title}{level_name(reading.level)} intervals)")]
    for name, part in reading.gap.parts.items():
        lines += _bullets([f"{part.label}: {part_sentence(reading, name)}"])
        below = points_sentences(reading, name) if opened else []
        lines += [wrapped(text, "      ", "      ") for text in below]
    return lines


def trust(gap: Gap) -> list[str]:
    """Sizes, warnings (problems lead), and what the numbers are not."""
    rows = gap.about.rows
    lines = [f"Rows used: {count(rows.source)} source and {count(rows.target)} target."]
    counted = gap.about.effective_rows
    if counted.source < rows.source - 0.5 or counted.target < rows.target - 0.5:
        lines.append(
            f"With their weights they count as {count(counted.source)} source and "
            f"{count(counted.target)} target rows of equal weight."
        )
    kept = gap.about.kept_share
    if min(kept) < 1 and gap.comparable:
        lines.append(
            f"Only the region that both domains share is compared: {100 * kept.source:.0f}% of "
            f"source and {100 * kept.target:.0f}% of target rows."
        )
    warnings = [str(note) for note in gap.notes if note.level == "warning"]
    return [*lines, *warnings, ASSOCIATION]


def _bullets(texts: Iterable[str]) -> list[str]:
    return [wrapped(text, "  - ", "    ") for text in texts]


# -- sentences on the change and its parts, each with its interval ---------------------------------


def change_sentence(reading: Reading) -> str:
    """How far the metric moved, from where to where."""
    gap, units = reading.gap, reading.units
    about, change = gap.about, gap.total
    low, high = change.interval(reading.level)
    start, end = units.mean(gap.source.value), units.mean(gap.target.value)
    ends = f"from {start} {in_domain(about, 'source')} to {end} {in_domain(about, 'target')}"
    level, metric = level_name(reading.level), metric_name(about) + metric_unit(about)
    if not change.value and not change.standard_error:
        both = f"{in_domain(about, 'source')} and {in_domain(about, 'target')}"
        return f"{capital(metric)} is the same {both}: {end}."
    if not reading.clear:
        return (
            f"These data cannot tell whether {metric} differs between {named(about, 'source')} "
            f"and {named(about, 'target')}: it moved from {start} to {end}, a change of "
            f"{units.change(change.value)} whose {level} interval, {units.span(low, high)}, "
            "includes 0."
        )
    verb = "fell" if change.value < 0 else "rose"
    judged = direction(about, change.value)
    obvious = about.higher_is_better is True
    verdict = f": the model does {judged} there" if judged and not obvious else ""
    if about.metric in OVER_PREDICTION:
        verdict = f": {_how_far_off(reading)}"
    return (
        f"{capital(metric)} {verb} by {units.size(change.value)} "
        f"({level} interval {units.size_span(low, high)}), {ends}{verdict}."
    )


def _how_far_off(reading: Reading) -> str:
    """Neither a rise nor a fall is better where 0 is right: what predictions are now."""
    end = reading.gap.target
    low, high = end.interval(reading.level)
    if low <= 0 <= high:
        return "the mean prediction is not clearly off there"
    side = "high" if end.value > 0 else "low"
    return f"the mean prediction is now {reading.units.size(end.value)} too {side}"
