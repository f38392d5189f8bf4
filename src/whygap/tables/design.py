"""What the entrance hands to every later room: two encoded tables, as arrays."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from whygap.domains import Array, ByDomain, IntArray
from whygap.estimate import Sample

MODEL_SCORE = "the model's score"  # what rules call the prediction, which need not be a column
OTHER = "(other)"  # the level of pooled rare levels begins with it


@dataclass(frozen=True, slots=True)
class Column:
    """One encoded column.

    `numeric`: the values. `ordinal`: codes 0..k-1 whose order means something.
    `category`: codes 0..k-1 whose order means nothing. Missing is NaN in all three.
    `meaning`: what the numbers stand for, where it is not numbers (days and seconds, 0 and 1).
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
class Note:
    """Something done to the data that the user must know of.

    `level` is "info" (said), "warning" (may change the answer) or "problem" (do not trust it).
    """

    level: Literal["info", "warning", "problem"]
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """Rows (W, Z, Y) of both domains with the metric written as `loss = intercept + slope * y`."""

    # (rows, columns) float64; W and Z columns together, codes for categories, NaN for missing
    features: ByDomain[Array]
    columns: tuple[Column, ...]  # one per column of `features`
    baseline: tuple[int, ...]  # positions of the W columns
    players: tuple[Player, ...]  # the covariates Z, grouped
    outcome: ByDomain[Array]  # 0.0 or 1.0
    prediction: ByDomain[Array]  # what the model said, as given (probability or label)
    intercept: ByDomain[Array]  # a(x) = l(x, 0)
    slope: ByDomain[Array]  # b(x) = l(x, 1) - l(x, 0)
    weights: ByDomain[Array] | None = None  # row weights, or None
    clusters: ByDomain[IntArray] | None = None  # cluster numbers, or None
    source_risk: ByDomain[Array] | None = None  # a known p_0(Y=1 | W, Z) at every row, or None
    threshold: float = 0.5  # from which prediction on the model's label is 1
    notes: tuple[Note, ...] = field(default=())  # what was dropped, pooled, or looks wrong

    @property
    def loss(self) -> ByDomain[Array]:
        """The metric at every row."""
        return self.intercept.zip(self.slope.zip(self.outcome, np.multiply), np.add)

    @property
    def rows(self) -> ByDomain[int]:
        """Rows per domain."""
        return self.outcome.map(len)

    @property
    def covariates(self) -> tuple[int, ...]:
        """Positions of the Z columns, in the players' order."""
        return tuple(c for player in self.players for c in player.columns)

    @property
    def slope_is_constant(self) -> bool:
        """Whether b^2 is one constant, as for accuracy and 0-1 loss: then h(G) = 0."""
        squares = np.concatenate([self.slope.source**2, self.slope.target**2])
        return bool(np.ptp(squares) <= 1e-12 * max(1.0, float(squares.max())))

    def subset_columns(self, players: tuple[int, ...]) -> tuple[int, ...]:
        """Positions of the columns of W and of these players."""
        chosen = tuple(c for p in players for c in self.players[p].columns)
        return self.baseline + chosen

    def take(self, rows: ByDomain[NDArray[Any]]) -> Design:
        """The same design on some rows of each domain, given as positions or as a mask."""
        always = ("features", "outcome", "prediction", "intercept", "slope")
        taken: dict[str, Any] = {
            name: values.zip(rows, lambda one, chosen: one[chosen])
            for name in (*always, "weights", "clusters", "source_risk")
            if (values := getattr(self, name)) is not None
        }
        return replace(self, **taken)

    def sample(self, rows: ByDomain[IntArray] | None = None) -> Sample:
        """The rows that are averaged over (all of them unless told otherwise)."""
        keep = rows or self.rows.map(np.arange)
        return Sample.of(
            keep.map(len),
            None if self.weights is None else self.weights.zip(keep, lambda w, i: w[i]),
            None if self.clusters is None else self.clusters.zip(keep, lambda c, i: c[i]),
        )
