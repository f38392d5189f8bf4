"""Findings on the details of a gap: affected groups, recoverable error, shares, overlap."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from whygap.estimate import Estimate, Interval
from whygap.estimate.student import normal_quantile
from whygap.results.finding import MAX_NAMED_VARIABLES, Finding, direction, estimated

if TYPE_CHECKING:
    from whygap.results.details import Rule, Shares
    from whygap.results.gap import Gap

MAX_TARGET_SHARE = 2 / 3  # of the target rows: "most affected" among nearly all rows tells nothing
RULE_LEVEL = 0.95  # rules are confirmed at this level, whatever level is shown
ODD_SHARE = 0.005  # below 0 or above 1, from which a share is written as -1% or 101%
POWER = 0.8416  # normal quantile of 80%: the chance that so many rows settle the question
MAX_TIMES_ROWS = 1000  # times the rows: more than anybody can collect


# -- affected groups -------------------------------------------------------------------------------


def affected(gap: Gap, name: str, change: Finding, level: float) -> Iterator[Finding]:
    """Yield confirmed rules, then groups, in their own order; `place` is 1 for the most telling.

    Telling: significant and beyond the rows' own share; where no rows are, significant and at most
    two thirds of the target. Equal rows in other words are listed once.
    """
    if name not in gap.parts:
        return
    details, total = gap.affected[name], gap.parts[name].value
    terms = [*(_rule(rule, name, total) for rule in details.rules), *_groups(gap, name, level)]
    if not gap.about.is_mean:  # such a metric has no mean within a group
        terms = [_compared_with_average(term, total) for term in terms]
    distinct: dict[tuple[float, float], Finding] = {}
    for term in terms:
        share = term.facts["target_share"]
        if term.kind == "rule" or share < 1:
            distinct.setdefault((round(share, 12), round(term.value, 12)), term)
    listed = [term for term in distinct.values() if term.facts["excess"] * term.value > 0]
    listed.sort(key=_relevance)
    beyond = [term for term in listed if term.significant and term.facts["excess_significant"]]
    telling = beyond or [term for term in listed if term.significant and _not_most_rows(term)]
    order = [*telling, *(term for term in listed if term not in telling)]
    order += [term for term in terms if term not in listed]
    way = change.value if change.significant else 0.0
    headline = [term for term in telling if term.value * way > 0 and _not_most_rows(term)][:1]
    for term in terms:
        place = order.index(term) + 1
        marks = {"telling": term in telling, "place": place, "headline": term in headline}
        yield term.knowing(**marks, direction=direction(gap.about, term.value))
    counts = {"n_groups": len(details.groups), "n_rules_tested": details.n_rules_tested}
    if not telling:
        yield Finding("no_group", name, level=level, facts=counts)
    elif not beyond:
        yield Finding("no_excess", name, level=level, facts=counts)
    if details.n_rules_tested and not details.rules:
        yield Finding("no_rule", name, level=RULE_LEVEL, facts=counts)


def _relevance(term: Finding) -> tuple[bool, bool, float, str]:
    excess, beyond = term.facts["excess"], term.facts["excess_significant"]
    return not term.significant, not beyond, -abs(excess), f"{term.variable} is {term.group}"


def _not_most_rows(term: Finding) -> bool:
    return bool(term.facts["target_share"] <= MAX_TARGET_SHARE)


def _groups(gap: Gap, name: str, level: float) -> Iterator[Finding]:
    details = gap.affected[name]
    terms = zip(
        details.groups,
        details.simultaneous(level),
        details.excess(),
        details.simultaneous_excess(level),
        strict=True,
    )
    for group, ends, excess, beyond in terms:
        interval = Interval(*ends)
        facts = {
            "target_share": group.target_share,
            "source_share": group.source_share,
            "change": group.change,
            "change_interval": _change_interval(group.points, interval, group.change),
            "excess": excess.value,
            "excess_significant": Interval(*beyond).excludes(0.0),
        }
        names = (name, group.variable, group.label)
        yield Finding("group", *names, group.points, interval, level, facts)


def _rule(rule: Rule, name: str, total: float) -> Finding:
    interval = Interval(*rule.interval)
    facts = {
        "target_share": rule.target_share,
        "source_share": rule.source_share,
        "change": rule.change,
        "change_interval": _change_interval(rule.points, interval, rule.change),
        "excess": rule.points.value - rule.target_share * total,
        "excess_significant": True,  # that is what confirmed means
        "conditions": rule.conditions,
    }
    return Finding("rule", name, "", str(rule), rule.points, interval, RULE_LEVEL, facts)


def _change_interval(
    points: Estimate, interval: Interval, change: Estimate | None
) -> Interval | None:
    """Return the interval of the mean change, widened as much as that of the points."""
    if change is None or not points.standard_error:
        return None
    half = (interval.high - interval.low) / (2 * points.standard_error) * change.standard_error
    return Interval(change.value - half, change.value + half)


def _compared_with_average(term: Finding, total: float) -> Finding:
    share = term.facts["target_share"]
    times = term.value / share / total if share and total else math.nan
    return term.knowing(change=None, change_interval=None, times_average=times)


# -- recoverable error -----------------------------------------------------------------------------


def recoverable(gap: Gap, level: float) -> Iterator[Finding]:
    """Yield what target labels could win back of the squared error, and through what."""
    budget = gap.recoverable
    if budget is None:
        return
    squared_error = budget.total.value + budget.irreducible.value

    def term(name: str, estimate: Estimate, **facts: Any) -> Finding:
        won = max(estimate.value, 0.0) / squared_error if squared_error > 0 else math.nan
        facts |= {"term": name, "of_error": won, "squared_error": squared_error}
        return estimated("recoverable", estimate, level, **facts)

    yield term("total", budget.total)
    if budget.recalibration is not None:
        yield term("recalibration", budget.recalibration)
    if budget.variables:
        terms = [
            estimated("recoverable", estimate, level, variable=name, term="variable")
            for name, estimate in budget.variables.items()
        ]
        terms.sort(key=lambda f: (not f.significant, -abs(f.value)))
        named = [f for f in terms if f.significant][:MAX_NAMED_VARIABLES]
        first = budget.variables.first(level) if len(terms) > 1 and named else ()
        for f in terms:
            leads = f.significant and first == (f.variable,)
            yield f.knowing(named=f in named, leads=leads, tied=f.variable in first)
    yield term("irreducible", budget.irreducible)
    if budget.reweighted is not None:
        yield term("reweighted", budget.reweighted.total)
    yield term("source", budget.source_total)
    yield term("added", budget.added_in_target)


# -- the paper's shares ----------------------------------------------------------------------------


def shares(gap: Gap, name: str, part: Finding | None, level: float) -> Iterator[Finding]:
    """Yield the base and every variable's share of a part, largest first; or why there is none."""
    details = gap.shares[name]
    of_part: dict[str, Any] = {"part_significant": part is not None and part.significant}
    if not details.defined:
        of_part |= {"measured": details.denominator.standard_error > 0, "reason": details.reason}
        needed = _rows_needed(gap, details, level)
        yield Finding("share_undefined", name, level=level, facts=of_part | {"rows_needed": needed})
        return
    base = details.base
    if base is not None and (base.value or base.standard_error):
        yield estimated("share_base", base, level, part=name, odd=_is_odd(base), **of_part)
    values = details.values
    ranks, first = values.ranking(level), values.first(level)
    together = values.numerators().simultaneous(level)
    order = sorted(values, key=lambda variable: -values[variable].value)
    positive = [variable for variable in order if together[variable][0] > 0]
    few = len(first) <= MAX_NAMED_VARIABLES and set(first) <= set(positive)
    leaders = first if few else positive[:MAX_NAMED_VARIABLES]
    plainer = name in gap.points or name in gap.affected
    for variable in order:
        yield estimated(
            "share",
            values[variable],
            level,
            part=name,
            variable=variable,
            rank=(ranks[variable].best, ranks[variable].worst),
            tied=variable in first,
            headline=variable in leaders and not plainer,
            odd=_is_odd(values[variable]),
            **of_part,
        )


def _is_odd(share: Estimate) -> bool:
    return not -ODD_SHARE <= share.value <= 1 + ODD_SHARE


def _rows_needed(gap: Gap, details: Shares, level: float) -> tuple[float, float] | None:
    """Return the (source, target) rows that would tell the estimated denominator from 0.

    The standard error shrinks as one over the root of the rows; the goal is
    `value = (z + 0.84) * standard_error`: 80% power at this level.
    """
    size = details.denominator
    if size.value <= 0 or size.standard_error <= 0:
        return None
    times = ((normal_quantile(level) + POWER) * size.standard_error / size.value) ** 2
    rows = gap.about.rows
    if times > MAX_TIMES_ROWS:
        return None
    return rows.source * max(times, 1.0), rows.target * max(times, 1.0)


# -- overlap and trust -----------------------------------------------------------------------------


def trust(gap: Gap) -> Iterator[Finding]:
    """Yield how far the tables overlap, rows used, predictions, and warnings."""
    for ratio in gap.diagnostics.ratios:
        yield Finding("overlap", facts={"ratio": ratio})
    about = gap.about
    effective, kept = tuple(about.effective_rows), tuple(about.kept_share)
    rows = {"rows": tuple(about.rows), "effective_rows": effective, "kept_share": kept}
    yield Finding("trust", facts=rows)
    if gap.diagnostics.prediction:
        yield Finding("prediction", facts={"measures": gap.diagnostics.prediction})
    for note in gap.notes:
        if note.level == "warning":
            yield Finding("warning", facts={"note": note})
