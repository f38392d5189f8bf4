"""Points, where and recoverable: what a world with known truth answers, and its small nouns."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from experiments.worlds.world import Subset, shares
from whygap.domains import Array, Domain
from whygap.tables.design import Column, Player

__all__ = [
    "Above",
    "Answers",
    "BudgetTruth",
    "GroupTruth",
    "PointsTruth",
    "RecoverableTruth",
    "budget_from",
    "own_players",
    "points_from",
]

Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True)
class Above:
    """The group of rows whose column is above a cut; without a column, whose prediction is.

    Every bin of a column is one such group less another; the predicted label is the prediction
    above the threshold.
    """

    cut: float
    column: int | None = None

    def mask(self, features: Array, prediction: Array) -> Mask:
        """Which rows are in the group."""
        values = prediction if self.column is None else features[:, self.column]
        return np.asarray(values > self.cut)


@dataclass(frozen=True, slots=True)
class PointsTruth:
    """Signed points by name; they add up to the baseline and the covariate part of the gap."""

    baseline: Mapping[str, float]
    covariate: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class GroupTruth:
    """C(g) and the share of target rows in the group."""

    contribution: float
    target_share: float

    @property
    def change(self) -> float:
        """Mean change within the group; `nan` where the target has no such rows."""
        return self.contribution / self.target_share if self.target_share > 0 else math.nan


@dataclass(frozen=True, slots=True)
class BudgetTruth:
    """What can be won in one domain, in squared error: recalibration plus variables.

    `irreducible` is the squared error of the best model on these columns.
    """

    recalibration: float
    variables: Mapping[str, float]
    irreducible: float

    @property
    def total(self) -> float:
        """All that these columns can win."""
        return self.recalibration + math.fsum(self.variables.values())


@dataclass(frozen=True, slots=True)
class RecoverableTruth:
    """The three budgets; on the target's mix there are a total and what no model can win."""

    here: BudgetTruth
    on_target_mix: float
    irreducible_on_target_mix: float
    at_home: BudgetTruth


class Answers(Protocol):
    """A world that knows its points, groups and budgets.

    `columns` are positions of columns of W and Z together; a subset of `gain` is one of column
    positions too.
    """

    def transported_mean(self, columns: Sequence[int]) -> float:
        """Psi(S) = E_1[E_0[l | X_S]]."""
        ...

    def points(self) -> PointsTruth:
        """Shapley points of both games."""
        ...

    def group(self, group: Above) -> GroupTruth:
        """What a group contributes to the outcome part."""
        ...

    def gain(self, domain: Domain, columns: Sequence[int]) -> float:
        """E_d[(Y - f)^2] - E_d[(Y - E_d[Y | f, X_s])^2]."""
        ...

    def recoverable(self) -> RecoverableTruth:
        """The three budgets."""
        ...


def own_players(columns: Sequence[Column], positions: Sequence[int]) -> tuple[Player, ...]:
    """Each of these columns as a player of its own."""
    return tuple(Player(columns[c].name, (c,)) for c in positions)


def points_from(
    psi: Callable[[Sequence[int]], float], baseline: Sequence[Player], covariate: Sequence[Player]
) -> PointsTruth:
    """Shapley points of both games from Psi, by the sum over all subsets."""
    w = tuple(c for player in baseline for c in player.columns)
    return PointsTruth(
        baseline=_game(psi, baseline),
        covariate=_game(lambda columns: psi((*w, *columns)), covariate),
    )


def budget_from(
    gain: Callable[[Sequence[int]], float], players: Sequence[Player], irreducible: float
) -> BudgetTruth:
    """Recalibration and Shapley shares of the gain above it, by the sum over all subsets."""
    return BudgetTruth(gain(()), _game(gain, players), irreducible)


def _game(value: Callable[[Sequence[int]], float], players: Sequence[Player]) -> dict[str, float]:
    def of_subset(subset: Subset) -> float:
        return value(tuple(c for p in subset for c in players[p].columns))

    solved = shares(of_subset, len(players))
    return {player.name: share for player, share in zip(players, solved, strict=True)}
