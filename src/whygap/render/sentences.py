"""Sentences on the gap and its three parts, each with its interval."""

from __future__ import annotations

from collections.abc import Mapping

from whygap.render.numbers import level_name, percent, percent_interval, units_of
from whygap.render.phrases import (
    capital,
    direction,
    in_domain,
    joined,
    metric_name,
    named,
    noun,
    part_words,
)
from whygap.render.reading import Reading, excludes_zero
from whygap.results import Gap

__all__ = ["change_sentence", "main_sentence", "many_sentence", "part_sentence"]


def change_sentence(reading: Reading) -> str:
    """How far the metric moved, from where to where."""
    gap, units = reading.gap, reading.units
    about, change = gap.about, gap.aggregate.gap
    low, high = change.interval(reading.level)
    start, end = units.mean(gap.aggregate.mean_000.value), units.mean(gap.aggregate.mean_111.value)
    ends = f"from {start} {in_domain(about, 'source')} to {end} {in_domain(about, 'target')}"
    level, metric = level_name(reading.level), metric_name(about)
    if not reading.clear:
        return (
            f"These data cannot tell whether {metric} differs between {named(about, 'source')} "
            f"and {named(about, 'target')}: it moved {ends}, a change of "
            f"{units.change(change.value)} whose {level} interval, {units.span(low, high)}, "
            "includes 0."
        )
    verb = "fell" if change.value < 0 else "rose"
    judged = direction(about, change.value)
    obvious = about.higher_is_better is True
    verdict = f": the model does {judged} there" if judged and not obvious else ""
    return (
        f"{capital(metric)} {verb} by {units.size(change.value)} "
        f"({level} interval {units.size_span(low, high)}), {ends}{verdict}."
    )


def many_sentence(gaps: Mapping[str, Gap], level: float) -> str:
    """In how many targets the metric moved, and where the most."""
    metric = capital(metric_name(next(iter(gaps.values())).about))
    clear = {n: g for n, g in gaps.items() if excludes_zero(g.aggregate.gap, level)}
    fell = sum(gap.aggregate.gap.value < 0 for gap in clear.values())
    rose, unclear = len(clear) - fell, len(gaps) - len(clear)
    counts = [
        f"{verb} in {number}"
        for verb, number in (("fell", fell), ("rose", rose), ("did not clearly change", unclear))
        if number
    ]
    text = f"{metric} {joined(counts)} of {len(gaps)} targets"
    if not clear:
        return f"{text}."
    name, most = max(clear.items(), key=lambda item: abs(item[1].aggregate.gap.value))
    units, change = units_of(most), most.aggregate.gap
    return (
        f"{text}, most for {name}: {units.change(change.value)} ({level_name(level)} interval "
        f"{units.span(*change.interval(level))})."
    )


def main_sentence(reading: Reading) -> str:
    """Where most of it comes from."""
    if not reading.parts:
        return ""
    name = reading.largest
    if not any(reading.is_clear(part) for part in reading.parts):
        return (
            "None of its parts can be told from 0 either."
            if not reading.clear
            else (
                "Its parts are not known well enough to say where it comes from: "
                f"{_parts_in_units(reading)}."
            )
        )
    if not reading.shares:
        return _without_percentages(reading)
    share = reading.shares[name]
    change = reading.gap.aggregate.gap.value
    size = percent(share.value, share.standard_error)
    span = f"{level_name(reading.level)} interval {percent_interval(share, reading.level)}"
    how_much = f"{size} of the {noun(change)} ({span})"
    if share.value > 1:
        how_much = f"All of the {noun(change)} ({size}, {span})"
    return f"{how_much} comes from {part_words(reading.gap, name)}{_above_all(reading, name)}."


def _without_percentages(reading: Reading) -> str:
    """Percentages of the gap would mislead: it may be 0, or parts work against each other."""
    if not reading.clear:
        return f"Parts may cancel, so read them one by one: {_parts_in_units(reading)}."
    change = reading.gap.aggregate.gap.value
    clear = [name for name in reading.parts if reading.is_clear(name)]
    if len(clear) == 1 and reading.parts[clear[0]].value * change > 0:
        part, level = reading.parts[clear[0]], reading.level
        return (
            f"{reading.units.size(part.value)} ({level_name(level)} interval "
            f"{reading.units.size_span(*part.interval(level))}) of the {noun(change)} "
            f"come from {part_words(reading.gap, clear[0])}{_above_all(reading, clear[0])}; the "
            "other parts cannot be told from 0."
        )
    return (
        "The parts pull in different directions, so read them one by one: "
        f"{_parts_in_units(reading)}."
    )


def part_sentence(reading: Reading, name: str) -> str:
    """One part: its size, its interval, its share where that means something, and what it is."""
    part, units, level = reading.parts[name], reading.units, reading.level
    text = f"{units.change(part.value)} ({level_name(level)} interval "
    text += f"{units.span(*part.interval(level))})"
    if name in reading.shares:
        share = reading.shares[name]
        text += f", {percent(share.value, share.standard_error)} of the "
        text += noun(reading.gap.aggregate.gap.value)
    text += f": {part_words(reading.gap, name)}"
    return text + ("." if reading.is_clear(name) else "; cannot be told from 0.")


def _parts_in_units(reading: Reading) -> str:
    labels = {"baseline": "baseline", "covariate": "covariates", "outcome": "outcome"}
    spans = [
        f"{labels[name]} {reading.units.change(part.value)} "
        f"({reading.units.span(*part.interval(reading.level))})"
        for name, part in reading.parts.items()
    ]
    return joined(spans)


def _above_all(reading: Reading, name: str) -> str:
    first = reading.leaders(name)
    return f", above all along {joined(first)}" if first else ""
