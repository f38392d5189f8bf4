"""A result that may leave the room: no level of few rows is named, counts are rounded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from whygap.domains import ByDomain
from whygap.errors import SettingsError
from whygap.estimate import Estimate
from whygap.results.about import About
from whygap.results.culprits import Group, Where
from whygap.results.overlap import not_comparable_note

if TYPE_CHECKING:
    from whygap.results.gap import Gap

__all__ = ["FEW", "redacted", "require_few"]

FEW = 10  # rows below which offices of statistics do not publish a cell, as a rule
FEW_ROWS = "(levels of few rows)"


def redacted(gap: Gap, few: int = FEW) -> Gap:
    """Groups of fewer rows than `few` are put together, rules on them left out, counts rounded."""
    require_few(few)
    shown = gap.diagnostics
    notes = tuple(dict.fromkeys(note.redacted(few) for note in shown.notes))
    separators = tuple(one.unnamed for one in shown.separators)
    about, reason = rounded_about(gap.about, few), gap.aggregate.reason
    if reason:
        kept = gap.about.kept_share.zip(gap.about.rows, lambda share, rows: round(share * rows))
        note = not_comparable_note(about.kept_share, kept, separators)
        reason = str(note.redacted(few))
    return replace(
        gap,
        about=about,
        aggregate=replace(gap.aggregate, reason=reason),
        diagnostics=replace(shown, notes=notes, separators=separators),
        where=None if gap.where is None else where_without(gap.where, gap.about.rows, few),
    )


def require_few(few: Any) -> None:
    """Refuse what is no number of rows."""
    if isinstance(few, bool) or not isinstance(few, int) or few < 1:
        raise SettingsError("redact= must be a whole number of at least 1", got=repr(few))


def rounded_about(about: About, few: int) -> About:
    kept = about.kept_share.zip(about.rows, lambda share, rows: rounded_share(share, rows, few))
    return replace(
        about,
        rows=about.rows.map(lambda n: int(rounded(n, few))),
        effective_rows=about.effective_rows.map(lambda n: rounded(n, few)),
        kept_share=kept,
    )


def rounded(number: float, few: int) -> float:
    """To the nearest multiple of `few`."""
    return float(few * math.floor(number / few + 0.5))


def rounded_share(share: float, rows: int, few: int) -> float:
    """So that share times rows gives no exact count away."""
    return share if share in (0.0, 1.0) else min(rounded(share * rows, few) / rows, 1.0)


def where_without(where: Where, rows: ByDomain[int], few: int) -> Where:
    """Small groups of each variable put together; groups, covariance and rules of the rest."""
    sets: list[tuple[int, ...]] = []
    for variable in where.variables():
        sets += grouped(where, variable, rows, few)
    map_ = np.zeros((len(sets), len(where.groups)))
    for line, members in enumerate(sets):
        map_[line, list(members)] = 1.0
    covariance = map_ @ where.covariance @ map_.T
    groups = [together(where, one, covariance[k, k]) for k, one in enumerate(sets)]
    return replace(
        where,
        groups=tuple(shares_rounded(group, rows, few) for group in groups),
        covariance=covariance,
        rules=tuple(
            shares_rounded(rule, rows, few) for rule in where.rules if fewest(rule, rows) >= few
        ),
    )


def fewest(group: Any, rows: ByDomain[int]) -> float:
    """Rows of a group in the table where it has fewer, none at all left out."""
    counts = [group.source_share * rows.source, group.target_share * rows.target]
    return min((count for count in counts if count > 0), default=0.0)


def grouped(where: Where, variable: str, rows: ByDomain[int], few: int) -> list[tuple[int, ...]]:
    """Positions of groups: alone, or those of few rows together, with one more if need be."""
    own = [k for k, group in enumerate(where.groups) if group.variable == variable]
    by_size = sorted(own, key=lambda k: fewest(where.groups[k], rows))
    small = [k for k in own if fewest(where.groups[k], rows) < few]
    others = [k for k in by_size if k not in small]
    while small and others and sum(fewest(where.groups[k], rows) for k in small) < few:
        small.append(others.pop(0))
    alone: list[tuple[int, ...]] = [(k,) for k in own if k not in small]
    return [*alone, tuple(sorted(small))] if small else alone


def together(where: Where, members: Sequence[int], variance: float) -> Group:
    """Several groups as one without a name."""
    found = [where.groups[k] for k in members]
    if len(found) == 1 and found[0].label != FEW_ROWS:
        return found[0]
    freedom = min(group.points.degrees_of_freedom for group in found)
    value = sum(group.points.value for group in found)
    points = Estimate(value, math.sqrt(max(variance, 0.0)), degrees_of_freedom=freedom)
    shares = (
        sum(group.source_share for group in found),
        sum(group.target_share for group in found),
    )
    return Group(found[0].variable, FEW_ROWS, *shares, points, None)


def shares_rounded(group: Any, rows: ByDomain[int], few: int) -> Any:
    return replace(
        group,
        source_share=rounded_share(group.source_share, rows.source, few),
        target_share=rounded_share(group.target_share, rows.target, few),
    )
