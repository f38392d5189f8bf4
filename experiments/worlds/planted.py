"""Two tables whose covariates differ everywhere, and whose outcomes differ inside one rule only.

Eight columns of three kinds. In the target, labels inside the planted rule are turned round with
probability `effect`, which hits the model's accuracy wherever it stands; everywhere else the risk
is the source's. The rows of one level are hard to predict in both domains, which is no change. A
rule has one or two conditions: the upper or lower quarter of a number, or a level. Each seed has a
rule of its own. With effect 0 there is nothing to find.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from experiments.worlds.world import drawn_outcomes, model_design
from whygap.domains import Array, ByDomain, Domain
from whygap.tables.design import Column, Design

__all__ = ["COLUMNS", "Planted", "Side", "planted"]

LEVELS = ("a", "b", "c", "d")
COLUMNS = (
    *(Column(f"x{k}", "numeric") for k in (1, 2, 3, 4)),
    *(Column(f"c{k}", "category", LEVELS) for k in (1, 2)),
    *(Column(f"b{k}", "category", ("no", "yes")) for k in (1, 2)),
)
QUARTER = 0.6745  # of a standard normal lies above it
CORRELATION = 0.3  # of neighbouring numbers
SHIFT = ByDomain(np.zeros(4), np.array([0.3, 0.0, -0.3, 0.2]))  # means of the numbers
SHARES = ByDomain((0.3, 0.3, 0.2, 0.2), (0.2, 0.3, 0.3, 0.2))  # of the levels
YES = ByDomain((0.5, 0.4), (0.4, 0.5))
HARD = 3  # a level of c2 whose rows are hard to predict in both domains, as the model is not told
MANY = 200_000  # rows that a true contribution is averaged over: an error of a thousandth
Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True)
class Side:
    """One condition: a number's quarter (`level` 1 above, -1 below), or a level of a category."""

    column: int
    level: int

    def mask(self, features: Array) -> Mask:
        """Which rows fulfil it."""
        values = features[:, self.column]
        if COLUMNS[self.column].kind == "numeric":
            return np.asarray(values * self.level > QUARTER)
        return np.asarray(values == self.level)


@dataclass(frozen=True, slots=True)
class Planted:
    """One pair of domains."""

    rule: tuple[Side, ...]
    effect: float

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of the rule."""
        return tuple(COLUMNS[side.column].name for side in self.rule)

    def mask(self, features: Array) -> Mask:
        """Rows inside the planted rule."""
        return np.logical_and.reduce([side.mask(features) for side in self.rule])

    def risk(self, domain: Domain, x: Array) -> Array:
        """p_d(Y=1 | x)."""
        logit = 0.9 * x[:, 0] - 0.7 * x[:, 1] + 0.5 * x[:, 2] + 0.4 * x[:, 0] * (x[:, 6] == 1)
        logit = logit + np.array([-0.6, 0.0, 0.3, 0.6])[x[:, 4].astype(np.int64)] + 0.5 * x[:, 7]
        p = np.asarray(special.expit((logit - 0.2) * np.where(x[:, 5] == HARD, 0.25, 1.0)))
        return p + self.effect * (1 - 2 * p) * self.mask(x) if domain == "target" else p

    def model(self, x: Array) -> Array:
        """The source's main effects."""
        logit = 1.1 * x[:, 0] - 0.7 * x[:, 1] + 0.5 * x[:, 2] + 0.5 * x[:, 7]
        logit = logit + np.array([-0.6, 0.0, 0.3, 0.6])[x[:, 4].astype(np.int64)]
        return np.asarray(special.expit(logit - 0.2))

    def draw(self, rows: ByDomain[int], rng: np.random.Generator) -> Design:
        """Independent rows of both domains; the first column is W."""
        x = ByDomain(_features("source", rows.source, rng), _features("target", rows.target, rng))
        risks = ByDomain(self.risk("source", x.source), self.risk("target", x.target))
        return model_design(x, drawn_outcomes(risks, rng), COLUMNS, self.model, "accuracy")

    def contribution(self, inside: Callable[[Array, Array], Mask], rows: int = MANY) -> float:
        """C(g) of rows told by (features, prediction): their mean change of accuracy, averaged."""
        x = _features("target", rows, np.random.default_rng(0))
        prediction = self.model(x)
        slope = np.where(prediction >= 0.5, 1.0, -1.0)
        change = slope * (self.risk("target", x) - self.risk("source", x))
        return float(np.mean(inside(x, prediction) * change))


def planted(effect: float, seed: int) -> Planted:
    """The rule of a seed: even seeds have one condition, odd ones two, on different columns."""
    rng = np.random.default_rng([seed, 7])
    columns = rng.permutation(len(COLUMNS))[: 1 + seed % 2]
    return Planted(tuple(_side(int(column), rng) for column in columns), effect)


def _side(column: int, rng: np.random.Generator) -> Side:
    levels = COLUMNS[column].levels
    return Side(column, int(rng.integers(len(levels))) if levels else int(rng.choice([-1, 1])))


def _features(domain: Domain, rows: int, rng: np.random.Generator) -> Array:
    numbers = rng.standard_normal((rows, 4))
    for k in (1, 2, 3):
        left = np.sqrt(1 - CORRELATION**2)
        numbers[:, k] = CORRELATION * numbers[:, k - 1] + left * numbers[:, k]
    levels = rng.choice(len(LEVELS), size=(rows, 2), p=SHARES[domain])
    answers = rng.random((rows, 2)) < np.array(YES[domain])
    return np.column_stack([numbers + SHIFT[domain], levels, answers]).astype(float)
