"""A result for other eyes: no level of few rows is named, counts are rounded."""

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
from whygap.results.details import Affected, AffectedGroup
from whygap.results.overlap import not_comparable_note

if TYPE_CHECKING:
    from whygap.results.gap import Gap

ROWS = 10  # below which offices of statistics do not publish a cell, as a rule
FEW_ROWS = "(levels of few rows)"


def redacted(gap: Gap, rows: int = ROWS) -> Gap:
    """Return a copy: small groups put together, rules on them left out, counts rounded.

    Args:
        gap: the result.
        rows: groups of fewer rows are small; counts become multiples of it.
    """
    require_rows(rows)
    diagnostics = gap.diagnostics
    separators = tuple(separator.unnamed for separator in diagnostics.separators)
    about = _about(gap.about, rows)
    reason = gap.reason
    if reason:
        counts = gap.about.kept_share.zip(gap.about.rows, lambda share, total: round(share * total))
        reason = str(not_comparable_note(about.kept_share, counts, separators).redacted(rows))
    return replace(
        gap,
        about=about,
        reason=reason,
        notes=tuple(dict.fromkeys(note.redacted(rows) for note in gap.notes)),
        diagnostics=replace(diagnostics, separators=separators),
        affected={
            part: _affected(affected, gap.about.rows, rows)
            for part, affected in gap.affected.items()
        },
    )


def require_rows(rows: Any) -> None:
    """Refuse what is no number of rows."""
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
        raise SettingsError("redact= must be a whole number of at least 1", got=repr(rows))


def _about(about: About, rows: int) -> About:
    shares = about.kept_share.zip(about.rows, lambda share, all_: rounded_share(share, all_, rows))
    return replace(
        about,
        rows=about.rows.map(lambda n: int(rounded(n, rows))),
        effective_rows=about.effective_rows.map(lambda n: rounded(n, rows)),
        kept_share=shares,
    )


def rounded(number: float, rows: int) -> float:
    """Return the nearest multiple of `rows`."""
    return float(rows * math.floor(number / rows + 0.5))


def rounded_share(share: float, total: int, rows: int) -> float:
    """Round so that share times total gives no exact count away."""
    return share if share in (0.0, 1.0) else min(rounded(share * total, rows) / total, 1.0)


def _affected(affected: Affected, total: ByDomain[int], rows: int) -> Affected:
    """Put small groups of each variable together; adapt covariance and rules."""
    sets: list[tuple[int, ...]] = []
    for variable in affected.variables():
        sets += _sets(affected, variable, total, rows)
    map_ = np.zeros((len(sets), len(affected.groups)))
    for line, members in enumerate(sets):
        map_[line, list(members)] = 1.0
    covariance = map_ @ affected.covariance @ map_.T
    groups = [_merged(affected, members, covariance[k, k]) for k, members in enumerate(sets)]
    rules = [rule for rule in affected.rules if _fewest(rule, total) >= rows]
    return replace(
        affected,
        groups=tuple(_with_rounded_shares(group, total, rows) for group in groups),
        covariance=covariance,
        rules=tuple(_with_rounded_shares(rule, total, rows) for rule in rules),
    )


def _fewest(group: Any, total: ByDomain[int]) -> float:
    """Rows of a group in the table where it has fewer, none at all left out."""
    counts = [group.source_share * total.source, group.target_share * total.target]
    return min((count for count in counts if count > 0), default=0.0)


def _sets(
    affected: Affected, variable: str, total: ByDomain[int], rows: int
) -> list[tuple[int, ...]]:
    """Positions of groups: alone, or those of few rows together, with one more if need be."""
    own = [k for k, group in enumerate(affected.groups) if group.variable == variable]
    size = {k: _fewest(affected.groups[k], total) for k in own}
    small = [k for k in own if size[k] < rows]
    others = [k for k in sorted(own, key=size.__getitem__) if k not in small]
    while small and others and sum(size[k] for k in small) < rows:
        small.append(others.pop(0))
    alone: list[tuple[int, ...]] = [(k,) for k in own if k not in small]
    return [*alone, tuple(sorted(small))] if small else alone


def _merged(affected: Affected, members: Sequence[int], variance: float) -> AffectedGroup:
    """Several groups as one without a name."""
    groups = [affected.groups[k] for k in members]
    if len(groups) == 1 and groups[0].label != FEW_ROWS:
        return groups[0]
    freedom = min(group.points.degrees_of_freedom for group in groups)
    value = sum(group.points.value for group in groups)
    points = Estimate(value, math.sqrt(max(variance, 0.0)), degrees_of_freedom=freedom)
    shares = (
        sum(group.source_share for group in groups),
        sum(group.target_share for group in groups),
    )
    return AffectedGroup(groups[0].variable, FEW_ROWS, *shares, points, None)


def _with_rounded_shares(group: Any, total: ByDomain[int], rows: int) -> Any:
    return replace(
        group,
        source_share=rounded_share(group.source_share, total.source, rows),
        target_share=rounded_share(group.target_share, total.target, rows),
    )
