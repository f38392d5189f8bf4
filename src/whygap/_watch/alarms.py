"""Rules held against results: an alarm says which rule, which part and which variable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from whygap._watch.culprit import Culprit, culprit_of
from whygap._watch.rules import AlertRule, Alerts, allowance
from whygap.errors import InputError, require_known
from whygap.estimate import Estimate
from whygap.results import Gap

__all__ = ["Alarm", "Silence", "broken", "judge"]


@dataclass(frozen=True, slots=True)
class Alarm:
    """A rule that was broken by one target.

    Attributes:
        rule: its name.
        bound: what the part is at most (or at least), all looks taken together.
        limit: what the rule allows.
        variables: through which the part may come about most, the likeliest first: the one that
            truly comes first is among them nine times in ten, as far as the details tell.
        group: whom it hits, of an outcome part.
    """

    target: str
    look: int
    rule: str
    part: str
    variables: tuple[str, ...]
    group: str
    metric: str
    value: float
    bound: float
    limit: float
    in_points: bool

    def __str__(self) -> str:
        side, ends = ("below", "at most") if self.bound < self.limit else ("above", "at least")
        what = "gap" if self.part == "gap" else f"{self.part} part"
        whom = str(Culprit(self.variables, self.group))
        through = f"; {whom}" if whom else ""
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
    culprit = Culprit((rule.variable,)) if rule.variable else culprit_of(gap, rule.part, sign)
    about = gap.about
    return Alarm(
        target=name,
        look=look,
        rule=rule.name,
        part=rule.part,
        variables=culprit.variables,
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
        points = gap.points.get(rule.part)
        if not points:
            return None
        what = f"The rule '{rule.name}' names '{rule.variable}', which has no points there"
        require_known(rule.variable, points, what, "Variables")
        return points[rule.variable]
    return {"gap": gap.total, **gap.parts}.get(rule.part)
