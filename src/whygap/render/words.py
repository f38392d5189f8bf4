"""Plain words: the answer in two sentences, sentences on the parts, the whole summary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from whygap.errors import require_level
from whygap.render.advice import suggestions
from whygap.render.answers import (
    culprit_sentence,
    points_sentences,
    recoverable_sentences,
    where_sentences,
)
from whygap.render.detail_sentences import detail_sentences
from whygap.render.formats import wrapped
from whygap.render.phrases import (
    BANNER,
    PART_TITLES,
    banner,
    capital,
    cause,
    direction,
    in_domain,
    joined,
    metric_name,
    metric_unit,
    named,
    noun,
    part_words,
    predictions_sentences,
)
from whygap.render.reading import Reading, reading_of
from whygap.render.units import count, level_name, percent, percent_interval
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
    return headline_of(reading_of(gap, chosen_level(gap, level)))


def headline_of(reading: Reading) -> str:
    """The answer in two or three sentences, from a result already read."""
    sentences = [change_sentence(reading), main_sentence(reading), culprit_sentence(reading)]
    if not reading.gap.aggregate.comparable:
        sentences[:2] = reversed(sentences[:2])
    return " ".join(filter(None, sentences))


def short(gap: Gap) -> str:
    """The answer and the parts, a few lines."""
    reading = reading_of(gap, default_level(gap))
    return "\n".join([*_banner(gap), wrapped(headline_of(reading)), *_parts(reading)])


def summary(gap: Gap, level: float = 0.95) -> str:
    """Everything that can honestly be said, in plain words; of what was not asked for, nothing."""
    reading = reading_of(gap, level)
    parts = _parts(reading, opened=True)
    lines = [*_banner(gap), wrapped(headline_of(reading)), *([""] if parts else []), *parts]
    sections = {
        "Who is hit": where_sentences(reading),
        "What can be won back (squared error)": recoverable_sentences(reading),
        "What to do next": suggestions(reading),
        "How far to trust it": [*predictions_sentences(gap), *trust(gap)],
        **{DETAIL_TITLES[name]: detail_sentences(reading, name) for name in gap.details()},
    }
    for title, sentences in sections.items():
        if sentences:
            lines += ["", title, *_bullets(sentences)]
    return "\n".join(lines)


def _banner(gap: Gap) -> list[str]:
    problems = banner(gap)
    return [BANNER, *_bullets(problems), ""] if problems else []


def default_level(gap: Gap) -> float:
    """The level the analysis was asked for."""
    return float(gap.about.settings.get("level", 0.95))


def chosen_level(gap: Gap, level: Any) -> float:
    """The level a reader asks for; None stands for the one the analysis was asked for."""
    if level is None:
        return default_level(gap)
    require_level(level)
    return float(level)


def _parts(reading: Reading, opened: bool = False) -> list[str]:
    """A line a part; opened, its variables below it."""
    title = f"Where it comes from ({metric_name(reading.gap.about)}, target minus source; "
    if not reading.parts:
        return []
    lines = [wrapped(f"{title}{level_name(reading.level)} intervals)")]
    for name in reading.gap.aggregate.parts():
        if name in reading.parts:
            lines += _bullets([f"{PART_TITLES[name]}: {part_sentence(reading, name)}"])
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
    if min(kept) < 1 and gap.aggregate.comparable:
        lines.append(
            f"Only the region that both domains share is compared: {100 * kept.source:.0f}% of "
            f"source and {100 * kept.target:.0f}% of target rows."
        )
    warnings = [note.text for note in gap.diagnostics.notes if note.level == "warning"]
    return [*lines, *warnings, ASSOCIATION]


def _bullets(texts: Iterable[str]) -> list[str]:
    return [wrapped(text, "  - ", "    ") for text in texts]


# -- sentences on the change and its parts, each with its interval ---------------------------------


def change_sentence(reading: Reading) -> str:
    """How far the metric moved, from where to where."""
    gap, units = reading.gap, reading.units
    about, change = gap.about, gap.aggregate.gap
    low, high = change.interval(reading.level)
    start, end = units.mean(gap.aggregate.start.value), units.mean(gap.aggregate.end.value)
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
    end = reading.gap.aggregate.end
    low, high = end.interval(reading.level)
    if low <= 0 <= high:
        return "the mean prediction is not clearly off there"
    side = "high" if end.value > 0 else "low"
    return f"the mean prediction is now {reading.units.size(end.value)} too {side}"


def main_sentence(reading: Reading) -> str:
    """Every clear part, and near ties with them; or why the tables do not compare."""
    if not reading.gap.aggregate.comparable:
        return reading.gap.aggregate.reason
    clear = [name for name in reading.parts if reading.is_clear(name)]
    unknown = (
        "Its parts are not known well enough to say where it comes from: "
        f"{_parts_in_units(reading, reading.parts)}."
    )
    if not clear:
        if not reading.clear:
            known = not reading.parts or not reading.gap.aggregate.gap.standard_error
            return "" if known else "None of its parts is distinguishable from 0 either."
        return unknown
    if not reading.clear:
        lead = "One part is clear all the same." if len(clear) == 1 else "Its parts may cancel."
        return f"{lead} {_signed(reading, clear)}"
    against = [n for n in clear if reading.parts[n].value * reading.gap.aggregate.gap.value < 0]
    if against and not reading.shares:
        lead = "The parts pull in different directions."
        if len(against) == len(clear):
            lead = "What is clear pulls the other way."
        return f"{lead} {_signed(reading, clear)}"
    named = [
        name
        for name in reading.parts
        if (name in clear or name in _open(reading)) and name not in against
    ]
    if not named:
        return unknown
    said = _in_percent(reading, named) if reading.shares else _in_units(reading, named)
    return f"{_in_sentences(said)}{_what_is_open(reading, named)}"


def _in_sentences(said: Sequence[str], another: str = "Another ") -> str:
    """Up to two parts in one sentence; of more, the first in one of its own."""
    if len(said) <= 2:
        return f"{joined(said)}."
    return f"{said[0]}. {another}{joined(said[1:], len(PART_TITLES))}."


def _signed(reading: Reading, names: Sequence[str]) -> str:
    """Parts with their signs: -4.4 points (95% interval ...) come from ... and +1.5 (...) from."""
    said: list[str] = []
    for name in names:
        part, units = reading.parts[name], reading.units.suited(reading.parts[name])
        span, first = units.span(*part.interval(reading.level)), not said
        size = units.change(part.value) if first else units.bare(part.value, signed=True)
        level = f"{level_name(reading.level)} interval " if first else ""
        verb = f" {_come(reading)}" if first or (len(names) > 2 and len(said) == 1) else ""
        said.append(f"{size} ({level}{span}){verb} from {cause(reading.gap, name)}")
    return _in_sentences(said, another="")


def _open(reading: Reading) -> tuple[str, ...]:
    """The near ties for the largest part, where one of them is clear."""
    several = len(reading.ties) > 1 and any(map(reading.is_clear, reading.ties))
    return reading.ties if several else ()


def _what_is_open(reading: Reading, named: Sequence[str]) -> str:
    ties = _open(reading)
    if ties and len(named) == len(ties):
        return f" Which {'of them is larger' if len(ties) == 2 else 'leads'} is open."
    if ties:
        of = joined([PART_TITLES[name].lower() for name in ties])
        return f" Which of {of} is larger is open."
    largest = next(iter(reading.parts))
    if largest not in named:
        size = _parts_in_units(reading, [largest])
        return f" The largest part, {size}, is not distinguishable from 0."
    others = " The other parts are not distinguishable from 0."
    return others if not reading.shares and len(named) < len(reading.parts) else ""


def _in_percent(reading: Reading, names: Sequence[str]) -> list[str]:
    """68% of the drop (42% to 91%) comes from a different outcome and 22% (3% to 41%) from ..."""
    said: list[str] = []
    for name in names:
        share = reading.shares[name]
        size = percent(share.value, share.standard_error)
        span = percent_interval(share, reading.level)
        whole = f"of the {noun(reading.gap.aggregate.gap.value)}"
        text = f"{size} {whole} ({level_name(reading.level)} interval {span}) comes"
        if share.value > 1 and not said:
            text = f"All {whole} ({size}, {level_name(reading.level)} interval {span}) comes"
        if said:
            text = f"{size} ({span})" + (" comes" if len(names) > 2 and len(said) == 1 else "")
        said.append(f"{text} from {cause(reading.gap, name)}{_above_all(reading, name)}")
    return said


def _in_units(reading: Reading, names: Sequence[str]) -> list[str]:
    whole = f" of the {noun(reading.gap.aggregate.gap.value)} {_come(reading)}"
    verbs = {0: whole, 1: f" {_come(reading)}" if len(names) > 2 else ""}
    return [_amount(reading, n, verbs.get(k, ""), first=k == 0) for k, n in enumerate(names)]


def _come(reading: Reading) -> str:
    """Points come, a number comes."""
    return "come" if reading.units.unit else "comes"


def _amount(reading: Reading, name: str, verb: str, first: bool) -> str:
    part, level = reading.parts[name], reading.level
    units = reading.units.suited(part)
    label = f"{level_name(level)} interval " if first else ""
    span = f"{label}{units.size_span(*part.interval(level))}"
    words = f"{cause(reading.gap, name)}{_above_all(reading, name)}"
    return f"{units.size(part.value)} ({span}){verb} from {words}"


def part_sentence(reading: Reading, name: str) -> str:
    """One part: its size, its interval, its share where that means something, and what it is."""
    part, level = reading.parts[name], reading.level
    units = reading.units.suited(part)
    text = f"{units.change(part.value)} ({level_name(level)} interval "
    text += f"{units.span(*part.interval(level))})"
    if name in reading.shares:
        share = reading.shares[name]
        text += f", {percent(share.value, share.standard_error)} of the "
        text += noun(reading.gap.aggregate.gap.value)
    text += f": {part_words(reading.gap, name)}"
    return text + ("." if reading.is_clear(name) else "; not distinguishable from 0.")


def _parts_in_units(reading: Reading, names: Iterable[str]) -> str:
    said = []
    for name in names:
        part, units = reading.parts[name], reading.units.suited(reading.parts[name])
        size, span = units.change(part.value), units.span(*part.interval(reading.level))
        said.append(f"{PART_TITLES[name].lower()} {size} ({span})")
    return joined(said, len(PART_TITLES))


def _above_all(reading: Reading, name: str) -> str:
    """The variables with the largest shares, where no plainer answer names any."""
    plain = reading.gap.where if name == "outcome" else reading.gap.points
    first = reading.leaders(name) if plain is None else ()
    return f", above all along {joined(first)}" if first else ""
