"""Details of a gap: affected groups, recoverable error, and the paper's shares."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from whygap.domains import Array
from whygap.errors import ResultError, did_you_mean, name_list
from whygap.estimate import Estimate, Interval
from whygap.results.points import Points, RankInterval, Sampling
from whygap.shapley.inference import simultaneous_intervals
from whygap.tables.design import Condition


@dataclass(frozen=True, slots=True)
class AffectedGroup:
    """Rows that share a level or a range of one variable.

    Attributes:
        variable: its name; the model's own label and score have groups, too.
        label: the level or range in words.
        source_share: share of source rows.
        target_share: share of target rows.
        points: contribution to the part; over one variable they add up to the part.
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
        points: contribution to the part.
        change: mean change within the rule's rows.
        errors: half the width of `interval`, in standard errors of the points.
    """

    conditions: tuple[Condition, ...]
    source_share: float
    target_share: float
    points: Estimate
    change: Estimate
    errors: float

    @property
    def interval(self) -> Interval:
        """Simultaneous 95% interval of the points, over all rules that were tested."""
        half = self.errors * self.points.standard_error
        return Interval(self.points.value - half, self.points.value + half)

    def __str__(self) -> str:
        first, *further = self.conditions
        texts = [c.without_name() if c.variable == first.variable else str(c) for c in further]
        return " and ".join([str(first), *texts])

    def mask(self, table: Any, prediction: Any = None) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return which rows of a table fulfil the rule.

        Args:
            table: with the columns that the conditions name.
            prediction: scores, or the name of their column, where a condition is on the model's.
        """
        from whygap.tables.filter import rows_that_fulfil

        return rows_that_fulfil(self.conditions, table, prediction)


@dataclass(frozen=True, slots=True)
class Affected:
    """Groups of rows that a part of the gap falls on.

    Attributes:
        groups: of every column of W and Z, and of the model's own prediction.
        covariance: of the groups' points.
        rules: confirmed ones, the largest contribution first.
        n_rules_tested: how many rules were tested, all at once.
    """

    groups: tuple[AffectedGroup, ...]
    covariance: Array
    rules: tuple[Rule, ...]
    n_rules_tested: int

    def variables(self) -> list[str]:
        """Return the names of the columns that have groups."""
        return list(dict.fromkeys(group.variable for group in self.groups))

    def groups_of(self, variable: str) -> tuple[AffectedGroup, ...]:
        """Return the groups of a column."""
        return tuple(group for group in self.groups if group.variable == variable)

    def simultaneous(self, level: float = 0.95) -> tuple[Interval, ...]:
        """Return intervals of all groups' points, in the order of `groups`, that hold at once.

        Args:
            level: of all intervals together.
        """
        points = [group.points for group in self.groups]
        return tuple(simultaneous_intervals(points, self.covariance, level))

    def excess(self) -> tuple[Estimate, ...]:
        """Return each group's points beyond what the group's share of target rows would carry.

        In the order of `groups`. Shares of rows count as exact, which widens intervals a little.
        """
        points = np.array([group.points.value for group in self.groups])
        errors = np.sqrt(np.maximum(np.diag(self._excess_covariance()), 0.0))
        freedom = [group.points.degrees_of_freedom for group in self.groups]
        terms = zip(self._beyond_share(points), errors, freedom, strict=True)
        return tuple(Estimate(float(v), float(e), degrees_of_freedom=df) for v, e, df in terms)

    def simultaneous_excess(self, level: float = 0.95) -> tuple[Interval, ...]:
        """Return intervals of `excess` that hold at once: who is affected beyond the average.

        Args:
            level: of all intervals together.
        """
        return tuple(simultaneous_intervals(self.excess(), self._excess_covariance(), level))

    def _excess_covariance(self) -> Array:
        return self._beyond_share(self._beyond_share(self.covariance).T)

    def _beyond_share(self, points: Array) -> Array:
        """Subtract from each group a share, by rows, of the variable's total."""
        _, variable = np.unique([group.variable for group in self.groups], return_inverse=True)
        is_of_variable = (variable[:, None] == variable).astype(float)
        shares = np.array([group.target_share for group in self.groups])
        return np.asarray(points - (shares * (is_of_variable @ points).T).T)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Squared error that a better model could win back: total = recalibration + variables.

    Attributes:
        total: all that these columns can win.
        irreducible: what no model on these columns can win.
        recalibration: what a new scale of the model's own score wins; None on the target's mix.
        variables: through which columns the rest is won, W and Z alike; None on the target's mix.
    """

    total: Estimate
    irreducible: Estimate
    recalibration: Estimate | None = None
    variables: Points | None = None

    @property
    def sampling(self) -> Sampling | None:
        """How subsets were chosen."""
        return None if self.variables is None else self.variables.sampling


@dataclass(frozen=True, slots=True, kw_only=True)
class Recoverable(Budget):
    """Squared error in the target that target labels could win back, and what to compare it with.

    Attributes:
        source: the budget of the source: what the model already missed there.
        added_in_target: `total` minus `source.total`.
        reweighted: with source labels, on the target's rows: what reweighting could win; None
            where the tables cannot be compared.
    """

    source: Budget
    added_in_target: Estimate
    reweighted: Budget | None = None


@dataclass(frozen=True, slots=True)
class SubsetValue:
    """Numerator and value of one evaluated subset."""

    players: tuple[str, ...]
    numerator: Estimate
    value: Estimate | None


@dataclass(frozen=True, slots=True)
class Shares:
    """The paper's shares of one part.

    Attributes:
        part: "covariate" or "outcome".
        players: all player names, in the study's order.
        denominator: mean squared gap across strata; what the shares are shares of.
        reason: why shares are not defined, in words; empty where they are.
        base: v(empty): what recalibrating the re-estimated source risk within strata of W explains,
            which is no recalibration of the model (always 0 for covariates).
        values: player -> share; empty when not defined.
        subsets: the subsets that were evaluated.
    """

    part: Literal["covariate", "outcome"]
    players: tuple[str, ...]
    denominator: Estimate
    reason: str = ""
    base: Estimate | None = None
    values: Points = field(default_factory=lambda: Points({}, np.zeros((0, 0))))
    subsets: tuple[SubsetValue, ...] = ()

    @property
    def defined(self) -> bool:
        """Whether the denominator is distinguishable from 0, and the shares say something."""
        return not self.reason

    @property
    def sampling(self) -> Sampling | None:
        """How subsets were chosen."""
        return self.values.sampling

    def numerator(self, names: Iterable[str]) -> Estimate:
        """Return the unexplained mean squared gap of a subset that was evaluated.

        Args:
            names: the players of the subset.
        """
        return self._subset(names).numerator

    def value(self, names: Iterable[str]) -> Estimate:
        """Return the explained share v(s) of a subset that was evaluated.

        Args:
            names: the players of the subset.
        """
        value = self._subset(names).value
        if value is None:
            raise ResultError(f"The {self.part} values are undefined", hint=self.reason)
        return value

    def difference(self, first: str, second: str) -> Estimate:
        """Return the share of `first` minus the share of `second`."""
        return self._defined().difference(first, second)

    def ranking(self, level: float = 0.95) -> dict[str, RankInterval]:
        """Return simultaneous rank intervals of all players."""
        return self._defined().ranking(level)

    def _defined(self) -> Points:
        if not self.defined:
            raise ResultError(f"The {self.part} shares are undefined", hint=self.reason)
        return self.values

    def _subset(self, names: Iterable[str]) -> SubsetValue:
        players = frozenset(name_list(names, "A subset", ResultError))
        for name in players - set(self.players):
            hint = did_you_mean(name, self.players)
            raise ResultError(f"There is no player named '{name}'", hint=hint)
        for subset in self.subsets:
            if frozenset(subset.players) == players:
                return subset
        raise ResultError(
            "This subset was not evaluated",
            got="{" + ", ".join(sorted(players)) + "}",
            hint="Ask for it with whygap.subset_values(study, part=..., subsets=[...]).",
        )
