"""Rules of up to two conditions: all are tested at once, on all rows, and few are shown.

A rule is confirmed when the mean change among its rows differs from 0 and from that of all rows (a
shift that hits everybody alike needs no rule) by more than the largest of all rules would by chance
(Bonferroni; singles and pairs have half of the 5% each, for there are few singles and many pairs).
Searching on half of the rows and confirming on the rest pays twice: in half of the rows the right
rule is seldom among the first.

Where nothing changed, any weights of rows give a mean change of 0. The test takes those that see a
change best: rows that both tables have many of, and whose outcome is little in doubt. Shown are
the contribution to the outcome part and the plain mean change, as of groups; a rule whose
contribution cannot be told from 0, taken alone, is not shown.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from whygap.domains import DOMAINS, Array, ByDomain, Domain, Subset
from whygap.equations.where import target_share
from whygap.estimate import Estimate
from whygap.nuisances.conditions import Conditions, Mask, conditions_of
from whygap.nuisances.cross_fit import CrossFit, clipped
from whygap.nuisances.held_out import out_of_fold
from whygap.results import Rule
from whygap.student import as_student, normal_quantile

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
    # Of the mean variance: rows whose outcome is hardly in doubt count for twice the mean at most,
    # because a fitted risk is not that sure.
    least_variance: float = 0.5


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
    critical: float  # for normal values, over all candidates of as many conditions


def find_rules(crossfit: CrossFit) -> Rules:
    """Rank all candidates, measure the first distinct ones, keep what is confirmed."""
    known = conditions_of(crossfit, SEARCH.least_share)
    everything = crossfit.sample.weights.map(lambda w: w > 0)
    if not known.conditions or not _enough(crossfit, everything):
        return Rules((), 0)
    rows = _rows(crossfit)
    ranking = _ranking(crossfit, known, rows)
    distinct: list[_Candidate] = []
    for candidate in ranking.candidates(known):
        if len(distinct) == SEARCH.measured:
            break
        alike = (_overlap(candidate.inside.target, one.inside.target) for one in distinct)
        if max(alike, default=0.0) <= SEARCH.same and _enough(crossfit, candidate.inside):
            distinct.append(candidate)
    held = [_rule(crossfit, known, one) for one in distinct if _holds(crossfit, rows, one)]
    confirmed = [rule for rule in held if rule.points.p_value() < SEARCH.error]
    confirmed.sort(key=lambda rule: -abs(rule.points.value))
    return Rules(tuple(confirmed), ranking.tested)


def _rows(crossfit: CrossFit) -> _Rows:
    """Values and weights of all rows; the variance of a row's value is v (1/n_1 + pi/n_0)."""
    values = crossfit.aggregate
    pi_wz = ByDomain(
        values.pi_wz, clipped(out_of_fold(crossfit.ratio_wz, "target"), crossfit.settings)
    )
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
    return crossfit.evaluated(slope.zip(risk, lambda b, p: b**2 * p * (1 - p)))


@dataclass(frozen=True, slots=True, eq=False)
class _Ranking:
    """Rules of the allowed sizes, by their strength over what chance would reach."""

    rules: list[Subset]
    critical: Array
    order: Array
    tested: int

    def candidates(self, known: Conditions) -> Iterator[_Candidate]:
        """The strongest first."""
        for place in self.order:
            rule = self.rules[place]
            yield _Candidate(rule, known.rows_of(rule), float(self.critical[place]))


def _ranking(crossfit: CrossFit, known: Conditions, rows: _Rows) -> _Ranking:
    singles = _strengths(crossfit, known.masks, rows, pairs=False)
    strongest = np.sort(np.argsort(-singles, kind="stable")[: SEARCH.conditions])
    some = known.masks.map(lambda mask: mask[:, strongest])
    i, j = np.triu_indices(len(strongest), 1)
    pairs = _strengths(crossfit, some, rows, pairs=True)[i, j]
    left_out = math.comb(len(singles), 2) - len(pairs)  # they count as tested
    counts = (int(np.isfinite(singles).sum()), int(np.isfinite(pairs).sum()) + left_out)
    critical = np.repeat([_critical(count) for count in counts], [len(singles), len(pairs)])
    strength = np.concatenate([singles, pairs]) / critical
    rules: list[Subset] = [(k,) for k in range(len(singles))]
    rules += [(int(a), int(b)) for a, b in zip(strongest[i], strongest[j], strict=True)]
    order = np.argsort(-strength, kind="stable")
    return _Ranking(rules, critical, order[np.isfinite(strength[order])], sum(counts))


def _critical(count: int) -> float:
    """Singles and pairs have half of the error each."""
    return normal_quantile(1 - SEARCH.error / 2 / max(count, 1))


def _strengths(crossfit: CrossFit, masks: ByDomain[Mask], rows: _Rows, *, pairs: bool) -> Array:
    """The smaller |z| of a rule's own change and of its contrast to all rows.

    Of every condition, or of every pair of them. Sizes outside the limits get -inf. Rows count as
    independent here: this only ranks rules.
    """
    weights = crossfit.sample.weights.map(lambda w: w / w.sum())
    value = rows.values.zip(weights, np.multiply)

    def sums(d: Domain, per_row: Array) -> Array:
        member, column = masks[d].astype(np.float32), per_row.astype(np.float32)
        return np.asarray(member.T @ (member * column[:, None] if pairs else column), dtype=float)

    share, weight = sums("target", weights.target), rows.weight.target * weights.target
    part = sums("target", weight) / weight.sum()
    own = sums("target", value.target) + sums("source", value.source)
    whole = float(value.target.sum() + value.source.sum())
    centred = ByDomain(value.source, value.target - whole / weight.sum() * weight)
    own_variance = sum(sums(d, value[d] ** 2) for d in DOMAINS)
    variance = sum(
        sums(d, centred[d] ** 2) * (1 - 2 * part) + part**2 * float(centred[d] @ centred[d])
        for d in DOMAINS
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.minimum(
            np.abs(own) / np.sqrt(own_variance),
            np.abs(own - part * whole) / np.sqrt(np.maximum(variance, 0.0)),
        )
    allowed = (share >= SEARCH.least_share) & (share <= SEARCH.most_share) & (own_variance > 0)
    return np.where(allowed & np.isfinite(z), z, -np.inf)


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
        abs(e.value) > _in_errors(e, candidate.critical, unseen) * e.standard_error > 0
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
    half_width = _in_errors(points, candidate.critical, unseen) * points.standard_error
    shares = crossfit.sample.mean(inside.map(lambda mask: mask.astype(float)))
    return Rule(
        tuple(known.conditions[k] for k in candidate.rule),
        shares.source,
        shares.target,
        points,
        points / target_share(line.term.where_values(), inside),
        (points.value - half_width, points.value + half_width),
    )
