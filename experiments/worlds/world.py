"""What every world with known truth hands out, and the small nouns it comes in."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from whygap._metrics import Metric, metric_of
from whygap.domains import DOMAINS, Array, ByDomain, Domain, Subset
from whygap.tables.design import Column, Design, Player


@dataclass(frozen=True, slots=True)
class Corners:
    """True corner means E_abc[l]: W from domain a, Z given W from b, Y given W, Z from c."""

    mean_000: float
    mean_100: float
    mean_110: float
    mean_111: float

    @property
    def baseline(self) -> float:
        """Lambda_W."""
        return self.mean_100 - self.mean_000

    @property
    def covariate(self) -> float:
        """Lambda_Z."""
        return self.mean_110 - self.mean_100

    @property
    def outcome(self) -> float:
        """Lambda_Y."""
        return self.mean_111 - self.mean_110

    @property
    def gap(self) -> float:
        """Lambda, the sum of the three parts."""
        return self.mean_111 - self.mean_000


@dataclass(frozen=True, slots=True)
class SubsetTruth:
    """True numerator and denominator of v(s) = 1 - numerator / denominator."""

    numerator: float
    denominator: float

    @property
    def value(self) -> float:
        """v(s); `nan` when there is no shift to explain."""
        if self.denominator < 1e-20:  # rounding error
            return math.nan
        return 1.0 - self.numerator / self.denominator


class World(Protocol):
    """A joint distribution of (D, W, Z, Y) with a model, whose answers are known.

    A subset is a tuple of player numbers (0-based). `bins=None` asks for the smooth form.
    """

    @property
    def players(self) -> tuple[str, ...]:
        """Names of the players, in the order of the subset numbers."""

    def draw(self, rows: ByDomain[int], rng: np.random.Generator) -> Design:
        """Independent rows of both domains."""

    def corners(self) -> Corners:
        """True corner means."""

    def covariate_truth(self, subset: Subset) -> SubsetTruth:
        """True v_Z."""

    def outcome_truth(self, subset: Subset, bins: int | None = 20) -> SubsetTruth:
        """True v_Y."""


def all_subsets(players: int) -> list[Subset]:
    """All subsets of 0..players-1, by size."""
    numbers = range(players)
    return [s for k in range(players + 1) for s in itertools.combinations(numbers, k)]


def shares(value: Callable[[Subset], float], players: int) -> list[float]:
    """Shapley shares of a value function, by the sum over all subsets."""
    values = {subset: value(subset) for subset in all_subsets(players)}
    found = [0.0] * players
    for subset in values:
        for player in (p for p in range(players) if p not in subset):
            weight = 1 / (players * math.comb(players - 1, len(subset)))
            joined = tuple(sorted((*subset, player)))
            found[player] += weight * (values[joined] - values[subset])
    return found


def drawn_outcomes(risks: ByDomain[Array], rng: np.random.Generator) -> ByDomain[Array]:
    """One 0 or 1 per row."""
    return risks.map(lambda r: (rng.random(len(r)) < r).astype(float))


def model_design(
    features: ByDomain[Array],
    outcome: ByDomain[Array],
    columns: tuple[Column, ...],
    model: Callable[[Array], Array],
    metric: str | Metric,
    threshold: float = 0.5,
) -> Design:
    """Rows with a model's predictions; the first column is W, every other one a player."""
    metric = metric_of(metric)
    prediction = features.map(model)
    coefficients = prediction.map(lambda p: metric.coefficients(p, threshold))
    return Design.affine(
        features=features,
        columns=columns,
        baseline=(0,),
        players=tuple(Player(column.name, (j + 1,)) for j, column in enumerate(columns[1:])),
        outcome=outcome,
        prediction=prediction,
        intercept=coefficients.map(lambda pair: pair[0]),
        slope=coefficients.map(lambda pair: pair[1]),
    )


def design_tables(design: Design) -> tuple[pa.Table, pa.Table]:
    """Source and target rows as tables: the columns, then `y` and `prediction`."""
    source, target = (_table(design, domain) for domain in DOMAINS)
    return source, target


def _table(design: Design, domain: Domain) -> pa.Table:
    arrays: dict[str, object] = {
        column.name: np.array(column.levels)[codes.astype(int)] if column.levels else codes
        for column, codes in zip(design.columns, design.features[domain].T, strict=True)
    }
    outcome, prediction = design.outcome[domain].astype(np.int64), design.prediction[domain]
    return pa.table({**arrays, "y": outcome, "prediction": prediction})
