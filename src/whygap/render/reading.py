"""What may be claimed of a result at one level; decided once for words, figures and the page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from whygap.estimate import Estimate, Interval
from whygap.render.units import Units, units_of
from whygap.results import Affected, Gap, RankInterval, Rule, Shares

FEW = 3  # a sentence names at most this many variables
SHOWN = 4  # variables or groups in one sentence; a list of more is read as a table
TIE = 0.5  # of the largest: half as large is no near tie in a reader's eyes
RULE_LEVEL = 0.95  # rules are confirmed at this level, whatever level is shown
MOST_ROWS = 2 / 3  # of the target: who is "hit hardest" among all rows is no answer


@dataclass(frozen=True, slots=True)
class Standing:
    """Which variables of a detailed part can be told apart.

    Attributes:
        top: may have the largest share (`Points.first`), largest first.
        sure: above 0 even when all variables are looked at together (max-t over what decides the
            order), largest first.
        ranks: the ranks that the data do not exclude.
    """

    top: tuple[str, ...] = ()
    sure: tuple[str, ...] = ()
    ranks: Mapping[str, RankInterval] = field(default_factory=dict)

    def leaders(self) -> tuple[str, ...]:
        """The few variables worth naming: the top group if it is small, else the sure ones."""
        if len(self.top) <= FEW and set(self.top) <= set(self.sure):
            return self.top
        return self.sure[:FEW]

    def rank_span(self, name: str) -> str:
        """The ranks of one variable, best to worst; nothing where it has none."""
        rank = self.ranks.get(name)
        return "" if rank is None else f"{rank.best} to {rank.worst}"

    @property
    def alone(self) -> bool:
        """Whether one variable is larger than every other."""
        return len(self.top) == 1


@dataclass(frozen=True, slots=True)
class Hit:
    """Rows that carry more of the outcome part than their number would.

    Attributes:
        words: which rows, to follow "rows where".
        share: of the target's rows.
        points: their contribution to the outcome part.
        interval: of the points, simultaneous over all groups or rules that were looked at.
        level: of that interval; a rule keeps the one it was confirmed at.
        change: mean change within the rows; None where they are too few.
        excess: points beyond what their share of rows would carry.
        beyond_share: whether the excess is clear, all groups looked at; of confirmed rules it is.
        is_rule: whether it is a confirmed rule, not a group.
    """

    words: str
    share: float
    points: Estimate
    interval: Interval
    level: float
    change: Estimate | None
    excess: float
    beyond_share: bool
    is_rule: bool = False

    @property
    def rows(self) -> tuple[float, float]:
        """The same for the same rows, in whatever words: a label of 0, a score of at most 0.5."""
        return round(self.share, 12), round(self.points.value, 12)

    @property
    def is_clear(self) -> bool:
        """Whether 0 lies outside the simultaneous interval."""
        return self.interval.excludes(0.0)

    def change_interval(self) -> tuple[float, float]:
        """Of the mean change, as much widened for looking at all groups as that of the points."""
        if self.change is None or not self.points.standard_error:
            return math.nan, math.nan
        widened = (self.interval[1] - self.interval[0]) / (2 * self.points.standard_error)
        half = widened * self.change.standard_error
        return self.change.value - half, self.change.value + half


@dataclass(frozen=True, slots=True)
class Reading:
    """What can be said of a result at one level.

    Attributes:
        clear: the gap is distinguishable from 0.
        shares: part -> share of the gap; empty where percentages of it would mislead.
        parts: the parts that exist (no baseline variables: no baseline part), largest first; near
            ties in the order of the walk, so that a little noise does not turn a sentence over.
        ties: the largest part and those that may be as large.
        standings: detailed part -> which variables can be told apart.
        hits: rows that carry more of the outcome part than their number, the most telling first.
    """

    gap: Gap
    level: float
    units: Units
    clear: bool
    shares: dict[str, Estimate]
    parts: dict[str, Estimate]
    ties: tuple[str, ...]
    standings: dict[str, Standing]
    hits: tuple[Hit, ...]

    def is_clear(self, part: str) -> bool:
        """Whether this part is distinguishable from 0."""
        return self.parts[part].excludes_zero(self.level)

    def leaders(self, part: str) -> tuple[str, ...]:
        """The variables worth naming in a sentence on this part."""
        return self.standings[part].leaders() if part in self.standings else ()

    def clear_points(self, part: str) -> list[str]:
        """Variables of a part whose points are not 0, largest first."""
        points = self.gap.points.get(part)
        return points.significant(self.level) if points else []

    def clear_hits(self) -> list[Hit]:
        """Groups and confirmed rules that are clearly hit, and more than their share.

        Where none is hit more than its share: those that are clearly hit, of at most two thirds of
        the rows.
        """
        clear = [hit for hit in self.hits if hit.is_clear]
        more = [hit for hit in clear if hit.beyond_share]
        return more or [hit for hit in clear if hit.share <= MOST_ROWS]


def reading_of(gap: Gap, level: float) -> Reading:
    """Read a result at one level."""
    return readings_of(gap, [level])[0]


def readings_of(gap: Gap, levels: Sequence[float]) -> list[Reading]:
    """Read a result at several levels."""
    parts = gap.parts
    found = {name: gap.share_of_total(name) for name in parts}
    shares = {name: share for name, share in found.items() if share is not None}
    # A part 5% or more against the gap makes percentages of it misleading.
    inside = all(-0.05 <= share.value <= 1.05 for share in shares.values())
    meaningful = shares if inside and len(shares) == len(parts) else {}
    orders = [_near_ties(gap, parts, level) for level in levels]
    return [
        Reading(
            gap=gap,
            level=level,
            units=units_of(gap),
            clear=(clear := gap.total.excludes_zero(level)),
            shares=meaningful if clear else {},
            parts={name: parts[name] for group in order for name in group},
            ties=tuple(order[0]) if order else (),
            standings={name: _standing(detail, level) for name, detail in gap.shares.items()},
            hits=hits_of(gap, level),
        )
        for level, order in zip(levels, orders, strict=True)
    ]


def _near_ties(gap: Gap, parts: Mapping[str, Estimate], level: float) -> list[list[str]]:
    """Parts in groups, the largest first; within a group, which is largest is open."""
    left, groups = list(parts), []
    while left:
        first = max(left, key=lambda name: abs(parts[name].value))
        groups.append([n for n in left if n == first or _is_tie(gap, first, n, level)])
        left = [name for name in left if name not in groups[-1]]
    return groups


def _is_tie(gap: Gap, first: str, name: str, level: float) -> bool:
    size = gap.parts[first].value
    alike = size != 0 and gap.parts[name].value / size > TIE
    return alike and not gap.difference(first, name).excludes_zero(level)


def hits_of(gap: Gap, level: float) -> tuple[Hit, ...]:
    """Rules and groups that carry more than their share: the clear ones first, by how much."""
    distinct: dict[tuple[float, float], Hit] = {}
    for part, affected in gap.affected.items():
        rules = _rule_hits(affected, gap.parts[part].value)
        for hit in (*rules, *_group_hits(affected, level)):
            distinct.setdefault(hit.rows, hit)
    telling = [hit for hit in distinct.values() if hit.excess * hit.points.value > 0]

    def place(hit: Hit) -> tuple[bool, bool, float, str]:
        return not hit.is_clear, not hit.beyond_share, -abs(hit.excess), hit.words

    return tuple(sorted(telling, key=place))


def _group_hits(where: Affected, level: float) -> list[Hit]:
    each = zip(
        where.groups,
        where.simultaneous(level),
        where.excess(),
        where.simultaneous_excess(level),
        strict=True,
    )
    return [
        Hit(
            f"{group.variable} is {group.label}",
            group.target_share,
            group.points,
            ends,
            level,
            group.change,
            excess.value,
            beyond.excludes(0.0),
        )
        for group, ends, excess, beyond in each
        if group.target_share < 1
    ]


def _rule_hits(where: Affected, whole: float) -> list[Hit]:
    return [
        Hit(
            _rule_words(rule),
            rule.target_share,
            rule.points,
            rule.interval,
            RULE_LEVEL,
            rule.change,
            rule.points.value - rule.target_share * whole,
            beyond_share=True,
            is_rule=True,
        )
        for rule in where.rules
    ]


def widening(gap: Gap, level: float) -> dict[str, list[float]]:
    """By variable and group: standard errors on either side of its simultaneous interval."""
    wide: dict[str, list[float]] = {}
    for affected in gap.affected.values():
        for group, (low, high) in zip(affected.groups, affected.simultaneous(level), strict=True):
            error = group.points.standard_error
            wide.setdefault(group.variable, []).append((high - low) / (2 * error) if error else 0.0)
    return wide


def _rule_words(rule: Rule) -> str:
    """Such as: age is above 25 and sex is Female."""
    asked = [one.without_name() for one in rule.conditions]
    asked = [text if text.startswith("is ") else f"is {text}" for text in asked]
    first = rule.conditions[0].variable
    same = [k > 0 and one.variable == first for k, one in enumerate(rule.conditions)]
    named = zip(rule.conditions, asked, same, strict=True)
    return " and ".join(text if known else f"{one.variable} {text}" for one, text, known in named)


def _standing(detail: Shares, level: float) -> Standing:
    if not detail.values:
        return Standing()
    together = detail.values.numerators().simultaneous(level)
    ordered = sorted(detail.players, key=lambda name: -detail.values[name].value)
    return Standing(
        top=detail.values.first(level),
        sure=tuple(name for name in ordered if together[name][0] > 0),
        ranks=detail.ranking(level),
    )
