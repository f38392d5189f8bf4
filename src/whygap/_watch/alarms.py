"""Rules held against results: an alarm says which rule, which part and which variable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import stats

from whygap._watch.rules import AlertRule, Alerts, allowance
from whygap.errors import InputError, require_known
from whygap.estimate import Estimate
from whygap.results import Gap, Where
from whygap.tables.design import MODEL_LABEL, MODEL_SCORE

__all__ = ["Alarm", "Silence", "broken", "judge"]


@dataclass(frozen=True, slots=True)
class Alarm:
    """A rule that was broken by one target.

    Attributes:
        rule: its name.
        bound: what the part is at most (or at least), all looks taken together.
        limit: what the rule allows.
        variable: through which the part comes about, as far as the details tell.
        group: whom it hits, of an outcome part.
    """

    target: str
    look: int
    rule: str
    part: str
    variable: str
    group: str
    metric: str
    value: float
    bound: float
    limit: float
    in_points: bool

    def __str__(self) -> str:
        side, ends = ("below", "at most") if self.bound < self.limit else ("above", "at least")
        what = "gap" if self.part == "gap" else f"{self.part} part"
        whom = f"{self.variable} ({self.group})" if self.group else self.variable
        through = f"; most of it through {whom}" if whom else ""
        return (
            f"{self.target}: rule '{self.rule}' is broken. The {what} of {self.metric} is "
            f"{self._said(self.value)}, {ends} {self._said(self.bound)} over all looks, {side} "
            f"{self._said(self.limit)}{through}."
        )

    def _said(self, value: float) -> str:
        return f"{100 * value:.1f} points" if self.in_points else f"{value:.4g}"


@dataclass(frozen=True, slots=True)
class Silence:
    """A target of which nothing can be said, and why."""

    target: str
    reason: str

    def __str__(self) -> str:
        return f"{self.target}: cannot say. {self.reason}"


def judge(alerts: Alerts, gaps: Mapping[str, Gap], looks: Mapping[str, int]) -> tuple[Alarm, ...]:
    """Every rule against every target, each look with its own share of the error."""
    found = (
        alarm_of(rule, name, gap, looks[name], alerts.looks)
        for name, gap in gaps.items()
        for rule in alerts.rules
    )
    return tuple(alarm for alarm in found if alarm is not None)


def alarm_of(rule: AlertRule, name: str, gap: Gap, look: int, looks: int) -> Alarm | None:
    """The alarm that a rule raises at one look; None where it holds, or cannot be judged."""
    if rule.in_points and not gap.about.is_share:
        raise InputError(
            f"The rule '{rule.name}' is in points, which '{gap.about.metric}' does not have",
            hint="Give the limit as a number in the metric's units.",
        )
    estimate = _estimate(rule, gap)
    bound = None if estimate is None else broken(rule, estimate, look, looks)
    if estimate is None or bound is None:
        return None
    sign, limit = (-1.0, rule.below) if rule.above is None else (1.0, rule.above)
    culprit = Culprit(rule.variable) if rule.variable else culprit_of(gap, rule.part, sign)
    about = gap.about
    return Alarm(
        target=name,
        look=look,
        rule=rule.name,
        part=rule.part,
        variable=culprit.variable,
        group=culprit.group,
        metric=about.metric,
        value=estimate.value,
        bound=bound,
        limit=float(limit or 0.0),
        in_points=about.is_share,
    )


def broken(rule: AlertRule, estimate: Estimate, look: int, looks: int) -> float | None:
    """What the estimate is at most (or at least) where that is beyond the limit; else None."""
    low, high = estimate.interval(1 - 2 * allowance(look, rule.error, looks))
    if rule.below is not None and high < rule.below:
        return high
    return low if rule.above is not None and low > rule.above else None


def _estimate(rule: AlertRule, gap: Gap) -> Estimate | None:
    if rule.variable:
        points = {} if gap.points is None else gap.points.parts()[rule.part]
        if points:
            what = f"The rule '{rule.name}' names '{rule.variable}', which has no points there"
            require_known(rule.variable, points, what, "Variables")
        return points[rule.variable] if points else None
    return {"gap": gap.aggregate.gap, **gap.aggregate.parts()}.get(rule.part)


@dataclass(frozen=True, slots=True)
class Culprit:
    """Where a part comes from."""

    variable: str = ""
    group: str = ""


def culprit_of(gap: Gap, part: str, sign: float) -> Culprit:
    """The variable that moves a part most in one direction; of an outcome part, who is hit."""
    if part == "gap":
        parts = gap.aggregate.parts()
        if not parts:
            return Culprit()
        return culprit_of(gap, max(parts, key=lambda name: sign * parts[name].value), sign)
    if part == "outcome" and gap.where is not None:
        return _hit_hardest(gap, sign)
    points: Mapping[str, Estimate] = {} if gap.points is None else gap.points.parts().get(part, {})
    if not points:
        return Culprit()
    return Culprit(max(points, key=lambda name: sign * points[name].value))


def _hit_hardest(gap: Gap, sign: float) -> Culprit:
    """The variable whose groups differ most; its first confirmed rule, or its worst group."""
    where = gap.where
    if where is None or not where.groups:
        return Culprit()
    names = [name for name in where.variables() if name not in (MODEL_LABEL, MODEL_SCORE)]
    variable = max(names or where.variables(), key=lambda name: _unlike(where, name))
    for rule in where.rules:
        named = {condition.variable for condition in rule.conditions}
        if variable in named and sign * rule.points.value > 0:
            return Culprit(variable, str(rule))
    beyond = zip(where.groups, where.excess(), strict=True)
    own = {group.label: excess.distance() for group, excess in beyond if group.variable == variable}
    return Culprit(variable, max(own, key=lambda label: sign * own[label]))


def _unlike(where: Where, variable: str) -> float:
    """How surely a variable's groups did not change alike: minus the log of Wald's p-value."""
    rows = [k for k, group in enumerate(where.groups) if group.variable == variable]
    points = np.array([where.groups[k].points.value for k in rows])
    share = np.array([where.groups[k].target_share for k in rows])
    beyond = np.eye(len(rows)) - share[:, None]  # less what its share of rows would carry
    excess, covariance = beyond @ points, beyond @ where.covariance[np.ix_(rows, rows)] @ beyond.T
    wald = float(excess @ np.linalg.pinv(covariance, hermitian=True) @ excess)
    return -float(stats.chi2.logsf(wald, max(len(rows) - 1, 1)))
