"""A world that nothing was tuned to, and three worlds with nothing to find.

W is binary, Z1 a category of four levels, Z2 and Z3 correlated normals whose means depend on W and
Z1; the risks have a product of Z2 and Z3 and a slope of Z2 that differs by level of Z1. The model
is a fixed logistic model that knows of neither. The domains have different numbers of rows.
Truth: a fine grid in (Z2, Z3), on which every expectation is a weighted sum (`atoms`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np
import pyarrow as pa
from scipy import special

from experiments.worlds.atoms import Atoms
from experiments.worlds.world import (
    Corners,
    Subset,
    SubsetTruth,
    design_tables,
    drawn_outcomes,
    model_design,
)
from whygap._metrics import Metric, metric_of
from whygap.domains import Array, ByDomain, Domain
from whygap.errors import InputError, did_you_mean
from whygap.tables.design import Column, Design, Player

__all__ = ["Conditions", "UntunedWorld", "null_world", "tables"]

COLUMNS = (
    Column("W", "numeric"),
    Column("Z1", "category", ("north", "east", "south", "west")),
    Column("Z2", "numeric"),
    Column("Z3", "numeric"),
)
CORRELATION = 0.5
NODES = 241  # per continuous column; see tests for the error


@dataclass(frozen=True, slots=True)
class Conditions:
    """One domain: how W, Z and Y come about.

    Attributes:
        w_share: p(W=1).
        z1_shares: p(Z1 | W), one row per value of W.
        centre: means of (Z2, Z3) before W and Z1 move them.
        intercepts: of the logit risk, by level of Z1.
        slopes: of W, Z2 and Z3.
        product: coefficient of Z2 Z3.
        extra: added to the slope of Z2 at the third level of Z1.
        recalibration: (a, b) turns the logit risk into a + b logit.
    """

    w_share: float
    z1_shares: tuple[tuple[float, ...], tuple[float, ...]]
    centre: tuple[float, float]
    intercepts: tuple[float, ...]
    slopes: tuple[float, float, float]
    product: float
    extra: float
    recalibration: tuple[float, float] = (0.0, 1.0)

    def means(self, w: Array, z1: Array) -> tuple[Array, Array]:
        """Means of Z2 and Z3 given W and Z1."""
        move = np.array([-0.4, 0.0, 0.3, 0.6])[z1.astype(np.int64)]
        return self.centre[0] + 0.5 * w + move, self.centre[1] - 0.3 * w + 0.5 * move

    def risk(self, x: Array) -> Array:
        """p(Y=1 | W, Z)."""
        w, z1, z2, z3 = x.T
        level = z1.astype(np.int64)
        logit = np.array(self.intercepts)[level] + self.slopes[0] * w
        logit = logit + (self.slopes[1] + self.extra * (level == 2)) * z2
        logit = logit + self.slopes[2] * z3 + self.product * z2 * z3
        return np.asarray(special.expit(self.recalibration[0] + self.recalibration[1] * logit))

    def density(self, x: Array) -> Array:
        """p(W, Z) up to a constant that is the same in both domains."""
        w, z1, z2, z3 = x.T
        row, level = w.astype(np.int64), z1.astype(np.int64)
        share = np.array([1 - self.w_share, self.w_share])[row]
        share = share * np.array(self.z1_shares)[row, level]
        mean_2, mean_3 = self.means(w, z1)
        a, b = z2 - mean_2, z3 - mean_3
        square = (a**2 - 2 * CORRELATION * a * b + b**2) / (1 - CORRELATION**2)
        return np.asarray(share * np.exp(-square / 2))

    def draw(self, rows: int, rng: np.random.Generator) -> Array:
        """Columns (W, Z1, Z2, Z3)."""
        w = (rng.random(rows) < self.w_share).astype(float)
        cumulative = np.cumsum(np.array(self.z1_shares), axis=1)[w.astype(np.int64)]
        z1 = (rng.random(rows)[:, None] > cumulative[:, :-1]).sum(axis=1).astype(float)
        first, second = rng.standard_normal((2, rows))
        mean_2, mean_3 = self.means(w, z1)
        z2 = mean_2 + first
        z3 = mean_3 + CORRELATION * first + np.sqrt(1 - CORRELATION**2) * second
        return np.column_stack([w, z1, z2, z3])


SOURCE = Conditions(
    w_share=0.45,
    z1_shares=((0.4, 0.3, 0.2, 0.1), (0.25, 0.25, 0.25, 0.25)),
    centre=(0.2, -0.1),
    intercepts=(-0.6, 0.0, 0.3, -0.2),
    slopes=(0.4, 0.9, -0.6),
    product=0.35,
    extra=0.7,
)
TARGET = Conditions(
    w_share=0.6,
    z1_shares=((0.25, 0.25, 0.3, 0.2), (0.15, 0.2, 0.35, 0.3)),
    centre=(0.9, -0.8),
    intercepts=(-0.6, 0.2, 0.3, 0.9),
    slopes=(0.4, 0.2, -0.6),
    product=-0.2,
    extra=0.7,
)


@dataclass(frozen=True)
class UntunedWorld:
    """The world described above; `conditions` may be replaced."""

    metric: str | Metric = "accuracy"
    conditions: ByDomain[Conditions] = ByDomain(SOURCE, TARGET)  # noqa: RUF009 - frozen

    @property
    def players(self) -> tuple[str, ...]:
        """Names of the players."""
        return tuple(column.name for column in COLUMNS[1:])

    def model(self, x: Array) -> Array:
        """A logistic model without the product and the extra slope."""
        w, z1, z2, z3 = x.T
        base = np.array([-0.5, 0.1, 0.5, -0.1])[z1.astype(np.int64)]
        return np.asarray(special.expit(base + 0.4 * w + 1.0 * z2 - 0.5 * z3))

    def risk(self, domain: Domain, x: Array) -> Array:
        """p_d(Y=1 | W, Z)."""
        return self.conditions[domain].risk(x)

    def pi_wz(self, x: Array) -> Array:
        """Density ratio of (W, Z)."""
        return self.conditions.target.density(x) / self.conditions.source.density(x)

    def draw(self, rows: ByDomain[int], rng: np.random.Generator) -> Design:
        """Independent rows of both domains."""
        features = self.conditions.zip(rows, lambda domain, n: domain.draw(n, rng))
        risks = self.conditions.zip(features, lambda domain, x: domain.risk(x))
        outcome = drawn_outcomes(risks, rng)
        return model_design(features, outcome, COLUMNS, self.model, self.metric)

    def corners(self) -> Corners:
        """True corner means."""
        return quadrature_atoms(self).corners()

    def covariate_truth(self, subset: Subset) -> SubsetTruth:
        """True v_Z(s)."""
        return quadrature_atoms(self).covariate_truth(subset)

    def outcome_truth(self, subset: Subset, bins: int | None = 20) -> SubsetTruth:
        """True v_Y(s), binned; on a grid q identifies the point, so there is no smooth form."""
        if bins is None:
            raise InputError("This world has no smooth outcome values", hint="Ask for bins=20.")
        return quadrature_atoms(self).outcome_truth(subset, bins)


@lru_cache(maxsize=8)
def quadrature_atoms(world: UntunedWorld, nodes: int = NODES) -> Atoms:
    """The world on a grid of (Z2, Z3), the trapezoid rule in both."""
    # The model's label changes along lines z2 - z3 / 2 = c. Spacings in the golden ratio spread
    # the grid's distances from such lines evenly, so that the error of the jump averages out.
    axis_2 = np.linspace(-6.0, 6.0, nodes)
    axis_3 = np.linspace(-6.0, 6.0, round(nodes / 1.236))
    w, z1, z2, z3 = np.meshgrid([0.0, 1.0], np.arange(4.0), axis_2, axis_3, indexing="ij")
    x = np.column_stack([part.ravel() for part in (w, z1, z2, z3)])
    prediction = world.model(x)
    intercept, slope = metric_of(world.metric).coefficients(prediction, 0.5)
    density = world.conditions.map(lambda domain: domain.density(x))
    return Atoms(
        features=x,
        columns=COLUMNS,
        baseline=(0,),
        groups=tuple(Player(name, (j + 1,)) for j, name in enumerate(world.players)),
        mass=density.map(lambda mass: mass / mass.sum()),
        risk=world.conditions.map(lambda domain: domain.risk(x)),
        prediction=prediction,
        intercept=intercept,
        slope=slope,
    )


NULLS = ("identical", "baseline_only", "recalibrated")


def null_world(
    kind: Literal["identical", "baseline_only", "recalibrated"],
    metric: str | Metric = "accuracy",
) -> UntunedWorld:
    """A world in which one kind of answer is known to be nothing.

    `identical`: the domains are the same. `baseline_only`: only W shifts. `recalibrated`: only the
    risk shifts, to a function of the source risk, so that v_Y(empty) is 1 up to the bin width.
    """
    targets = {
        "identical": SOURCE,
        "baseline_only": replace(SOURCE, w_share=0.8),
        "recalibrated": replace(SOURCE, recalibration=(-0.9, 0.5)),
    }
    if kind not in targets:
        raise InputError(
            f"There is no null world '{kind}'",
            hint=did_you_mean(kind, NULLS) or f"Null worlds are: {', '.join(NULLS)}.",
        )
    return UntunedWorld(metric=metric, conditions=ByDomain(SOURCE, targets[kind]))


def tables(rows: int, seed: int) -> tuple[pa.Table, pa.Table]:
    """Source tables of `rows` rows, target tables of 60% as many; with y and prediction."""
    sizes = ByDomain(rows, max(1, rows * 3 // 5))
    return design_tables(UntunedWorld().draw(sizes, np.random.default_rng(seed)))
