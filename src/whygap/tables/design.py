"""What the entrance hands to every later room: two encoded tables, as arrays."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from whygap._metrics import Metric, Task
from whygap.domains import Array, ByDomain, IntArray
from whygap.errors import SettingsError
from whygap.estimate import Sample
from whygap.notes import Note

MODEL_SCORE = "the model's score"  # what rules call the prediction, which need not be a column
MODEL_LABEL = "the model's label"  # likewise, where it is a class
THE_OUTCOME = "the outcome"  # its column, where rows are compared given the outcome
Order = Literal["covariates first", "outcome first"]
ORDERS: tuple[Order, ...] = ("covariates first", "outcome first")
POOLED_LEVEL = "(other)"  # the level of pooled rare levels begins with it


@dataclass(frozen=True, slots=True)
class Column:
    """One encoded column; missing is NaN.

    `numeric`: the values. `ordinal` and `category`: codes 0..k-1, whose order means something or
    nothing. `meaning`: what numbers stand for, if not themselves (days and seconds, 0 and 1).
    """

    name: str
    kind: Literal["numeric", "ordinal", "category"]
    levels: tuple[str, ...] = ()
    meaning: Literal["", "boolean", "date", "time"] = ""


@dataclass(frozen=True, slots=True)
class Player:
    """A covariate, or a group of covariates, that receives one share."""

    name: str
    columns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """One column's half of a rule.

    `kind` is "is" (a level), "above" or "at most" (a number; `level` has the words where it stands
    for a date or a time), or "missing".
    """

    variable: str
    kind: Literal["is", "above", "at most", "missing"]
    level: str = ""
    number: float = 0.0

    def __str__(self) -> str:
        return f"{self.variable} {self.without_name()}"

    def without_name(self) -> str:
        """Return the condition without the variable's name."""
        match self.kind:
            case "is":
                return f"is {self.level or '(empty)'}"
            case "missing":
                return "is missing"
            case _ if self.level:
                return f"{'after' if self.kind == 'above' else 'until'} {self.level}"
            case _:
                return f"{self.kind} {self.number:.15g}"


def _outcome_itself(_: Array, outcome: Array) -> Array:
    """Return the outcome, as the per-row metric of a design made from metric values."""
    return outcome


PER_ROW = Metric(terms=_outcome_itself)


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """Rows (W, Z, Y) of both domains, with the per-row terms u_k of the metric.

    For a binary outcome every term is `u_k = term_intercept + term_slope * y`; for others the
    terms are known at the observed outcomes alone (`observed_terms`).

    Attributes:
        features: (rows, columns) float64, W and Z together; codes for categories, NaN for missing.
        columns: one per column of `features`.
        baseline: positions of the W columns.
        players: the covariates Z, grouped.
        outcome: 0.0 or 1.0; codes 0..C-1 of `classes`; or real values.
        prediction: a probability or label; codes of labels; or real values.
        term_intercept: (K, rows), a_k(x) = u_k(x, 0); binary only.
        term_slope: (K, rows), b_k(x) = u_k(x, 1) - u_k(x, 0); binary only.
        observed_terms: (K, rows), u_k(x, y); where not binary.
        classes: what the codes of the outcome stand for; () for real values.
        scores: (rows, C) probabilities of several classes, if given.
        weights: row weights.
        clusters: numbers, the same number for the same cluster in both tables.
        source_risk: a known p_0(Y=1 | W, Z) at every row.
        order: in which the decomposition takes up what differs, after W.
        given: position of the outcome among the columns, if it is one.
        threshold: from which prediction on the model's label is 1.
        notes: what was dropped, pooled, or looks wrong.
    """

    features: ByDomain[Array]
    columns: tuple[Column, ...]
    baseline: tuple[int, ...]
    players: tuple[Player, ...]
    outcome: ByDomain[Array]
    prediction: ByDomain[Array]
    task: Task = "binary"
    metric: Metric = PER_ROW
    term_intercept: ByDomain[Array] | None = None
    term_slope: ByDomain[Array] | None = None
    observed_terms: ByDomain[Array] | None = None
    classes: tuple[str, ...] = ()
    scores: ByDomain[Array] | None = None
    weights: ByDomain[Array] | None = None
    clusters: ByDomain[IntArray] | None = None
    source_risk: ByDomain[Array] | None = None
    order: Order = "covariates first"
    given: tuple[int, ...] = ()
    threshold: float = 0.5
    notes: tuple[Note, ...] = field(default=())

    @classmethod
    def affine(cls, *, intercept: ByDomain[Array], slope: ByDomain[Array], **rest: Any) -> Design:
        """Make a design with a 0/1 outcome and the per-row metric `intercept + slope * y`.

        Args:
            intercept: the metric at outcome 0, per row.
            slope: what outcome 1 adds, per row.
            **rest: further fields of `Design`.
        """
        start, step = (part.map(lambda values: values[None, :]) for part in (intercept, slope))
        return cls(term_intercept=start, term_slope=step, **rest)

    @property
    def terms(self) -> ByDomain[Array]:
        """The metric's terms u_k at every row, (K, rows)."""
        if self.observed_terms is not None:
            return self.observed_terms
        intercept, slope = self.affine_terms()
        return intercept.zip(slope.zip(self.outcome, np.multiply), np.add)

    def affine_terms(self) -> tuple[ByDomain[Array], ByDomain[Array]]:
        """Return a_k(x) and b_k(x), (K, rows) each, of a binary outcome."""
        if self.term_intercept is None or self.term_slope is None:
            raise TypeError(f"terms of a {self.task} outcome have no intercept and slope")
        return self.term_intercept, self.term_slope

    @property
    def loss(self) -> ByDomain[Array]:
        """The metric at every row; of a metric that is a mean over rows."""
        return self.terms.map(_the_row)

    @property
    def intercept(self) -> ByDomain[Array]:
        """a(x) of a binary outcome and a metric that is a mean: l = a(x) + b(x) y."""
        return self.affine_terms()[0].map(_the_row)

    @property
    def slope(self) -> ByDomain[Array]:
        """b(x), see `intercept`."""
        return self.affine_terms()[1].map(_the_row)

    def as_binary(self) -> Design:
        """Turn several classes into right or wrong: C = 1{Y = predicted} in the outcome's place."""
        right = self.prediction.zip(self.outcome, lambda p, y: np.equal(p, y).astype(float))
        sign = 1.0 if self.metric.higher_is_better else -1.0
        return replace(
            self,
            task="binary",
            outcome=right,
            observed_terms=None,
            term_intercept=right.map(lambda c: np.full((1, len(c)), (1 - sign) / 2)),
            term_slope=right.map(lambda c: np.full((1, len(c)), sign)),
        )

    @property
    def rows(self) -> ByDomain[int]:
        """Rows per domain."""
        return self.outcome.map(len)

    @property
    def covariates(self) -> tuple[int, ...]:
        """Positions of the Z columns, in the players' order."""
        return tuple(c for player in self.players for c in player.columns)

    @property
    def shares_clusters(self) -> bool:
        """Return whether some cluster has rows in each table, as people before and after have."""
        return self.clusters is not None and bool(np.isin(*self.clusters).any())

    def strata(self) -> ByDomain[IntArray]:
        """Return what folds hold in equal shares: classes, or the upper half of real outcomes."""
        middle = 0.0
        if self.task == "regression":
            middle = float(np.median(np.concatenate(list(self.outcome))))
        if self.task == "multiclass":
            # 16 strata, a bit for each in both domains: later classes share the last
            return self.outcome.map(lambda y: np.minimum(y, 15).astype(np.int64))
        return self.outcome.map(lambda y: (y > middle).astype(np.int64))

    @property
    def second(self) -> tuple[int, ...]:
        """Positions of what has moved at the corner 110: W and Z; or W and the outcome."""
        return self.baseline + (self.given or self.covariates)

    def with_outcome_column(self) -> Design:
        """Add the outcome as a column, neither of W nor of Z."""
        kind: Literal["numeric", "category"] = "category" if self.classes else "numeric"
        column = Column(THE_OUTCOME, kind, self.classes)
        features = self.features.zip(self.outcome, lambda x, y: np.column_stack([x, y]))
        place = len(self.columns)
        return replace(self, features=features, columns=(*self.columns, column), given=(place,))

    def subset_columns(self, players: tuple[int, ...]) -> tuple[int, ...]:
        """List the positions of the columns of W and of some players.

        Args:
            players: positions in `players`.
        """
        return self.baseline + tuple(c for p in players for c in self.players[p].columns)

    def take(self, rows: ByDomain[NDArray[Any]]) -> Design:
        """Restrict the design to some rows of each domain, given as positions or as a mask.

        Args:
            rows: positions or a mask, per domain.
        """
        by_row = ("outcome", "prediction", "weights", "clusters", "source_risk")
        by_term = ("term_intercept", "term_slope", "observed_terms")
        changes: dict[str, Any] = {
            name: values.zip(rows, lambda v, i: v[:, i] if name in by_term else v[i])  # noqa: B023
            for name in (*by_row, *by_term, "features", "scores")
            if (values := getattr(self, name)) is not None
        }
        return replace(self, **changes)

    def sample(self, rows: ByDomain[IntArray] | None = None) -> Sample:
        """Return the rows that are averaged over: all unless some are passed.

        Args:
            rows: positions per domain; None for all rows.
        """
        keep = rows or self.rows.map(np.arange)
        return Sample.of(
            keep.map(len),
            None if self.weights is None else self.weights.zip(keep, lambda w, i: w[i]),
            None if self.clusters is None else self.clusters.zip(keep, lambda c, i: c[i]),
        )


def require_plain(design: Design, subject: str, instead: str) -> None:
    """Refuse all but a metric that is a mean over rows, of an outcome with two values.

    Args:
        design: the data to be explained.
        subject: what asks for a plain metric, as messages call it.
        instead: what to use in that case, as the hint.
    """
    if design.task != "binary" or not design.metric.is_mean:
        problem = (
            f"{subject} takes a metric that is a mean over rows, of an outcome with two values"
        )
        actual = f"'{design.metric.name}' of {OUTCOMES[design.task]}"
        raise SettingsError(problem, got=actual, hint=instead)


OUTCOMES: dict[Task, str] = {
    "binary": "two values",
    "multiclass": "several classes",
    "regression": "real values",
}


def _the_row(terms: Array) -> Array:
    (values,) = terms
    return np.asarray(values)
