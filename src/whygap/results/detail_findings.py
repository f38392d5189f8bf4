"""Findings on the details of a gap: affected groups, recoverable error, shares, trust."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from whygap.estimate import Interval
from whygap.estimate.student import normal_quantile
from whygap.results.finding import MAX_NAMED_VARIABLES, Finding, direction, estimated

if TYPE_CHECKING:
    from whygap.results.details import AffectedGroup, Rule, Shares
    from whygap.results.gap import Gap
    from whygap.results.points import Points

MAX_TARGET_SHARE = 2 / 3  # of the target rows: "most affected" among nearly all rows tells nothing
RULE_LEVEL = 0.95  # rules are confirmed at this level, whatever level is shown


# -- affected groups -------------------------------------------------------------------------------


def affected(gap: Gap, name: str, change: Finding, level: float) -> Iterator[Finding]:
    """Yield confirmed rules, then groups; `place` is 1 for the most telling.

    Telling: significant and beyond the rows' own share; where no rows are, significant and at most
    two thirds of the target. Equal rows in other words are listed once.

    Args:
        gap: the result.
        name: of the part.
        change: the finding on the whole change.
        level: of the intervals of groups.
    """
    if name not in gap.parts:
        return
    details = gap.affected[name]
    terms = _rules_and_groups(gap, name, level)
    distinct: dict[tuple[float, float], Finding] = {}
    for term in terms:
        share = term.facts["target_share"]
        if term.kind == "rule" or share < 1:
            distinct.setdefault((round(share, 12), round(term.value, 12)), term)
    listed = [term for term in distinct.values() if term.facts["excess"] * term.value > 0]
    listed.sort(key=lambda term: (-abs(term.facts["excess"]), f"{term.variable} is {term.group}"))
    listed.sort(key=lambda term: (not term.significant, not term.facts["excess_significant"]))
    small = [t for t in listed if t.significant and t.facts["target_share"] <= MAX_TARGET_SHARE]
    beyond = [term for term in listed if term.significant and term.facts["excess_significant"]]
    telling = beyond or small
    order = [*telling, *(term for term in listed if term not in telling)]
    order += [term for term in terms if term not in listed]
    way = change.value if change.significant else 0.0
    headline = [term for term in telling if term.value * way > 0 and term in small][:1]
    for term in terms:
        place = order.index(term) + 1
        marks = {"telling": term in telling, "place": place, "headline": term in headline}
        yield term.knowing(**marks, direction=direction(gap.about, term.value))
    counts = {"n_groups": len(details.groups), "n_rules_tested": details.n_rules_tested}
    if not beyond:
        yield Finding("no_excess" if telling else "no_group", name, level=level, facts=counts)
    if details.n_rules_tested and not details.rules:
        yield Finding("no_rule", name, level=RULE_LEVEL, facts=counts)


def _rules_and_groups(gap: Gap, name: str, level: float) -> list[Finding]:
    details = gap.affected[name]
    total = gap.parts[name].value
    terms = []
    for rule in details.rules:  # confirmed means beyond the share of the rows
        excess = rule.points.value - rule.target_share * total
        facts = _row_facts(gap, rule, rule.interval, total)
        facts |= {"excess": excess, "excess_significant": True, "conditions": rule.conditions}
        names = (name, "", str(rule))
        terms.append(Finding("rule", *names, rule.points, rule.interval, RULE_LEVEL, facts))
    simultaneous = details.simultaneous(level)
    beyond = zip(details.excess(), details.simultaneous_excess(level), strict=True)
    for group, interval, (extra, span) in zip(details.groups, simultaneous, beyond, strict=True):
        facts = _row_facts(gap, group, interval, total)
        facts |= {"excess": extra.value, "excess_significant": span.excludes(0.0)}
        names = (name, group.variable, group.label)
        terms.append(Finding("group", *names, group.points, interval, level, facts))
    return terms


def _row_facts(
    gap: Gap, group: Rule | AffectedGroup, interval: Interval, total: float
) -> dict[str, Any]:
    """Return shares of rows and the mean change, whose interval is as wide as the points ask.

    A metric that is no mean has no mean within a group: the average row is the comparison.
    """
    share = group.target_share
    facts: dict[str, Any] = {"target_share": share, "source_share": group.source_share}
    if not gap.about.is_mean:
        times = group.points.value / share / total if share and total else math.nan
        return facts | {"change": None, "change_interval": None, "times_average": times}
    change = group.change
    span = None
    if change is not None and group.points.standard_error:
        errors = (interval.high - interval.low) / (2 * group.points.standard_error)
        half = errors * change.standard_error
        span = Interval(change.value - half, change.value + half)
    return facts | {"change": change, "change_interval": span}


# -- recoverable error -----------------------------------------------------------------------------


def recoverable(gap: Gap, level: float) -> Iterator[Finding]:
    """Yield what target labels could win back of the squared error, and through what.

    Args:
        gap: the result.
        level: of the intervals.
    """
    budget = gap.recoverable
    if budget is None:
        return
    squared_error = budget.total.value + budget.irreducible.value
    terms = {"total": budget.total, "recalibration": budget.recalibration, "variables": None}
    terms |= {"irreducible": budget.irreducible}
    terms |= {"reweighted": budget.reweighted.total if budget.reweighted else None}
    terms |= {"source": budget.source.total, "added": budget.added_in_target}
    for name, estimate in terms.items():
        if estimate is not None:
            share = max(estimate.value, 0.0) / squared_error if squared_error > 0 else math.nan
            facts: dict[str, Any] = {"term": name, "of_error": share}
            yield estimated("recoverable", estimate, level, squared_error=squared_error, **facts)
        elif name == "variables" and budget.variables:
            yield from _recoverable_variables(budget.variables, level)


def _recoverable_variables(variables: Points, level: float) -> Iterator[Finding]:
    terms = [
        estimated("recoverable", estimate, level, variable=name, term="variable")
        for name, estimate in variables.items()
    ]
    terms.sort(key=lambda f: (not f.significant, -abs(f.value)))
    significant = [f for f in terms if f.significant]
    first = variables.first(level) if len(terms) > 1 and significant else ()
    for f in terms:
        leads = f.significant and first == (f.variable,)
        is_named = f in significant[:MAX_NAMED_VARIABLES]
        yield f.knowing(named=is_named, leads=leads, tied=f.variable in first)


# -- the paper's shares ----------------------------------------------------------------------------


def shares(gap: Gap, name: str, part: Finding | None, level: float) -> Iterator[Finding]:
    """Yield the base and every variable's share of a part, largest first; or why none is defined.

    Args:
        gap: the result.
        name: of the part.
        part: the finding on the part, if the result has the part.
        level: of the intervals.
    """
    details = gap.shares[name]
    of_part: dict[str, Any] = {"part_significant": part is not None and part.significant}
    if not details.defined:
        of_part |= {"measured": details.denominator.standard_error > 0, "reason": details.reason}
        of_part["rows_needed"] = _rows_needed(gap, details, level)
        yield Finding("share_undefined", name, level=level, facts=of_part)
        return
    base = details.base
    if base is not None and (base.value or base.standard_error):
        yield estimated("share_base", base, level, part=name, **of_part)
    values = details.values
    ranks = values.ranking(level)
    first = values.first(level)
    simultaneous = values.numerators().simultaneous(level)
    order = sorted(values, key=lambda variable: -values[variable].value)
    positive = [variable for variable in order if simultaneous[variable].low > 0]
    is_short = len(first) <= MAX_NAMED_VARIABLES and set(first) <= set(positive)
    leaders = first if is_short else positive[:MAX_NAMED_VARIABLES]
    has_plainer = name in gap.points or name in gap.affected
    for variable in order:
        facts = of_part | {
            "rank": (ranks[variable].best, ranks[variable].worst),
            "tied": variable in first,
            "headline": variable in leaders and not has_plainer,
        }
        yield estimated("share", values[variable], level, part=name, variable=variable, **facts)


def _rows_needed(gap: Gap, details: Shares, level: float) -> tuple[float, float] | None:
    """Return the (source, target) rows at which the estimated denominator has 80% power."""
    size = details.denominator
    if size.value <= 0 or size.standard_error <= 0:
        return None
    power = 0.8416  # normal quantile of 80%
    times = ((normal_quantile(level) + power) * size.standard_error / size.value) ** 2
    if times > 1000:  # times the rows: more than anyone can collect
        return None
    return gap.about.rows.source * max(times, 1.0), gap.about.rows.target * max(times, 1.0)


# -- trust -----------------------------------------------------------------------------------------


def trust(gap: Gap) -> Iterator[Finding]:
    """Yield how far the tables overlap, rows used, predictions, and warnings."""
    for ratio in gap.diagnostics.ratios:
        yield Finding("overlap", facts={"ratio": ratio})
    names = ("rows", "effective_rows", "kept_share")
    yield Finding("trust", facts={name: tuple(getattr(gap.about, name)) for name in names})
    if gap.diagnostics.prediction:
        yield Finding("prediction", facts={"measures": gap.diagnostics.prediction})
    for note in gap.notes:
        if note.level == "warning":
            yield Finding("warning", facts={"note": note})
