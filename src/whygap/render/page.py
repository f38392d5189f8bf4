"""What the HTML page shows of one result, as plain values for the template and the script.

Everything that depends on the confidence level is worked out here for every level of the switch,
so that the page needs no statistics of its own. Only aggregates leave this room, never rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from whygap.fieller import normal_quantile
from whygap.render import phrases
from whygap.render.advice import suggestions
from whygap.render.detail_sentences import detail_sentences
from whygap.render.formats import Sheet
from whygap.render.numbers import level_name, percent_interval, with_minus
from whygap.render.reading import Reading, readings_of
from whygap.render.revision import Curve, revision_sentences
from whygap.render.style import label
from whygap.render.table import sheet
from whygap.render.views import (
    Scale,
    ShareLine,
    Shares,
    Step,
    Walk,
    share_limits,
    shares_of,
    walk_of,
)
from whygap.render.words import (
    ASSOCIATION,
    change_sentence,
    main_sentence,
    part_sentence,
    trust,
)
from whygap.results import Gap, Profile

__all__ = ["Page", "page_of"]

LEVELS = (0.8, 0.9, 0.95, 0.99)  # of the switch; the level asked for joins them
TOP, BOTTOM = 26.0, 250.0  # pixels from the top of the walk between which its values stand
LEFT, RIGHT = 13.0, 91.0  # percent of the walk's width: room for ticks, and for the last label
BAR = 0.3  # half a bar of the walk, as a share of the distance between two columns


@dataclass(frozen=True, slots=True)
class WalkDrawing:
    """The walk on the page: columns across in percent, values down in pixels."""

    walk: Walk
    scale: Scale

    @property
    def gap(self) -> float:
        """Percent between two columns."""
        return (RIGHT - LEFT) / (len(self.walk.steps) - 1)

    @property
    def half(self) -> float:
        """Half a bar, in percent."""
        return round(BAR * self.gap, 2)

    def x(self, column: int) -> float:
        """Where a column stands."""
        return round(LEFT + self.gap * column, 2)

    def lines(self, step: Step) -> list[str]:
        """A column's name, on as many lines as it needs."""
        return [step.name] if step.is_part else label(step.name, 11, lines=3).split("\n")

    def at(self, level: float) -> list[list[Any]]:
        """Per column: the whisker's top and bottom, the label's height, clear of 0 or not."""
        return [self._whisker(step, level) for step in self.walk.steps]

    def _whisker(self, step: Step, level: float) -> list[Any]:
        bottom, top = map(self.scale.at, step.whisker(level))
        edges = [top, bottom, self.scale.at(step.start), self.scale.at(step.end)]
        place = max(edges) + 16 if step.end < step.start else min(edges) - 7
        return [top, bottom, round(place, 2), step.is_clear(level)]


@dataclass(frozen=True, slots=True)
class SharesDrawing:
    """The shares of one part on the page, on one scale at every level."""

    shares: Shares
    scale: Scale

    def at(self, reading: Reading) -> list[list[Any]]:
        """Per line: whisker from, to, interval, standing, ranks."""
        standing = reading.standings[self.shares.part]
        tag = "largest" if standing.alone else "may be largest"
        tag = "" if len(standing.top) == len(standing.ranks) else tag
        return [
            [
                *map(self.scale.at, line.estimate.interval(reading.level)),
                percent_interval(line.estimate, reading.level),
                tag if line.name in standing.top else "",
                standing.rank_span(line.name),
            ]
            for line in self.shares.lines
        ]


@dataclass(frozen=True, slots=True)
class RevisionDrawing:
    """The gains of a revision on the page, on one scale at every level."""

    curve: Curve
    scale: Scale

    def at(self, level: float) -> dict[str, Any]:
        """Words, and per choice: whisker from, to, interval."""
        units, rows = self.curve.units, []
        for choice in (c for choices in self.curve.groups().values() for c in choices):
            ends = choice.gain.interval(level)
            text = "" if choice.kind == "original" else units.span(*ends)
            rows.append([*map(self.scale.at, ends), text])
        return {"words": revision_sentences(self.curve, level), "rows": rows}


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
    walk: WalkDrawing
    details: tuple[SharesDrawing, ...]
    sheet: Sheet
    trust: tuple[str, ...]
    levels: dict[str, Any]
    first: str
    revision: RevisionDrawing | None = None

    @property
    def now(self) -> dict[str, Any]:
        """What the first level shows."""
        shown: dict[str, Any] = self.levels[self.first]
        return shown

    def profile_of(self, line: ShareLine) -> str:
        """The variable of the closer look that a line's name leads to, or nothing."""
        known = {profile.variable for profile in self.gap.profiles}
        return next((name for name in (line.name, *line.columns) if name in known), "")

    @property
    def closer(self) -> str:
        """The variable of the closer look: the largest outcome share, else the first there is."""
        lines = [line for one in reversed(self.details) for line in one.shares.lines]
        opened = [self.profile_of(line) for line in lines]
        profiles = [profile.variable for profile in self.gap.profiles]
        return next(filter(None, [*opened, *profiles]), "")

    def payload(self) -> dict[str, Any]:
        """What the script needs."""
        return {
            "first": self.first,
            "levels": self.levels,
            "rows": {one.shares.part: [*map(_row, one.shares.lines)] for one in self.details},
            "profiles": [_profile(profile) for profile in self.gap.profiles],
            "share": self.gap.about.is_share,
            "names": [self.gap.about.source_name, self.gap.about.target_name],
        }


def page_of(
    gap: Gap, level: float, levels: Iterable[float] = LEVELS, curve: Curve | None = None
) -> Page:
    """Work out everything the page shows, at `level` and at the others of the switch."""
    levels = sorted({*levels, round(level, 6)})
    walk = walk_of(gap)
    drawing = WalkDrawing(walk, Scale(*walk.limits(levels[-1], 0.12), walk.units.tick, BOTTOM, TOP))
    details = tuple(_shares(gap, part, levels[-1]) for part in gap.details())
    revision = None
    if curve is not None:
        scale = Scale(*curve.limits(levels[-1]), curve.units.gain_tick)
        revision = RevisionDrawing(curve, scale)
    aggregate, units = gap.aggregate, walk.units
    return Page(
        gap=gap,
        metric=phrases.metric_name(gap.about),
        source_mean=units.mean(aggregate.start.value),
        target_mean=units.mean(aggregate.end.value),
        change=units.change(aggregate.gap.value),
        walk=drawing,
        details=details,
        sheet=sheet(gap, level),
        trust=tuple(line for line in trust(gap) if line != ASSOCIATION),
        levels={
            _key(reading.level): _at_level(reading, drawing, details, revision)
            for reading in readings_of(gap, levels)
        },
        first=_key(level),
        revision=revision,
    )


def _key(level: float) -> str:
    return f"{level:.6g}"


def _shares(gap: Gap, part: str, widest: float) -> SharesDrawing:
    shares = shares_of(gap, part)
    limits = share_limits([line.estimate for line in shares.lines], widest)
    return SharesDrawing(shares, Scale(*limits, lambda tick: f"{100 * tick:,.4g}%"))


def _at_level(
    reading: Reading,
    walk: WalkDrawing,
    details: Sequence[SharesDrawing],
    revision: RevisionDrawing | None,
) -> dict[str, Any]:
    gap, level = reading.gap, reading.level
    order = [step.key for step in walk.walk.steps if step.is_part]
    shown: dict[str, Any] = {
        "name": level_name(level),
        "z": round(normal_quantile(level), 6),
        "change": change_sentence(reading),
        "main": main_sentence(reading),
        "span": reading.units.span(*gap.aggregate.gap.interval(level)),
        "spans": [reading.units.span(*reading.parts[name].interval(level)) for name in order],
        "parts": [[name, part_sentence(reading, name), reading.is_clear(name)] for name in order],
        "details": {name: detail_sentences(reading, name, listed=False) for name in gap.details()},
        "advice": suggestions(reading),
        "walk": walk.at(level),
        "shares": {one.shares.part: one.at(reading) for one in details},
        "table": [line[-1] for part in sheet(gap, level).sections for line in part.lines],
    }
    if revision is not None:
        shown["revision"] = revision.at(level)
    return {key: _with_minus(value) for key, value in shown.items()}


def _with_minus(value: Any) -> Any:
    """Real minus signs in every text."""
    if isinstance(value, str):
        return with_minus(value)
    if isinstance(value, list):
        return [_with_minus(item) for item in value]
    if isinstance(value, dict):
        return {key: _with_minus(item) for key, item in value.items()}
    return value


def _row(line: ShareLine) -> list[Any]:
    share = line.estimate
    return [line.name, line.share, line.p, line.adjusted, share.value, share.p_value()]


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
