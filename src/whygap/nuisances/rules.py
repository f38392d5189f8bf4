"""Rules of up to two conditions: searched on half of the units, measured on the other half.

Then the halves change places. A rule is searched by its contrast (how far the mean change among its
rows differs from the rest), because a shift that hits everybody alike needs no rule; it is shown
only if, on rows that had no part in finding it, both the contrast and the contribution differ from
0, all measured rules taken together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whygap.combine import joint_covariance
from whygap.domains import Array, ByDomain, Domain, Subset
from whygap.estimate import Estimate
from whygap.nuisances.conditions import Conditions, Mask, conditions_of
from whygap.nuisances.cross_fit import CrossFit
from whygap.results import Rule
from whygap.shapley import max_t_quantile
from whygap.student import as_student

__all__ = ["Rules", "find_rules"]

Masks = ByDomain[Mask]


@dataclass(frozen=True, slots=True)
class Search:
    """Which rules are looked for, and when one is confirmed."""

    measured: int = 5  # rules each way round: enough to name the worst, few enough to confirm them
    level: float = 0.975  # each way round has half of the 5% that may go wrong
    # Of the target rows: groups of hardly any rows, or of nearly all, say nothing about where.
    least_share: float = 0.02
    most_share: float = 0.95
    same: float = 0.7  # two rules that share this part of their target rows are one
    conditions: int = 300  # that enter pairs, at most: the strongest ones where a table is wide
    least_units: int = 20  # fewer rows (or clusters) of a domain in half of a rule measure nothing


SEARCH = Search()


@dataclass(frozen=True, slots=True)
class Rules:
    """Confirmed rules, the largest contribution first, and how many were measured."""

    confirmed: tuple[Rule, ...]
    measured: int


@dataclass(frozen=True, slots=True, eq=False)
class _Measured:
    rule: tuple[int, ...]
    points: Estimate
    change: Estimate
    critical: float
    confirmed: bool


def find_rules(crossfit: CrossFit) -> Rules:
    """Search on either half, measure on the other, keep what is confirmed."""
    known = conditions_of(crossfit, SEARCH.least_share)
    halves = _halves(crossfit)
    if not known.conditions or not all(_enough(crossfit, half) for half in halves):
        return Rules((), 0)
    residual = crossfit.aggregate.loss.zip(crossfit.aggregate.mu_0_wz, np.subtract)
    rows = ByDomain(-crossfit.aggregate.pi_wz * residual.source, residual.target)
    measured: list[_Measured] = []
    for one, other in (halves, halves[::-1]):
        chosen = _search(crossfit, known, rows, one, other)
        measured += _measure(crossfit, known, rows, other, chosen)
    return Rules(tuple(_shown(crossfit, known, measured)), len(measured))


def _halves(crossfit: CrossFit) -> tuple[ByDomain[Mask], ByDomain[Mask]]:
    """Units at random, so that rows of one cluster stay together."""
    first = crossfit.sample.random_half(np.random.default_rng([crossfit.settings.seed, 3]))
    return first, first.map(np.logical_not)


def _search(
    crossfit: CrossFit, known: Conditions, rows: ByDomain[Array], half: Masks, other: Masks
) -> list[tuple[int, ...]]:
    """The strongest rules by their contrast on one half, no two of nearly the same rows.

    The largest of n null z-values is about sqrt(2 log n): pairs, of which there are many, must
    exceed that by as much as single conditions exceed theirs.
    """
    weights = crossfit.sample.weights
    z = _contrasts(known.masks, rows, weights, half)
    singles = np.diag(z)
    strongest = np.sort(np.argsort(-singles, kind="stable")[: SEARCH.conditions])
    i, j = np.triu_indices(len(strongest), 1)
    pairs = z[strongest[i], strongest[j]]
    scores = np.concatenate([singles - _by_chance(singles), pairs - _by_chance(pairs)])
    rules: list[tuple[int, ...]] = [(k,) for k in range(len(singles))]
    rules += [(int(a), int(b)) for a, b in zip(strongest[i], strongest[j], strict=True)]
    chosen: list[tuple[int, ...]] = []
    kept: list[Mask] = []
    for place in np.argsort(-scores, kind="stable"):
        if len(chosen) == SEARCH.measured or not scores[place] > -np.inf:
            break
        inside = known.rows_of(rules[place])
        if any(_overlap(inside.target, one) > SEARCH.same for one in kept):
            continue
        if all(_enough(crossfit, inside.zip(part, np.logical_and)) for part in (half, other)):
            chosen.append(rules[place])
            kept.append(inside.target)
    return chosen


def _enough(crossfit: CrossFit, rows: ByDomain[Mask]) -> bool:
    weighed = rows.zip(crossfit.sample.weights, lambda mask, weight: mask & (weight > 0))
    units = crossfit.sample.units.zip(weighed, lambda unit, mask: len(np.unique(unit[mask])))
    return min(units) >= SEARCH.least_units


def _by_chance(z: Array) -> float:
    count = int(np.isfinite(z).sum())
    return math.sqrt(2 * math.log(max(count, 2)))


def _overlap(one: Mask, other: Mask) -> float:
    return float((one & other).sum() / max((one | other).sum(), 1))


def _contrasts(
    masks: ByDomain[Mask], rows: ByDomain[Array], weights: ByDomain[Array], half: ByDomain[Mask]
) -> Array:
    """|z| of C(g) - P(g) C(all) for every pair of conditions (singles on the diagonal).

    Sizes outside the limits get -inf. Rows count as independent here: this only ranks rules.
    """
    top: Array = np.zeros(1)
    total, share = 0.0, np.zeros(1)
    sides = []
    for d in ("target", "source"):
        inside = half[d]
        member = masks[d][inside].astype(np.float32)
        weight = weights[d][inside] / weights[d][inside].sum()
        value = weight * rows[d][inside]
        if d == "target":
            share = member.T @ (member * weight[:, None].astype(np.float32))
        sums = member.T @ (member * value[:, None].astype(np.float32))
        squares = member.T @ (member * (value**2)[:, None].astype(np.float32))
        sides.append((value, squares))
        top, total = top + sums, total + float(value.sum())
    variance: Array = np.zeros(1)
    for value, squares in sides:
        spread = squares * (1 - 2 * share) + share**2 * float(value @ value)
        variance = variance + np.maximum(spread, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.abs(top - share * total) / np.sqrt(variance)
    allowed = (share >= SEARCH.least_share) & (share <= SEARCH.most_share) & (variance > 0)
    return np.where(allowed, z, -np.inf)


def _measure(
    crossfit: CrossFit, known: Conditions, rows: ByDomain[Array], half: Masks, rules: list[Subset]
) -> list[_Measured]:
    """Contribution and contrast of each rule on the other half, all taken together."""
    found = []
    line, everybody = crossfit.walk.outcome, rows.map(lambda one: np.ones(len(one), dtype=bool))
    whole = line.with_error(_half_mean(crossfit, rows, half), everybody)
    for rule in rules:
        inside = known.rows_of(rule).map(lambda mask: mask.astype(float))
        points = _half_mean(crossfit, rows.zip(inside, np.multiply), half)
        points = line.with_error(points, known.rows_of(rule))
        nothing = np.zeros_like(inside.source)
        share = _half_mean(crossfit, ByDomain(nothing, inside.target), half)
        if share.value > 0:
            unseen = _unseen_variance(crossfit, inside.source * half.source)
            found.append((rule, points, share, points - share * whole, unseen))
    if not found:
        return []
    critical = max_t_quantile(
        joint_covariance([e for f in found for e in (f[1], f[3])]), SEARCH.level
    )
    return [
        _Measured(
            rule,
            points,
            points / share,
            _in_errors(points, critical, unseen),
            all(
                abs(e.value) > _in_errors(e, critical, unseen) * e.standard_error > 0
                for e in (points, contrast)
            ),
        )
        for rule, points, share, contrast, unseen in found
    ]


def _unseen_variance(crossfit: CrossFit, inside: Array) -> float:
    """What the fitted risk expects of the variance of these source rows beyond what they show.

    Where the model is nearly always right, a few dozen rows may all be right by chance: they seem
    to have no variance at all.
    """
    values, slopes = crossfit.aggregate, crossfit.walk.outcome.term.slope
    if slopes is None or crossfit.risk is None:  # of other outcomes no more is known than is shown
        return 0.0
    slope, risk = (crossfit.evaluated(v).source for v in (slopes, crossfit.risk))
    expected = slope**2 * risk * (1 - risk)
    shown = (values.loss.source - values.mu_0_wz.source) ** 2
    weight = crossfit.sample.weights.source * inside * values.pi_wz
    in_half = len(weight) / 2  # weights have mean 1
    return max(float((weight / in_half) ** 2 @ (expected - shown)), 0.0)


def _in_errors(estimate: Estimate, critical: float, unseen: float) -> float:
    """What an estimate must exceed, in its standard errors."""
    error = estimate.standard_error
    critical = as_student(critical, estimate.degrees_of_freedom)
    return critical * math.hypot(1.0, math.sqrt(unseen) / error) if error else 0.0


def _half_mean(crossfit: CrossFit, rows: ByDomain[Array], half: ByDomain[Mask]) -> Estimate:
    """Mean over one half of the rows, as an estimate of the whole study."""
    weights = crossfit.sample.weights

    def contributions(d: Domain) -> Array:
        weight = weights[d] * half[d]
        mean = float(weight @ rows[d] / weight.sum())
        return np.asarray(mean + half[d] * (rows[d] - mean) * (len(weight) / weight.sum()))

    return Estimate.from_contributions(
        crossfit.sample, source=contributions("source"), target=contributions("target")
    )


def _shown(crossfit: CrossFit, known: Conditions, measured: Sequence[_Measured]) -> list[Rule]:
    """Confirmed rules; one that was confirmed both ways round, with one sign, is their mean."""
    by_rule: dict[tuple[int, ...], list[_Measured]] = {}
    for one in measured:
        if one.confirmed:
            by_rule.setdefault(one.rule, []).append(one)
    rules = [
        _rule(crossfit, known, rule, both)
        for rule, both in by_rule.items()
        if len({one.points.value > 0 for one in both}) == 1
    ]
    rules.sort(key=lambda rule: -abs(rule.points.value))
    shown: list[tuple[Rule, Mask]] = []
    by_conditions = {tuple(known.conditions[k] for k in rule): rule for rule in by_rule}
    for rule in rules:
        inside = known.rows_of(by_conditions[rule.conditions]).target
        if not any(_overlap(inside, other) > SEARCH.same for _, other in shown):
            shown.append((rule, inside))
    return [rule for rule, _ in shown]


def _rule(
    crossfit: CrossFit, known: Conditions, rule: tuple[int, ...], both: Sequence[_Measured]
) -> Rule:
    points = sum((m.points for m in both[1:]), both[0].points) / len(both)
    change = sum((m.change for m in both[1:]), both[0].change) / len(both)
    half_width = max(m.critical for m in both) * points.standard_error
    shares = crossfit.sample.mean(known.rows_of(rule).map(lambda mask: mask.astype(float)))
    return Rule(
        tuple(known.conditions[k] for k in rule),
        shares.source,
        shares.target,
        points,
        change,
        (points.value - half_width, points.value + half_width),
        len(both),
    )
