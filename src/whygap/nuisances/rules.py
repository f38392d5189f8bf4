"""Rules of up to two conditions: all are tested at once, on all rows, and few are shown.

A rule is as strong as the smaller of two: how far the mean change among its rows is from 0, and
from that of all rows (a shift that hits everybody alike needs no rule), in standard errors. It is
confirmed by Benjamini and Hochberg's step-up: the k-th strongest may be k times as likely by chance
as the first; singles and pairs are counted apart, for there are few singles and many pairs. How
likely the first may be is set by draws of noise in which all rows changed alike, as much as they
did on average (`chance`): in 5% of them anything would be confirmed. That holds whatever the
rules have in common, and costs less than Bonferroni, because most rules are nearly others.
Searching on half of the rows and confirming on the rest pays twice: in half of the rows the right
rule is seldom among the first.

Where nothing changed, any weights of rows give a mean change of 0. The test takes those that see a
change best: rows that both tables have many of, and whose outcome is little in doubt. Shown are
the contribution to the outcome part and the plain mean change, as of groups; intervals hold for
all tested rules at once. A rule whose contribution cannot be told from 0, taken alone, is not
shown.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from whygap.domains import Array, ByDomain, Subset
from whygap.equations.where import target_share
from whygap.estimate import Estimate
from whygap.estimate.student import as_student
from whygap.nuisances.chance import Family, Told, confirmed_from, family, held_from
from whygap.nuisances.conditions import Conditions, Mask, Packed, conditions_of
from whygap.nuisances.cross_fit import CrossFit
from whygap.nuisances.held_out import out_of_fold
from whygap.results import Rule

__all__ = ["Rules", "find_rules"]


@dataclass(frozen=True, slots=True)
class Search:
    """Which rules are looked for, and when one is confirmed."""

    measured: int = 5  # distinct rules, the strongest first: enough to name the worst
    error: float = 0.05  # chance that any rule is shown where nothing changed
    # Of the target rows: groups of hardly any rows, or of nearly all, say nothing about where.
    least_share: float = 0.02
    most_share: float = 0.95
    same: float = 0.7  # two rules that share this part of their target rows are one
    conditions: int = 300  # that enter pairs, at most: the strongest ones where a table is wide
    least_units: int = 40  # fewer rows (or clusters) of a domain in a rule measure nothing
    # Of the mean variance: rows whose outcome is hardly in doubt count for four times the mean at
    # most, because a fitted risk is not that sure. A half found fewer of the rules planted in
    # draws of `experiments.worlds.planted` from seed 10,000 on, which nothing is judged by.
    least_variance: float = 0.25


SEARCH = Search()


@dataclass(frozen=True, slots=True)
class Rules:
    """Confirmed rules, the largest contribution first, and how many were tested."""

    confirmed: tuple[Rule, ...]
    tested: int


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """What every row says of a change: its value, and its weight at target rows.

    Weighted mean changes are mean(values.source) + mean(values.target) over mean(weight).
    """

    values: ByDomain[Array]
    weight: ByDomain[Array]


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    rule: Subset
    inside: ByDomain[Mask]
    confirmed: float  # the strength, in normal standard errors, that confirms it
    held: float  # half the width of its interval, in normal standard errors


def find_rules(crossfit: CrossFit) -> Rules:
    """Rank all candidates, measure the first distinct ones, keep what is confirmed."""
    known = conditions_of(crossfit, SEARCH.least_share)
    everything = crossfit.sample.weights.map(lambda w: w > 0)
    if not known.conditions or not _enough(crossfit, everything):
        return Rules((), 0)
    rows = _rows(crossfit)
    families = _families(crossfit, known.masks, rows)
    if not any(one.rules for one in families):
        return Rules((), 0)
    distinct: list[_Candidate] = []
    for candidate in _candidates(families, known):
        if len(distinct) == SEARCH.measured:
            break
        alike = (_overlap(candidate.inside.target, one.inside.target) for one in distinct)
        if max(alike, default=0.0) <= SEARCH.same and _enough(crossfit, candidate.inside):
            distinct.append(candidate)
    held = [_rule(crossfit, known, one) for one in distinct if _holds(crossfit, rows, one)]
    confirmed = [rule for rule in held if rule.points.p_value() < SEARCH.error]
    confirmed.sort(key=lambda rule: -abs(rule.points.value))
    return Rules(tuple(confirmed), sum(one.count for one in families))


def _rows(crossfit: CrossFit) -> _Rows:
    """Values and weights of all rows; the variance of a row's value is v (1/n_1 + pi/n_0)."""
    values = crossfit.aggregate
    there = out_of_fold(crossfit.ratio_wz, "target")
    pi_wz = ByDomain(values.pi_wz, crossfit.cut(there, crossfit.all_columns()))
    variance = _variance(crossfit)
    least = SEARCH.least_variance * float(np.mean(np.concatenate(list(variance))))
    size = crossfit.sample.effective_size()
    weight = variance.zip(
        pi_wz,
        lambda v, pi: 1 / (np.maximum(v, least or 1.0) * (1 / size.target + pi / size.source)),
    )
    mean = crossfit.sample.mean(weight).target
    weight = weight.map(lambda h: h / mean)
    told = values.loss.zip(values.mu_0_wz, np.subtract).zip(weight, np.multiply)
    return _Rows(ByDomain(-values.pi_wz * told.source, told.target), weight)


def _variance(crossfit: CrossFit) -> ByDomain[Array]:
    """Of the metric at each row, as the fitted source risk expects it; none of other outcomes."""
    slope, risk = crossfit.walk.outcome.term.slope, crossfit.risk
    if slope is None or risk is None:
        return crossfit.aggregate.loss.map(np.zeros_like)
    return slope.zip(risk, lambda b, p: b**2 * p * (1 - p))


def _families(crossfit: CrossFit, masks: ByDomain[list[Packed]], rows: _Rows) -> list[Family]:
    """Single conditions, and pairs of them; pairs that are left out count as tested."""
    rng = np.random.default_rng([crossfit.settings.seed, 4])  # a stream of its own
    sample = crossfit.design.sample()
    told = Told.of(sample, rows.values, rows.weight.target, rng)
    limits = SEARCH.least_share, SEARCH.most_share
    singles = family(masks, told, *limits, pairs=False)
    strongest = np.argsort(-singles.strength, kind="stable")[: SEARCH.conditions]
    chosen = np.sort([singles.rules[k][0] for k in strongest]).astype(int)
    pairs = family(masks, told, *limits, among=chosen, pairs=True)
    left_out = math.comb(len(singles.rules), 2) - math.comb(len(chosen), 2)
    return [singles, replace(pairs, left_out=left_out)]


def _candidates(families: list[Family], known: Conditions) -> Iterator[_Candidate]:
    """The rarest first."""
    rules = [rule for one in families for rule in one.rules]
    sizes = [len(one.rules) for one in families]
    confirmed = np.repeat(confirmed_from(families, SEARCH.error), sizes)
    held = np.repeat(held_from(families, SEARCH.error), sizes)
    for place in np.argsort(-np.concatenate([one.rarity() for one in families]), kind="stable"):
        rule = rules[place]
        yield _Candidate(rule, known.rows_of(rule), float(confirmed[place]), float(held[place]))


def _enough(crossfit: CrossFit, rows: ByDomain[Mask]) -> bool:
    weighed = rows.zip(crossfit.sample.weights, lambda mask, weight: mask & (weight > 0))
    units = crossfit.sample.units.zip(weighed, lambda unit, mask: len(np.unique(unit[mask])))
    return min(units) >= SEARCH.least_units


def _overlap(one: Mask, other: Mask) -> float:
    return float((one & other).sum() / max((one | other).sum(), 1))


def _holds(crossfit: CrossFit, rows: _Rows, candidate: _Candidate) -> bool:
    """Whether the rule's own change and its contrast exceed what chance would reach."""
    inside = candidate.inside.map(lambda mask: mask.astype(float))
    change, share = _change(crossfit, rows, inside)
    everywhere, _ = _change(crossfit, rows, inside.map(np.ones_like))
    unseen = _unseen_variance(crossfit, inside.source * rows.weight.source) / share**2
    return all(
        abs(e.value) > _in_errors(e, candidate.confirmed, unseen) * e.standard_error > 0
        for e in (change, change - everywhere)
    )


def _change(crossfit: CrossFit, rows: _Rows, inside: ByDomain[Array]) -> tuple[Estimate, float]:
    """Weighted mean change among some rows, and the part of all weight they have."""
    sides = rows.values.zip(inside, np.multiply)
    total = Estimate.from_contributions(crossfit.sample, source=sides.source, target=sides.target)
    weight = Estimate.from_contributions(
        crossfit.sample,
        source=np.zeros_like(inside.source),
        target=rows.weight.target * inside.target,
    )
    return total / weight, weight.value


def _unseen_variance(crossfit: CrossFit, weight: Array) -> float:
    """What the fitted risk expects of the variance of these source rows beyond what they show.

    Where the model is nearly always right, a few dozen rows may all be right by chance: they seem
    to have no variance at all.
    """
    values = crossfit.aggregate
    expected = _variance(crossfit).source
    shown = (values.loss.source - values.mu_0_wz.source) ** 2
    weight = crossfit.sample.weights.source * weight * values.pi_wz
    return max(float((weight / len(weight)) ** 2 @ (expected - shown)), 0.0)


def _in_errors(estimate: Estimate, critical: float, unseen: float) -> float:
    """What an estimate must exceed, in its standard errors."""
    error = estimate.standard_error
    critical = as_student(critical, estimate.degrees_of_freedom)
    return critical * math.hypot(1.0, math.sqrt(unseen) / error) if error else 0.0


def _rule(crossfit: CrossFit, known: Conditions, candidate: _Candidate) -> Rule:
    line, inside = crossfit.walk.outcome, candidate.inside
    points = line.contribution(inside)
    unseen = _unseen_variance(crossfit, inside.source.astype(float))
    shares = crossfit.sample.mean(inside.map(lambda mask: mask.astype(float)))
    return Rule(
        tuple(known.conditions[k] for k in candidate.rule),
        shares.source,
        shares.target,
        points,
        points / target_share(line.term.where_values(), inside),
        _in_errors(points, candidate.held, unseen),
    )
