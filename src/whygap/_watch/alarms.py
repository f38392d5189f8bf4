"""Alarms: rules held against results, and the variables through which a part comes about."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from whygap._watch.rules import Rule, Rules
from whygap.errors import require_known
from whygap.estimate import Estimate
from whygap.results import Affected, Gap, Points
from whygap.tables.design import MODEL_LABEL, MODEL_SCORE

__all__ = ["Alarm", "alarms_of", "broken", "culprit_of", "unevenness"]

Culprit = tuple[tuple[str, ...], str]  # variables, the likeliest first; rows that are hit
_SURE = 0.9  # probability that the variable that truly comes first is among those named
_LISTED = 3  # names; of more variables that may be first, a list is no help


@dataclass(frozen=True, slots=True)
class Alarm:
    """A rule that a target has broken.

    Attributes:
        target: name of the target.
        rule: name of the rule.
        part: part of the gap, or "total".
        variables: through which the part may come about most, the likeliest first.
        group: rows that are hit, of an outcome part.
        estimate: of the part, or of the variable's points.
        interval: at `level`, so that it holds over all looks, past and future.
        level: of the interval.
        limit: what the rule allows, in the metric's units.
        metric: name of the metric.
        is_share: whether the metric is a share, which is written in points.
    """

    target: str
    rule: str
    part: str
    variables: tuple[str, ...]
    group: str
    estimate: Estimate
    interval: tuple[float, float]
    level: float
    limit: float
    metric: str
    is_share: bool

    def __str__(self) -> str:
        is_below = self.interval[1] < self.limit
        side, end = ("below", "at most") if is_below else ("above", "at least")
        numbers = (self.estimate.value, self.interval[is_below], self.limit)
        texts = [f"{100 * x:.1f} points" if self.is_share else f"{x:.4g}" for x in numbers]
        part = "gap" if self.part == "total" else f"{self.part} part"
        culprit = _in_words(self.variables, self.group)
        return (
            f"{self.target}: rule '{self.rule}' is broken. The {part} of {self.metric} is "
            f"{texts[0]}, {end} {texts[1]} over all looks, {side} {texts[2]}"
            f"{f'; {culprit}' if culprit else ''}."
        )


def _in_words(variables: Sequence[str], group: str) -> str:
    rows = f" ({group})" if group else ""
    if len(variables) > _LISTED:
        return f"through which variable cannot be told, {variables[0]}{rows} comes first"
    if len(variables) < 2:
        return "".join(f"most of it through {name}{rows}" for name in variables)
    names = f"{', '.join(variables[:-1])} or {variables[-1]}"
    return f"most of it through {names}, which cannot be told apart{rows}"


def alarms_of(rules: Rules, name: str, gap: Gap, look: int) -> Iterator[Alarm]:
    """Yield the alarms that a target raises at a look; a rule that cannot be judged raises none."""
    for rule in rules.rule:
        estimate = _estimate(rule, gap)
        error = rules.error(rule, look)
        interval = None if estimate is None else broken(rule, estimate, error)
        if estimate is None or interval is None:
            continue
        sign = -1.0 if rule.above is None else 1.0
        culprit = ((rule.variable,), "") if rule.variable else culprit_of(gap, rule.part, sign)
        limit = rule.below if rule.above is None else rule.above
        yield Alarm(
            *(name, rule.title, rule.part, *culprit),
            estimate=estimate,
            interval=interval,
            level=1 - 2 * error,
            limit=float(limit or 0.0),
            metric=gap.about.metric,
            is_share=gap.about.is_share,
        )


def broken(rule: Rule, estimate: Estimate, error: float) -> tuple[float, float] | None:
    """Return the interval of an estimate that lies wholly beyond the limit, or None."""
    low, high = interval = estimate.interval(1 - 2 * error)
    is_below = rule.below is not None and high < rule.below
    is_above = rule.above is not None and low > rule.above
    return interval if is_below or is_above else None


def _estimate(rule: Rule, gap: Gap) -> Estimate | None:
    if not rule.variable:
        return gap.total if rule.part == "total" else gap.parts.get(rule.part)
    points = gap.points.get(rule.part)
    if not points:
        return None
    message = f"The rule '{rule.title}' names '{rule.variable}', which has no points there"
    require_known(rule.variable, points, message, "Variables")
    return points[rule.variable]


def culprit_of(gap: Gap, part: str, sign: float) -> Culprit:
    """Return the variables that may move a part most in a direction, and the rows that are hit.

    A sign of -1 asks for a fall, 1 for a rise; of "total" its largest part in that direction is
    looked at.

    Args:
        gap: the target's result.
        part: name of the part, or "total".
        sign: -1 or 1.
    """
    if part == "total" and gap.parts:
        part = max(gap.parts, key=lambda name: sign * gap.parts[name].value)
    if part in gap.affected:
        return _hit_hardest(gap.affected[part], sign) if gap.affected[part].groups else ((), "")
    points = gap.points.get(part)
    return (points.first(_SURE, lowest=sign < 0) if points else ()), ""


def _hit_hardest(affected: Affected, sign: float) -> Culprit:
    """Return the variables along which the change may be most uneven, and a rule or group."""
    names = affected.variables()
    columns = [name for name in names if name not in (MODEL_LABEL, MODEL_SCORE)]
    variables = unevenness(affected, columns or names).first(_SURE)
    for rule in affected.rules:
        in_rule = {condition.variable for condition in rule.conditions}
        if variables[0] in in_rule and sign * rule.points.value > 0:
            return variables, str(rule)
    excess = zip(affected.groups, affected.excess(), strict=True)
    distances = {group.label: e.distance() for group, e in excess if group.variable == variables[0]}
    return variables, max(distances, key=lambda label: sign * distances[label])


def unevenness(affected: Affected, variables: Sequence[str]) -> Points:
    """Compute, by variable, the variance over target rows of the mean change of a row's group.

    The variance is a quadratic form x'Ax of the groups' points x, less what their errors C add,
    tr(AC). The covariance of two is 4 x'ACBx by the delta method, too wide rather than too narrow
    where x is mostly noise.

    Args:
        affected: groups of a part, with the covariance of their points.
        variables: names of the variables to compute.
    """
    points = np.array([group.points.value for group in affected.groups])
    forms = [_form(affected, name) for name in variables]
    values = [points @ form @ points - np.trace(form @ affected.covariance) for form in forms]
    slopes = np.array([2 * form @ points for form in forms])
    covariance = slopes @ affected.covariance @ slopes.T
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    freedom = min(group.points.degrees_of_freedom for group in affected.groups)
    pairs = zip(values, errors, strict=True)
    estimates = [Estimate(float(v), float(e), degrees_of_freedom=freedom) for v, e in pairs]
    return Points(dict(zip(variables, estimates, strict=True)), covariance)


def _form(affected: Affected, variable: str) -> np.ndarray:
    """Return A so that x'Ax sums the squared excess of a variable's groups over the shares."""
    is_own = np.array([group.variable == variable for group in affected.groups])
    share = np.where(is_own, [group.target_share for group in affected.groups], 0.0)
    excess = np.diag(is_own.astype(float)) - np.outer(share, is_own)
    inverse = np.divide(1.0, share, out=np.zeros_like(share), where=share > 0)
    return np.asarray(excess.T @ (inverse[:, None] * excess))
