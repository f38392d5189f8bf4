"""A result for other eyes: no level of few rows is named, counts are rounded."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from whygap.domains import ByDomain
from whygap.errors import SettingsError
from whygap.estimate import Estimate
from whygap.results.details import Affected, AffectedGroup
from whygap.results.overlap import not_comparable_note

if TYPE_CHECKING:
    from whygap.results.gap import Gap

ROWS = 10  # below which offices of statistics do not publish a cell, as a rule
FEW_ROWS = "(levels of few rows)"


def redacted(gap: Gap, rows: int = ROWS) -> Gap:
    """Return a copy without small groups and rules on few rows, with rounded counts.

    Args:
        gap: the result.
        rows: groups of fewer rows are small; counts become multiples of it.
    """
    require_rows(rows)
    total = gap.about.rows
    shares = gap.about.kept_share.zip(total, lambda share, n: rounded_share(share, n, rows))
    separators = tuple(separator.unnamed for separator in gap.diagnostics.separators)
    reason = gap.reason
    if reason:
        counts = gap.about.kept_share.zip(total, lambda share, n: round(share * n))
        reason = str(not_comparable_note(shares, counts, separators).redacted(rows))
    analysis = replace(
        gap.about,
        rows=total.map(lambda n: int(rounded(n, rows))),
        effective_rows=gap.about.effective_rows.map(lambda n: rounded(n, rows)),
        kept_share=shares,
    )
    return replace(
        gap,
        about=analysis,
        reason=reason,
        notes=tuple(dict.fromkeys(note.redacted(rows) for note in gap.notes)),
        diagnostics=replace(gap.diagnostics, separators=separators),
        affected={part: _affected(detail, total, rows) for part, detail in gap.affected.items()},
    )


def require_rows(rows: Any) -> None:
    """Refuse what is no number of rows."""
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
        raise SettingsError("redact= must be a whole number of at least 1", got=repr(rows))


def rounded(number: float, rows: int) -> float:
    """Return the nearest multiple of `rows`."""
    return float(rows * math.floor(number / rows + 0.5))


def rounded_share(share: float, total: int, rows: int) -> float:
    """Round so that share times total gives no exact count away.

    Args:
        share: of the rows.
        total: number of rows.
        rows: counts become multiples of it.
    """
    return share if share in (0.0, 1.0) else min(rounded(share * total, rows) / total, 1.0)


def _affected(affected: Affected, total: ByDomain[int], rows: int) -> Affected:
    """Put small groups of each variable together; adapt covariance and rules."""
    sets = [s for name in affected.variables() for s in _sets(affected, name, total, rows)]
    merging = np.zeros((len(sets), len(affected.groups)))
    for line, members in enumerate(sets):
        merging[line, list(members)] = 1.0
    covariance = merging @ affected.covariance @ merging.T
    groups = [_merged(affected, members, covariance[k, k]) for k, members in enumerate(sets)]
    rules = [rule for rule in affected.rules if _fewest(rule, total) >= rows]

    def with_rounded_shares(group: Any) -> Any:
        source = rounded_share(group.source_share, total.source, rows)
        target = rounded_share(group.target_share, total.target, rows)
        return replace(group, source_share=source, target_share=target)

    return replace(
        affected,
        groups=tuple(map(with_rounded_shares, groups)),
        covariance=covariance,
        rules=tuple(map(with_rounded_shares, rules)),
    )


def _fewest(group: Any, total: ByDomain[int]) -> float:
    """Count the rows of a group in the table with fewer of the rows, if any."""
    counts = [group.source_share * total.source, group.target_share * total.target]
    return min((count for count in counts if count > 0), default=0.0)


def _sets(
    affected: Affected, variable: str, total: ByDomain[int], rows: int
) -> list[tuple[int, ...]]:
    """Return positions of groups: singly, or all small groups as a set of enough rows."""
    size = {
        k: _fewest(group, total)
        for k, group in enumerate(affected.groups)
        if group.variable == variable
    }
    small = [k for k in size if size[k] < rows]
    large = [k for k in sorted(size, key=size.__getitem__) if k not in small]
    while small and large and sum(size[k] for k in small) < rows:
        small.append(large.pop(0))
    single: list[tuple[int, ...]] = [(k,) for k in size if k not in small]
    return [*single, tuple(sorted(small))] if small else single


def _merged(affected: Affected, members: tuple[int, ...], variance: float) -> AffectedGroup:
    """Return several groups as a group without a name."""
    groups = [affected.groups[k] for k in members]
    if len(groups) == 1 and groups[0].label != FEW_ROWS:
        return groups[0]
    freedom = min(group.points.degrees_of_freedom for group in groups)
    value = sum(group.points.value for group in groups)
    points = Estimate(value, math.sqrt(max(variance, 0.0)), degrees_of_freedom=freedom)
    source_share = sum(group.source_share for group in groups)
    target_share = sum(group.target_share for group in groups)
    name = groups[0].variable
    return AffectedGroup(name, FEW_ROWS, source_share, target_share, points, None)
