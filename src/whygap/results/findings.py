"""Findings: everything that can be said or drawn of a result, in the order it is said.

Text, page, figures, tables, alarms and MLflow read findings and decide nothing themselves. Every
interval that they show is computed here, once. Kinds, with their facts:

    not_comparable    reason
    problem, warning  note
    change            source, target (estimates), source_interval, target_interval, direction
    part              share, share_interval, rank, largest, tied_with, named, direction
    points            named, tied (may be the largest of its sign), headline, columns
    points_rest       n, n_significant: the variables that are not named, together
    rule, group       target_share, source_share, change, change_interval, excess,
                      excess_significant, telling, place, headline, direction; of metrics that are
                      no means times_average; of rules conditions
    no_group, no_excess, no_rule      n_groups, n_rules_tested
    recoverable       term, of_error, squared_error; of variables named, leads, tied
    share_base, share                 part_significant, odd; rank, tied, headline
    share_undefined   part_significant, measured, reason, rows_needed
    overlap           ratio
    trust             rows, effective_rows, kept_share
    prediction        measures
    advice            action, reason, variables; of_error, ratio
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from whygap.estimate import Interval
from whygap.results.advice import advice
from whygap.results.detail_findings import affected, recoverable, shares, trust
from whygap.results.finding import MAX_NAMED_VARIABLES, Finding, direction, estimated

if TYPE_CHECKING:
    from whygap.results.gap import Gap
    from whygap.results.points import Points

__all__ = ["Finding", "findings"]

TIE = 0.5  # of the largest: what is half as large is no near tie in a reader's eyes
AGAINST = 0.05  # of the gap: a part so far against the gap makes percentages of it misleading


def findings(gap: Gap, level: float) -> tuple[Finding, ...]:
    """Return everything that can be said of a gap at one confidence level, in the order it is said.

    Args:
        gap: the result.
        level: of all intervals but those of confirmed rules.
    """
    change = _change(gap, level)
    parts = _parts(gap, change, level)
    by_name = {part.part: part for part in parts}
    points = [f for name in gap.points for f in _points(gap, name, by_name.get(name), level)]
    statements = (
        *_problems(gap),
        change,
        *parts,
        *_with_headline_variables(points, change),
        *(f for name in gap.affected for f in affected(gap, name, change, level)),
        *recoverable(gap, level),
        *(f for name in gap.shares for f in shares(gap, name, by_name.get(name), level)),
        *trust(gap),
    )
    return (*statements, *advice(gap, statements, level))


# -- the change and its parts ----------------------------------------------------------------------


def _problems(gap: Gap) -> Iterator[Finding]:
    if not gap.comparable:
        yield Finding("not_comparable", facts={"reason": gap.reason})
    for note in gap.notes:
        if note.level == "problem":
            yield Finding("problem", facts={"note": note})


def _change(gap: Gap, level: float) -> Finding:
    return estimated(
        "change",
        gap.total,
        level,
        source=gap.source,
        target=gap.target,
        source_interval=Interval(*gap.source.interval(level)),
        target_interval=Interval(*gap.target.interval(level)),
        direction=direction(gap.about, gap.total.value),
    )


def _parts(gap: Gap, change: Finding, level: float) -> list[Finding]:
    """Return one finding per part, with its share of the gap where percentages do not mislead."""
    parts = {name: estimated("part", part, level, part=name) for name, part in gap.parts.items()}
    shares = {name: gap.share_of_total(name) for name in parts}
    inside = all(s is not None and -AGAINST <= s.value <= 1 + AGAINST for s in shares.values())
    shown = {name: s for name, s in shares.items() if s is not None and inside}
    groups = _near_ties(gap, level)
    ties = set(groups[0]) if groups else set()
    order = [name for group in groups for name in group]
    open_ = len(ties) > 1 and any(parts[name].significant for name in ties)
    findings_ = []
    for name, part in parts.items():
        share = shown.get(name) if change.significant else None
        tied = tuple(n for n in parts if n in ties and n != name) if name in ties else ()
        findings_.append(
            part.knowing(
                share=share,
                share_interval=None if share is None else Interval(*share.interval(level)),
                largest=name in ties,
                tied_with=tied,
                rank=order.index(name) + 1,
                named=part.significant or (open_ and name in ties),
                direction=direction(gap.about, part.value),
            )
        )
    return findings_


def _near_ties(gap: Gap, level: float) -> list[list[str]]:
    """Group the parts, largest first; which part of a group is the largest is open."""
    left, groups = list(gap.parts), []
    while left:
        first = max(left, key=lambda name: abs(gap.parts[name].value))
        groups.append([n for n in left if n == first or _is_tie(gap, first, n, level)])
        left = [name for name in left if name not in groups[-1]]
    return groups


def _is_tie(gap: Gap, first: str, name: str, level: float) -> bool:
    size = gap.parts[first].value
    alike = size != 0 and gap.parts[name].value / size > TIE
    return alike and not gap.difference(first, name).excludes_zero(level)


# -- points of variables ---------------------------------------------------------------------------


def _points(gap: Gap, name: str, part: Finding | None, level: float) -> Iterator[Finding]:
    """Yield every variable of a part, significant ones first, then what is not named, together."""
    points = gap.points[name]
    terms = [
        estimated("points", estimate, level, part=name, variable=variable)
        for variable, estimate in points.items()
    ]
    terms.sort(key=lambda term: (not term.significant, -abs(term.value)))
    named = [term.variable for term in terms if term.significant][:MAX_NAMED_VARIABLES]
    falls, rises = _may_be_largest(points, level)
    for term in terms:
        yield term.knowing(
            named=term.variable in named,
            tied=term.variable in (falls if term.value < 0 else rises),
            headline=False,
            columns=tuple(gap.about.players.get(term.variable, (term.variable,))),
        )
    rest = [term for term in terms if term.variable not in named]
    if rest:
        pooled = _together(points, rest, level) if named or part is None else part
        yield replace(
            pooled,
            kind="points_rest",
            part=name,
            variable=rest[0].variable if len(rest) == 1 else "",
            facts={"n": len(rest), "n_significant": sum(term.significant for term in rest)},
        )


def _may_be_largest(points: Points, level: float) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the variables that may fall most, and those that may rise most."""
    values = [estimate.value for estimate in points.values()]
    falls = points.first(level, lowest=True) if min(values, default=0.0) < 0 else ()
    return falls, points.first(level) if max(values, default=0.0) > 0 else ()


def _together(points: Points, rest: Sequence[Finding], level: float) -> Finding:
    if len(rest) == 1:
        return rest[0]
    return estimated("points", points.combined({f.variable: 1.0 for f in rest}), level)


def _with_headline_variables(points: Sequence[Finding], change: Finding) -> list[Finding]:
    """Mark the largest significant variables that pull the way the metric went, with near ties.

    A part whose first variable is less than half as large as that of another part names none.
    """
    way = change.value if change.significant else 0.0
    terms = [f for f in points if f.kind == "points" and f.significant and f.value * way > 0]
    first = {f.part: f for f in reversed(terms)}
    terms = [f for f in terms if f is first[f.part] or f.facts["tied"]]
    largest = max((abs(f.value) for f in terms), default=0.0)
    near = sorted((f for f in terms if abs(f.value) > TIE * largest), key=lambda f: -abs(f.value))
    named = near[:MAX_NAMED_VARIABLES]
    return [f.knowing(headline=True) if f in named else f for f in points]
