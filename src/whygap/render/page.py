"""What the HTML page shows of one result, as plain values for the template and the script.

Everything that depends on the confidence level is worked out here for every level of the switch,
so that the page needs no statistics of its own. Only aggregates leave this room, never rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from whygap.fieller import normal_quantile
from whygap.render import phrases
from whygap.render.advice import suggestions
from whygap.render.detail_sentences import detail_sentences
from whygap.render.formats import Sheet
from whygap.render.geometry import Track, Walk, track_of, walk_of
from whygap.render.numbers import level_name, p_value, percent, percent_interval, with_minus
from whygap.render.reading import Reading, readings_of
from whygap.render.revision import Curve
from whygap.render.revision_view import RevisionView, view_of
from whygap.render.sentences import change_sentence, main_sentence, part_sentence
from whygap.render.table import sheet
from whygap.render.words import ASSOCIATION, trust
from whygap.results import Detailed, Gap, Profile

__all__ = ["Page", "page_of"]

LEVELS = (0.8, 0.9, 0.95, 0.99)


@dataclass(frozen=True, slots=True)
class ShareRow:
    """One variable's line at the page's first level; the script changes it for the others.

    `opens` names the variable of the closer look that its name leads to, or is empty.
    """

    name: str
    value: float
    share: str
    p: float
    p_text: str
    adjusted: str
    columns: tuple[str, ...]
    is_base: bool
    opens: str


@dataclass(frozen=True, slots=True)
class DetailView:
    """One detailed part."""

    part: str
    defined: bool
    rows: tuple[ShareRow, ...]
    track: Track


@dataclass(frozen=True, slots=True)
class Page:
    """One result, ready to be shown.

    Attributes:
        levels: level key -> everything that changes with it (see `_at_level`).
        first: the key of the level shown first.
    """

    gap: Gap
    metric: str
    source_mean: str
    target_mean: str
    change: str
    walk: Walk
    details: tuple[DetailView, ...]
    sheet: Sheet
    trust: tuple[str, ...]
    levels: dict[str, Any]
    first: str
    revision: RevisionView | None = None

    @property
    def now(self) -> dict[str, Any]:
        """What the first level shows."""
        shown: dict[str, Any] = self.levels[self.first]
        return shown

    @property
    def closer(self) -> str:
        """The variable of the closer look: the largest outcome share, else the first there is."""
        rows = [row for view in reversed(self.details) for row in view.rows if row.opens]
        told = [profile.variable for profile in self.gap.profiles]
        return next((row.opens for row in rows), next(iter(told), ""))

    def payload(self) -> dict[str, Any]:
        """What the script needs."""
        return {
            "first": self.first,
            "levels": self.levels,
            "rows": {
                view.part: [
                    [row.name, row.share, row.p_text, row.adjusted, row.value, row.p]
                    for row in view.rows
                ]
                for view in self.details
            },
            "profiles": [_profile(profile) for profile in self.gap.profiles],
            "share": self.gap.about.is_share,
            "names": [self.gap.about.source_name, self.gap.about.target_name],
        }


def page_of(
    gap: Gap, level: float, levels: Iterable[float] = LEVELS, curve: Curve | None = None
) -> Page:
    """Work out everything the page shows, at `level` and at the others of the switch."""
    levels = sorted({*levels, round(level, 6)})
    readings = {_key(reading.level): reading for reading in readings_of(gap, levels)}
    walk = walk_of(gap, levels)
    tracks = {part: track_of(detail, levels) for part, detail in gap.details().items()}
    first = readings[_key(level)]
    units, aggregate = first.units, gap.aggregate
    revision = None if curve is None else view_of(curve, levels)
    return Page(
        gap=gap,
        metric=phrases.metric_name(gap.about),
        source_mean=units.mean(aggregate.mean_000.value),
        target_mean=units.mean(aggregate.mean_111.value),
        change=units.change(aggregate.gap.value),
        walk=walk,
        details=tuple(_detail(gap, detail, tracks[part]) for part, detail in gap.details().items()),
        sheet=sheet(gap, level),
        trust=tuple(line for line in trust(gap) if line != ASSOCIATION),
        levels={
            key: _at_level(reading, walk, tracks) | _revision_at(revision, reading.level)
            for key, reading in readings.items()
        },
        first=_key(level),
        revision=revision,
    )


def _key(level: float) -> str:
    return f"{level:.6g}"


def _at_level(reading: Reading, walk: Walk, tracks: dict[str, Track]) -> dict[str, Any]:
    gap, level = reading.gap, reading.level
    order = [name for name in gap.aggregate.parts() if name in reading.parts]
    low, high = gap.aggregate.gap.interval(level)
    shown: dict[str, Any] = {
        "name": level_name(level),
        "z": round(normal_quantile(level), 6),
        "change": change_sentence(reading),
        "main": main_sentence(reading),
        "span": reading.units.span(low, high),
        "spans": [reading.units.span(*reading.parts[name].interval(level)) for name in order],
        "parts": [[name, part_sentence(reading, name), reading.is_clear(name)] for name in order],
        "details": {name: detail_sentences(reading, name, listed=False) for name in gap.details()},
        "advice": suggestions(reading),
        "walk": walk.at(level),
        "shares": {
            part: _shares_at(reading, detail, tracks[part])
            for part, detail in gap.details().items()
        },
        "table": [line[3] for part in sheet(gap, level).sections for line in part.lines],
    }
    return {key: _with_minus(value) for key, value in shown.items()}


def _revision_at(revision: RevisionView | None, level: float) -> dict[str, Any]:
    return {} if revision is None else {"revision": _with_minus(revision.at(level))}


def _with_minus(value: Any) -> Any:
    """Real minus signs in every text."""
    if isinstance(value, str):
        return with_minus(value)
    if isinstance(value, list):
        return [_with_minus(item) for item in value]
    if isinstance(value, dict):
        return {key: _with_minus(item) for key, item in value.items()}
    return value


def _shares_at(reading: Reading, detail: Detailed, track: Track) -> list[list[Any]]:
    """Per line: whisker from, to (percent of the track), interval, standing, ranks."""
    if not detail.defined:
        return []
    standing, lines = reading.standings[detail.part], []
    tag = "largest" if standing.alone else "may be largest"
    tag = "" if len(standing.top) == len(detail.players) else tag
    for name, share in _ordered(detail):
        rank = standing.ranks.get(name)
        ranks = "" if rank is None else f"{rank.best} to {rank.worst}"
        lines.append(
            [
                *track.span(*share.interval(reading.level)),
                percent_interval(share, reading.level),
                tag if name in standing.top else "",
                ranks,
            ]
        )
    return lines


BASE_NAME = "recalibration alone"


def _ordered(detail: Detailed) -> list[tuple[str, Any]]:
    """The base first, then the shares from the largest down."""
    base = [] if detail.part == "covariate" or detail.base is None else [(BASE_NAME, detail.base)]
    return [*base, *sorted(detail.shares.items(), key=lambda item: -item[1].value)]


def _detail(gap: Gap, detail: Detailed, track: Track) -> DetailView:
    if not detail.defined:
        return DetailView(detail.part, False, (), track)
    adjusted = detail.adjusted_p_values()
    told = {profile.variable for profile in gap.profiles}
    rows = []
    for name, share in _ordered(detail):
        is_base = name not in detail.shares
        columns = tuple(gap.about.players.get(name, ()))
        rows.append(
            ShareRow(
                name=name,
                value=share.value,
                share=with_minus(percent(share.value, share.standard_error)),
                p=share.p_value(),
                p_text=p_value(share.p_value()),
                adjusted="" if is_base else p_value(adjusted[name]),
                columns=columns,
                is_base=is_base,
                opens=next((one for one in (name, *columns) if one in told), ""),
            )
        )
    return DetailView(detail.part, True, tuple(rows), track)


def _profile(profile: Profile) -> dict[str, Any]:
    def short(values: tuple[float, ...]) -> list[float | None]:
        return [float(f"{value:.6g}") if value == value else None for value in values]

    return {
        "variable": profile.variable,
        "bins": list(profile.bins),
        "source": short(profile.source_share),
        "target": short(profile.target_share),
        "gap": short(profile.gap),
        "error": short(profile.gap_error),
    }
