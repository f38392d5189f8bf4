"""Through which variables a part comes about, as far as one target's rows can tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whygap.estimate import Estimate
from whygap.results import Affected, Gap, Points
from whygap.tables.design import MODEL_LABEL, MODEL_SCORE

__all__ = ["Culprit", "culprit_of", "unevenness"]

SURE = 0.9  # how often the variable that truly comes first is to be among those named
LISTED = 3  # of more variables that may be first, a list is no help


@dataclass(frozen=True, slots=True)
class Culprit:
    """Variables that may come first, the likeliest first; of an outcome part, who is hit."""

    variables: tuple[str, ...] = ()
    group: str = ""

    def __str__(self) -> str:
        if not self.variables:
            return ""
        *others, last = self.variables
        if len(others) >= LISTED:
            first = " ".join(filter(None, [others[0], self._rows]))
            return f"through which variable cannot be told, {first} comes first"
        named = f"{', '.join(others)} or {last}" if others else last
        apart = ", which cannot be told apart" if others else ""
        return " ".join(filter(None, [f"most of it through {named}{apart}", self._rows]))

    @property
    def _rows(self) -> str:
        return f"({self.group})" if self.group else ""


def culprit_of(gap: Gap, part: str, sign: float) -> Culprit:
    """Variables that may move a part most in one direction; of an outcome part, who is hit."""
    if part == "gap":
        parts = gap.parts
        if not parts:
            return Culprit()
        return culprit_of(gap, max(parts, key=lambda name: sign * parts[name].value), sign)
    if part in gap.affected:
        return _hit_hardest(gap.affected[part], sign)
    points = gap.points.get(part)
    return Culprit(points.first(SURE, lowest=sign < 0)) if points else Culprit()


def _hit_hardest(where: Affected, sign: float) -> Culprit:
    """Variables along which the change may be most uneven; the first one's rule or worst group."""
    if not where.groups:
        return Culprit()
    columns = [name for name in where.variables() if name not in (MODEL_LABEL, MODEL_SCORE)]
    variables = unevenness(where, columns or where.variables()).first(SURE)
    for rule in where.rules:
        named = {condition.variable for condition in rule.conditions}
        if variables[0] in named and sign * rule.points.value > 0:
            return Culprit(variables, str(rule))
    beyond = zip(where.groups, where.excess(), strict=True)
    own = {group.label: e.distance() for group, e in beyond if group.variable == variables[0]}
    return Culprit(variables, max(own, key=lambda label: sign * own[label]))


def unevenness(where: Affected, variables: Sequence[str]) -> Points:
    """By variable: the variance over the target's rows of the mean change of their group.

    It is a quadratic form x'Ax of the groups' points x, less what their errors C add, tr(AC). The
    covariance of two is 4 x'ACBx by the delta method, too wide rather than too narrow where x is
    mostly noise.
    """
    points = np.array([group.points.value for group in where.groups])
    forms = [_form(where, name) for name in variables]
    values = [points @ form @ points - np.trace(form @ where.covariance) for form in forms]
    slopes = np.array([2 * form @ points for form in forms])
    covariance = slopes @ where.covariance @ slopes.T
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    freedom = min(group.points.degrees_of_freedom for group in where.groups)
    known = zip(variables, values, errors, strict=True)
    return Points(
        {name: Estimate(float(v), float(e), degrees_of_freedom=freedom) for name, v, e in known},
        covariance,
    )


def _form(where: Affected, variable: str) -> np.ndarray:
    """A such that x'Ax sums the squared excess of a variable's groups over their shares."""
    own = np.array([group.variable == variable for group in where.groups])
    share = np.where(own, [group.target_share for group in where.groups], 0.0)
    beyond = np.diag(own.astype(float)) - np.outer(share, own)
    inverse = np.divide(1.0, share, out=np.zeros_like(share), where=share > 0)
    return np.asarray(beyond.T @ (inverse[:, None] * beyond))
