"""Points, where, recoverable: what each variable costs, who is hit, what can be won back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from whygap.domains import Array
from whygap.errors import ResultError
from whygap.estimate import Estimate
from whygap.results.joint import Joint, RankInterval, Sampling
from whygap.tables.design import Condition

PartName = Literal["baseline", "covariate"]


@dataclass(frozen=True, slots=True)
class Points:
    """What each variable costs, signed, in the metric's units.

    Attributes:
        baseline: columns of W; they add up to the baseline part.
        covariate: players of Z; they add up to the covariate part.
        sampling: by part, how subsets were chosen.
    """

    baseline: Joint
    covariate: Joint
    sampling: Mapping[str, Sampling]

    def parts(self) -> dict[str, Joint]:
        """Both games by name; the baseline one is empty without W."""
        return {"baseline": self.baseline, "covariate": self.covariate}

    def difference(self, part: PartName, first: str, second: str) -> Estimate:
        """Points of the first less those of the second."""
        return self._part(part).difference(first, second)

    def ranking(self, part: PartName, level: float = 0.95) -> dict[str, RankInterval]:
        """Ranks (1 = largest, signs kept) that the data do not exclude, all at once."""
        return self._part(part).ranking(level)

    def _part(self, part: Any) -> Joint:
        if not isinstance(part, str) or part not in self.parts():
            hint = "Parts are 'baseline' and 'covariate'."
            raise ResultError(f"There are no points of the part '{part}'", hint=hint)
        return self.parts()[part]


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that share a level or a range of one variable.

    Attributes:
        variable: its name; the model's own label and score have groups, too.
        label: the level or range in words.
        source_share: share of source rows.
        target_share: share of target rows.
        points: contribution to the outcome part; over one variable they add up to it.
        change: mean change within the group; None with too few target rows.
    """

    variable: str
    label: str
    source_share: float
    target_share: float
    points: Estimate
    change: Estimate | None


@dataclass(frozen=True, slots=True)
class Rule:
    """Rows that fulfil one or two conditions, and whose mean metric changed.

    Confirmed: the change differs from 0 and from that of all rows, all rules looked at together.

    Attributes:
        conditions: all must hold.
        source_share: share of source rows.
        target_share: share of target rows.
        points: contribution to the outcome part.
        change: mean change within the rule's rows.
        interval: simultaneous 95% interval of the points, over all rules that were tested.
    """

    conditions: tuple[Condition, ...]
    source_share: float
    target_share: float
    points: Estimate
    change: Estimate
    interval: tuple[float, float]

    def __str__(self) -> str:
        first, *others = self.conditions
        texts = [c.without_name() if c.variable == first.variable else str(c) for c in others]
        return " and ".join([str(first), *texts])

    def mask(self, table: Any, prediction: Any = None) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which rows of a table fulfil it; `prediction`: scores, or the name of their column."""
        from whygap.tables.filter import rows_that_fulfil

        return rows_that_fulfil(self.conditions, table, prediction)


@dataclass(frozen=True, slots=True)
class Where:
    """Who is hit by the outcome part.

    Attributes:
        groups: of every column of W and Z, and of the model's own prediction.
        covariance: of the groups' points.
        rules: confirmed ones, the largest contribution first.
        tried: how many rules were tested, all at once.
    """

    groups: tuple[Group, ...]
    covariance: Array
    rules: tuple[Rule, ...]
    tried: int

    def variables(self) -> list[str]:
        """Columns that have groups."""
        return list(dict.fromkeys(group.variable for group in self.groups))

    def of(self, variable: str) -> tuple[Group, ...]:
        """The groups of one column."""
        return tuple(group for group in self.groups if group.variable == variable)

    def simultaneous(self, level: float = 0.95) -> tuple[tuple[float, float], ...]:
        """Intervals of all groups' points, in the order of `groups`, that hold at once (max-t)."""
        from whygap.shapley import inference

        points = [group.points for group in self.groups]
        return tuple(inference.simultaneous_intervals(points, self.covariance, level))

    def excess(self) -> tuple[Estimate, ...]:
        """Each group's points beyond those that its share of the target's rows would carry.

        In the order of `groups`. Shares count as known, which widens the intervals a little.
        """
        points = np.array([group.points.value for group in self.groups])
        errors = np.sqrt(np.maximum(np.diag(self._excess_covariance()), 0.0))
        freedom = [group.points.degrees_of_freedom for group in self.groups]
        known = zip(self._beyond_share(points), errors, freedom, strict=True)
        return tuple(Estimate(float(v), float(e), degrees_of_freedom=df) for v, e, df in known)

    def simultaneous_excess(self, level: float = 0.95) -> tuple[tuple[float, float], ...]:
        """Intervals of `excess` that hold at once: who is hit more than others, not just hit."""
        from whygap.shapley import inference

        covariance = self._excess_covariance()
        return tuple(inference.simultaneous_intervals(self.excess(), covariance, level))

    def _excess_covariance(self) -> Array:
        return self._beyond_share(self._beyond_share(self.covariance).T)

    def _beyond_share(self, points: Array) -> Array:
        """Less the group's share of its variable's total, by rows."""
        _, variable = np.unique([group.variable for group in self.groups], return_inverse=True)
        same = (variable[:, None] == variable).astype(float)
        shares = np.array([group.target_share for group in self.groups])
        return np.asarray(points - (shares * (same @ points).T).T)


@dataclass(frozen=True, slots=True)
class Budget:
    """Squared error that a better model could win back: total = recalibration + variables.

    Attributes:
        total: all that these columns can win.
        irreducible: what no model on these columns can win.
        recalibration: what a new scale of the model's own score wins; None on the target's mix.
        variables: through which columns the rest is won, W and Z alike; None likewise.
        sampling: how subsets were chosen.
    """

    total: Estimate
    irreducible: Estimate
    recalibration: Estimate | None = None
    variables: Joint | None = None
    sampling: Sampling | None = None


@dataclass(frozen=True, slots=True)
class Recoverable:
    """Three budgets of squared error, and what the target adds to what was missed at home.

    Attributes:
        here: with target labels, in the target.
        on_target_mix: with source labels, on the target's rows: what reweighting could win; None
            where the tables cannot be compared.
        at_home: in the source: what the model already missed.
        here_less_at_home: `here.total` minus `at_home.total`.
    """

    here: Budget
    on_target_mix: Budget | None
    at_home: Budget
    here_less_at_home: Estimate
