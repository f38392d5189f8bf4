"""What the seeds of one comparison say together: importances, first places, accuracies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import stats

from experiments.pages import LEVEL, Measured
from whygap.domains import Array

__all__ = ["OURS", "Scene", "Seeds", "mean_of"]

OURS = "whygap"
TIE = 1e-6  # importances that differ by less are equal but for rounding


@dataclass(frozen=True, slots=True)
class Scene:
    """One comparison: a world, the part that shifts, and the rivals that speak about it."""

    title: str
    world: str
    part: Literal["covariate", "outcome"]
    rivals: tuple[str, ...]
    figure: str
    rows: int
    quick_rows: int
    words: str


def mean_of(values: Array) -> Measured:
    """Mean over seeds with its interval (Student's t); none from a single seed."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return Measured(mean, -np.inf, np.inf)
    half = float(stats.t.ppf(0.5 + LEVEL / 2, len(values) - 1) * stats.sem(values))
    return Measured(mean, mean - half, mean + half)


@dataclass(frozen=True, slots=True)
class Seeds:
    """All replicates of one scene.

    Attributes:
        scene: what was compared.
        rows: rows in each domain.
        names: the variables.
        truth: their true shares.
        lines: one per seed, with `importances` (method -> variable -> importance; a method without
            an answer is left out) and, in the outcome scene, `accuracy` (method -> accuracy after
            revision with the top 1, 2, 3) and `original`.
    """

    scene: Scene
    rows: int
    names: tuple[str, ...]
    truth: tuple[float, ...]
    lines: Sequence[Mapping[str, Any]]

    @property
    def methods(self) -> tuple[str, ...]:
        """Ours first, then the rivals."""
        return (OURS, *self.scene.rivals)

    def importances(self, method: str) -> Array:
        """One row per seed in which the method had an answer, one column per variable."""
        found = [line["importances"][method] for line in self.lines if method in _answers(line)]
        return np.array([[one[n] for n in self.names] for one in found]).reshape(
            -1, len(self.names)
        )

    def first_places(self, method: str) -> dict[str, float]:
        """Share of answers in which each variable came first, signs ignored."""
        sizes = np.abs(self.importances(method))
        winner = np.argmax(sizes, axis=1) if len(sizes) else np.zeros(0)
        return {name: float(np.mean(winner == j)) for j, name in enumerate(self.names)}

    def means(self, method: str) -> list[Measured | None]:
        """Mean importance of every variable; None each without any answer."""
        values = self.importances(method)
        return [mean_of(column) if len(column) else None for column in values.T]

    def accuracy_means(self, method: str) -> list[Measured | None]:
        """Mean accuracy with the top 1, 2, 3; None each without any answer."""
        values = self.accuracy(method)
        return [mean_of(column) for column in values.T] if len(values) else [None] * 3

    @property
    def truly_first(self) -> str:
        """The variable with the largest true share."""
        return max(zip(self.truth, self.names, strict=True))[1]

    def winners(self, method: str) -> str:
        """Who came first how often; equal importances are a tie."""
        values = np.abs(self.importances(method))
        if not len(values):
            return "no answer in any seed"
        missing = len(self.lines) - len(values)
        silent = f" (no answer in {missing} of {len(self.lines)} seeds)" if missing else ""
        if np.ptp(values, axis=1).max() < TIE:
            return "a tie" + silent
        shares = sorted(self.first_places(method).items(), key=lambda item: -item[1])
        return ", ".join(f"{name} {share:.0%}" for name, share in shares if share > 0) + silent

    def lead(self, method: str, name: str) -> Measured | None:
        """How far a variable is ahead of the best of the others; None without any answer."""
        sizes = np.abs(self.importances(method))
        if not len(sizes):
            return None
        here = self.names.index(name)
        return mean_of(sizes[:, here] - np.delete(sizes, here, axis=1).max(axis=1))

    def accuracy(self, method: str) -> Array:
        """One row per seed in which the method had an answer: accuracies with the top 1, 2, 3."""
        return np.array([ln["accuracy"][method] for ln in self.lines if method in _answers(ln)])

    def original(self) -> Measured:
        """Accuracy of the model as it is."""
        return mean_of(np.array([line["original"] for line in self.lines]))

    def behind_us(self, method: str) -> list[Measured]:
        """Ours minus theirs, paired by seed, for the top 1, 2, 3."""
        pairs = [
            np.subtract(line["accuracy"][OURS], line["accuracy"][method])
            for line in self.lines
            if {OURS, method} <= set(_answers(line))
        ]
        return [mean_of(column) for column in np.array(pairs).T]


def _answers(line: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = line["importances"]
    return found
