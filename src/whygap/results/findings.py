"""Findings: everything that can be said or drawn of a result, in the order it is said.

Text, page, figures, tables, alarms and MLflow read findings and decide nothing themselves. Every
interval that they show is computed here, once. Kinds, with their facts:

    not_comparable    reason
    problem, warning  note
    change            source_metric, target_metric, source_interval, target_interval, direction
    part              share, share_interval, rank, largest, tied_with, named, direction
    points            named, tied (may be the largest of its sign), headline, columns
    points_rest       n, n_significant: the variables that are not named, together
    rule, group       target_share, source_share, change, change_interval, excess,
                      excess_significant, telling, place, headline, direction; of metrics that are
                      no means times_average; of rules conditions
    no_group, no_excess, no_rule      n_groups, n_rules_tested
    recoverable       term, of_error, squared_error; of variables named, leads, tied
    share_base, share                 part_significant; of shares rank, tied, headline
    share_undefined   part_significant, measured, reason
    overlap           ratio
    trust             rows, effective_rows, kept_share
    prediction        measures
    advice            action, reason, variables; of_error
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from whygap.results.advice import advice
from whygap.results.detail_findings import affected, recoverable, shares, trust
from whygap.results.finding import MAX_NAMED_VARIABLES, Finding, direction, estimated

if TYPE_CHECKING:
    from whygap.results.gap import Gap

__all__ = ["Finding", "findings"]

TIE = 0.5  # of the largest: what is half as large is no near tie in a reader's eyes
AGAINST = 0.05  # of the gap: a part so far against the gap makes percentages of it misleading


def findings(gap: Gap, level: float) -> tuple[Finding, ...]:
    """Return everything that can be said of a gap, in the order of the summary.

    Args:
        gap: the result.
        level: of all intervals but those of confirmed rules.
    """
    change = estimated(
        "change",
        gap.total,
        level,
        source_metric=gap.source,
        target_metric=gap.target,
        source_interval=gap.source.interval(level),
        target_interval=gap.target.interval(level),
        direction=direction(gap.about, gap.total.value),
    )
    parts = _parts(gap, change, level)
    by_name = {part.part: part for part in parts}
    points = [f for name in gap.points for f in _points(gap, name, by_name.get(name), level)]
    statements = (
        *([] if gap.comparable else [Finding("not_comparable", facts={"reason": gap.reason})]),
        *(Finding("problem", facts={"note": n}) for n in gap.notes if n.level == "problem"),
        change,
        *parts,
        *_with_headline_variables(points, change),
        *(f for name in gap.affected for f in affected(gap, name, change, level)),
        *recoverable(gap, level),
        *(f for name in gap.shares for f in shares(gap, name, by_name.get(name), level)),
        *trust(gap),
    )
    return (*statements, *advice(gap, statements, level))


# -- parts -----------------------------------------------------------------------------------------


def _parts(gap: Gap, change: Finding, level: float) -> list[Finding]:
    """Return a finding per part, with shares of the gap where percentages do not mislead."""
    parts = {name: estimated("part", part, level, part=name) for name, part in gap.parts.items()}
    shares = {name: gap.share_of_total(name) for name in parts}
    inside = all(s is not None and -AGAINST <= s.value <= 1 + AGAINST for s in shares.values())
    groups = _near_ties(gap, level)
    ties = groups[0] if groups else []
    order = [name for group in groups for name in group]
    is_open = len(ties) > 1 and any(parts[name].significant for name in ties)
    terms = []
    for name, part in parts.items():
        share = shares[name] if inside and change.significant else None
        term = part.knowing(
            share=share,
            share_interval=None if share is None else share.interval(level),
            largest=name in ties,
            tied_with=tuple(n for n in parts if name in ties and n in ties and n != name),
            rank=order.index(name) + 1,
            named=part.significant or (is_open and name in ties),
            direction=direction(gap.about, part.value),
        )
        terms.append(term)
    return terms


def _near_ties(gap: Gap, level: float) -> list[list[str]]:
    """Group the parts, largest first; which part of a group is the largest is open."""
    remaining = list(gap.parts)
    groups = []
    while remaining:
        first = max(remaining, key=lambda name: abs(gap.parts[name].value))
        size = gap.parts[first].value
        close = [n for n in remaining if n != first and size and gap.parts[n].value / size > TIE]
        ties = [n for n in close if not gap.difference(first, n).excludes_zero(level)]
        groups.append([n for n in remaining if n == first or n in ties])
        remaining = [name for name in remaining if name not in groups[-1]]
    return groups


# -- points of variables ---------------------------------------------------------------------------


def _points(gap: Gap, name: str, part: Finding | None, level: float) -> Iterator[Finding]:
    """Yield every variable of a part, significant variables first, then the sum of the unnamed."""
    points = gap.points[name]
    terms = [estimated("points", e, level, part=name, variable=v) for v, e in points.items()]
    terms.sort(key=lambda term: (not term.significant, -abs(term.value)))
    first = [term.variable for term in terms if term.significant][:MAX_NAMED_VARIABLES]
    may_fall_most = points.first(level, lowest=True) if any(t.value < 0 for t in terms) else ()
    may_rise_most = points.first(level) if any(t.value > 0 for t in terms) else ()
    for term in terms:
        yield term.knowing(
            named=term.variable in first,
            tied=term.variable in (may_fall_most if term.value < 0 else may_rise_most),
            headline=False,
            columns=tuple(gap.about.players.get(term.variable, (term.variable,))),
        )
    remaining = [term for term in terms if term.variable not in first]
    if not remaining:
        return
    pooled = remaining[0]
    if part is not None and not first:
        pooled = part
    elif len(remaining) > 1:
        total = points.combined(dict.fromkeys((t.variable for t in remaining), 1.0))
        pooled = estimated("points", total, level)
    variable = remaining[0].variable if len(remaining) == 1 else ""
    facts = {"n": len(remaining), "n_significant": sum(t.significant for t in remaining)}
    yield replace(pooled, kind="points_rest", part=name, variable=variable, facts=facts)


def _with_headline_variables(points: Sequence[Finding], change: Finding) -> list[Finding]:
    """Mark the largest significant variables that pull the way the metric went, with near ties.

    A part whose first variable is less than half as large as that of another part names none.
    """
    way = change.value if change.significant else 0.0
    terms = [f for f in points if f.kind == "points" and f.significant and f.value * way > 0]
    first = {f.part: f for f in reversed(terms)}
    terms = [f for f in terms if f is first[f.part] or f.facts["tied"]]
    largest = max((abs(f.value) for f in terms), default=0.0)
    terms = sorted((f for f in terms if abs(f.value) > TIE * largest), key=lambda f: -abs(f.value))
    return [f.knowing(headline=True) if f in terms[:MAX_NAMED_VARIABLES] else f for f in points]
