"""Several targets in words: where the metric moved, who differs from the rest, through what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from whygap.estimate import Interval
from whygap.render import frame
from whygap.render.formats import wrapped
from whygap.render.phrases import capital, joined, metric_name
from whygap.render.units import Units, level_name, units_of
from whygap.results import Gap
from whygap.results.several import apart, every_gap, every_part
from whygap.tables import native_table

NAMED = 3  # targets named in a sentence; the figure and the table have all


def to_frame(gaps: Mapping[str, Gap], level: float) -> Any:
    """Return one tidy table: `target`, the columns of one result's table, and its problems."""
    lines = [(name, row) for name, gap in gaps.items() for row in frame.rows(gap, level)]
    columns: dict[str, list[Any]] = {"target": [name for name, _ in lines]}
    for field in fields(frame.Row):
        columns[field.name] = [getattr(row, field.name) for _, row in lines]
    problems = {name: " ".join(gap.problems()) for name, gap in gaps.items()}
    columns["problems"] = [problems[name] for name, _ in lines]
    return native_table(columns, next(iter(gaps.values())).table_kind)


def summary(gaps: Mapping[str, Gap], level: float, unfinished: Sequence[str] = ()) -> str:
    """Return plain words: all targets in a sentence, then a section for each."""
    told = many_sentences(gaps, level) if len(gaps) > 1 else []
    sections = ["\n".join(map(wrapped, told))] if told else []
    sections += [
        f"{name}\n{'=' * len(name)}\n{gap.summary(level).rstrip()}" for name, gap in gaps.items()
    ]
    if unfinished:
        sections.append(f"Not finished, because you interrupted: {', '.join(unfinished)}.")
    return "\n\n".join(sections) + "\n"


def many_sentence(gaps: Mapping[str, Gap], level: float) -> str:
    """In how many targets the metric moved, all looked at together, and where the most."""
    every, metric = every_gap(gaps), _metric(gaps)
    clear = every.significant(level)
    fell = [name for name in clear if every.estimates[name].value < 0]
    counts = {
        "fell": len(fell),
        "rose": len(clear) - len(fell),
        "did not clearly change": len(gaps) - len(clear),
    }
    told = [f"{verb} in {number}" for verb, number in counts.items() if number]
    every_target = f"{len(gaps)} targets, looked at together."
    if not clear:
        return f"{capital(metric)} did not clearly change in any of {every_target}"
    text = f"{capital(metric)} {joined(told)} of {every_target}"
    most = max(clear, key=lambda name: abs(every.estimates[name].value))
    units, change = units_of(gaps[most]), every.estimates[most]
    return (
        f"{text} It moved most for {most}: {units.change(change.value)} ({level_name(level)} "
        f"interval {units.span(*every.intervals(level)[most])})."
    )


def many_sentences(gaps: Mapping[str, Gap], level: float) -> list[str]:
    """Everything worth saying of all targets together."""
    return [many_sentence(gaps, level), _who_differs(gaps, level), *_through_what(gaps, level)]


def shared_units(gaps: Mapping[str, Gap]) -> Units:
    """One way to write all targets: as many digits as the least known of them supports."""
    every = [units_of(gap) for gap in gaps.values()]
    return min(every, key=lambda one: (one.letter == "", one.decimals or 0))


def differing(gaps: Mapping[str, Gap], level: float) -> dict[str, Interval]:
    """Targets whose metric is not the mean over targets, all looked at together; by how far."""
    found = apart(gaps).simultaneous(level) if len(gaps) > 1 else {}
    return {name: ends for name, ends in found.items() if ends.excludes(0.0)}


def _who_differs(gaps: Mapping[str, Gap], level: float) -> str:
    found, distance, units = differing(gaps, level), apart(gaps), shared_units(gaps)
    if not found:
        return f"No target differs clearly from the mean of all {len(gaps)} targets."
    sides = {
        "below": [name for name in found if distance[name].value < 0],
        "above": [name for name in found if distance[name].value > 0],
    }
    told = []
    for side, names in sides.items():
        names.sort(key=lambda name: -abs(distance[name].value))
        each = [
            f"{name} (by {units.size(distance[name].value)}, {units.size_span(*found[name])})"
            for name in names
        ]
        told += [f"{side} it for {joined(each, NAMED)}"] if names else []
    about = f"Compared with its mean over all {len(gaps)} targets, {_metric(gaps)} is clearly"
    return f"{about} {joined(told)}."


def _through_what(gaps: Mapping[str, Gap], level: float) -> Iterator[str]:
    parts = {one.label.lower(): len(one.significant(level)) for one in every_part(gaps)}
    if not parts:
        return
    clear = sorted((part for part in parts if parts[part]), key=lambda part: -parts[part])
    if not clear:
        yield "No part of the change is clear in any target."
        return
    first, *rest = ((part, parts[part]) for part in clear)
    told = [f"{first[0]} is clear in {first[1]}", *(f"{name} in {count}" for name, count in rest)]
    yield f"Of the parts of the change, {joined(told, len(told))} of {len(gaps)} targets."


def _metric(gaps: Mapping[str, Gap]) -> str:
    return metric_name(next(iter(gaps.values())).about)
