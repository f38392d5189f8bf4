"""Sentences on the parts of a change: where it comes from, each part with its interval."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from whygap.render.phrases import cause, joined, noun, part_words
from whygap.render.reading import Reading
from whygap.render.units import level_name, percent, percent_interval


def main_sentence(reading: Reading) -> str:
    """Every clear part, and near ties with them; or why the tables do not compare."""
    if not reading.gap.comparable:
        return reading.gap.reason
    clear = [name for name in reading.parts if reading.is_clear(name)]
    unknown = (
        "Its parts are not known well enough to say where it comes from: "
        f"{_parts_in_units(reading, reading.parts)}."
    )
    if not clear:
        if not reading.clear:
            known = not reading.parts or not reading.gap.total.standard_error
            return "" if known else "None of its parts is distinguishable from 0 either."
        return unknown
    if not reading.clear:
        lead = "One part is clear all the same." if len(clear) == 1 else "Its parts may cancel."
        return f"{lead} {_signed(reading, clear)}"
    against = [n for n in clear if reading.parts[n].value * reading.gap.total.value < 0]
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
    return f"{said[0]}. {another}{joined(said[1:], len(said))}."


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
        of = joined([reading.gap.parts[name].label.lower() for name in ties])
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
        whole = f"of the {noun(reading.gap.total.value)}"
        text = f"{size} {whole} ({level_name(reading.level)} interval {span}) comes"
        if share.value > 1 and not said:
            text = f"All {whole} ({size}, {level_name(reading.level)} interval {span}) comes"
        if said:
            text = f"{size} ({span})" + (" comes" if len(names) > 2 and len(said) == 1 else "")
        said.append(f"{text} from {cause(reading.gap, name)}{_above_all(reading, name)}")
    return said


def _in_units(reading: Reading, names: Sequence[str]) -> list[str]:
    whole = f" of the {noun(reading.gap.total.value)} {_come(reading)}"
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
        text += noun(reading.gap.total.value)
    text += f": {part_words(reading.gap, name)}"
    return text + ("." if reading.is_clear(name) else "; not distinguishable from 0.")


def _parts_in_units(reading: Reading, names: Iterable[str]) -> str:
    said = []
    for name in names:
        part, units = reading.parts[name], reading.units.suited(reading.parts[name])
        size, span = units.change(part.value), units.span(*part.interval(reading.level))
        said.append(f"{reading.gap.parts[name].label.lower()} {size} ({span})")
    return joined(said, len(said))


def _above_all(reading: Reading, name: str) -> str:
    """The variables with the largest shares, where no plainer answer names any."""
    plain = reading.gap.affected if name == "outcome" else reading.gap.points
    first = () if plain else reading.leaders(name)
    return f", above all along {joined(first)}" if first else ""
