"""Estimates by name that are looked at together: contrasts, ranks, simultaneous intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from whygap.domains import Array
from whygap.errors import ResultError, require_known
from whygap.estimate import Estimate
from whygap.estimate.fieller import sum_of
from whygap.estimate.student import as_normal


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the subsets were chosen and why the sampling stopped."""

    evaluated: int
    possible: float
    exact: bool
    largest_error: float
    stopped: str


@dataclass(frozen=True, slots=True)
class RankInterval:
    """Ranks (1 = largest share) that the data do not exclude, all players at once."""

    best: int
    worst: int


@dataclass(frozen=True, slots=True, eq=False)
class Joint(Mapping[str, Estimate]):
    """Estimates by name, with their joint covariance (sampling error included)."""

    estimates: Mapping[str, Estimate]
    covariance: Array

    def __getitem__(self, name: str) -> Estimate:
        what = f"There is no variable named '{name}'"
        require_known(name, self.estimates, what, "Names", ResultError)
        return self.estimates[name]

    def __contains__(self, name: object) -> bool:
        return name in self.estimates

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def difference(self, first: str, second: str) -> Estimate:
        """The first less the second."""
        a, b = self[first], self[second]
        if a.influence is not None and b.influence is not None:
            return a - b
        return self.combined({first: 1.0, second: -1.0})

    def combined(self, factors: Mapping[str, float]) -> Estimate:
        """The sum of some, each times a factor, by the covariance: influence values may be gone.

        It has the fewest degrees of freedom of its terms.
        """
        terms = [replace(self[name], influence=None) * f for name, f in factors.items()]
        weights = np.array([factors.get(name, 0.0) for name in self])
        error = math.sqrt(max(float(weights @ self.covariance @ weights), 0.0))
        return Estimate(
            sum(term.value for term in terms),
            error,
            sum(term.plugin for term in terms),
            ratio=sum_of([term.ratio for term in terms], error),
            degrees_of_freedom=min(term.degrees_of_freedom for term in terms),
        )

    def numerators(self) -> Joint:
        """What decides the order: of ratios over one positive denominator their numerators.

        The denominator's error moves all of them alike. Others are returned as they are.
        """
        ratios = [one.ratio for one in self.values() if one.ratio is not None]
        if len(ratios) < len(self) or not ratios or ratios[0].bottom <= 0:
            return self
        if any(one.offset or not one.shares_bottom(ratios[0]) for one in ratios):
            return self
        values = self._values()
        moved = np.array([one.scale * one.covariance for one in ratios])
        both = np.outer(moved, values)
        covariance = ratios[0].bottom ** 2 * self.covariance + both + both.T
        covariance -= ratios[0].variance_bottom * np.outer(values, values)
        tops = {
            name: Estimate(
                ratio.scale * ratio.top,
                abs(ratio.scale) * math.sqrt(ratio.variance_top),
                degrees_of_freedom=self[name].degrees_of_freedom,
            )
            for name, ratio in zip(self, ratios, strict=True)
        }
        return Joint(tops, covariance)

    def ranking(self, level: float = 0.95) -> dict[str, RankInterval]:
        """Ranks (1 = largest) that the data do not exclude, all names at once."""
        from whygap.shapley import inference

        order = self.numerators()
        ranks = inference.rank_intervals(order._values(), order.covariance, level, order._freedom())
        return {
            name: RankInterval(int(best), int(worst))
            for name, (best, worst) in zip(self, ranks, strict=True)
        }

    def first(self, level: float = 0.95, *, lowest: bool = False) -> tuple[str, ...]:
        """Names that may be the largest (or the lowest), by value: the true one is among them.

        That holds with probability `level`, all names looked at (multiple comparisons with the
        best). It asks less than `ranking`, which tells every two names apart, and so it tells more:
        a single name is at least as large as every other, even where its rank interval is wider.
        """
        from whygap.shapley import inference

        order, sign = self.numerators(), -1.0 if lowest else 1.0
        found = inference.may_be_first(
            sign * order._values(), order.covariance, level, order._freedom()
        )
        names = [name for name, may_be in zip(self, found, strict=True) if may_be]
        return tuple(sorted(names, key=lambda name: -sign * self[name].value))

    def simultaneous(self, level: float = 0.95) -> dict[str, tuple[float, float]]:
        """Intervals that hold for all names at once (max-t; of ratios Fieller's)."""
        from whygap.shapley import inference

        bounds = inference.simultaneous_intervals(list(self.values()), self.covariance, level)
        return dict(zip(self, bounds, strict=True))

    def adjusted_p_values(self, method: Literal["holm", "max_t"] = "holm") -> dict[str, float]:
        """p-values of "this is 0", adjusted for looking at all names."""
        from whygap.shapley import inference

        distances = np.array([estimate.distance() for estimate in self.values()])
        order = self.numerators()
        adjusted = inference.adjusted_p_values(
            order._values(),
            order.covariance,
            method,
            distances=as_normal(distances, self._freedom()),
        )
        return {name: float(p) for name, p in zip(self, adjusted, strict=True)}

    def largest_first(self) -> list[str]:
        """Names by size, whatever the sign."""
        return sorted(self, key=lambda name: -abs(self[name].value))

    def clear(self, level: float = 0.95) -> list[str]:
        """Names whose own interval leaves out 0, largest first."""

        def leaves_out(estimate: Estimate) -> bool:
            low, high = estimate.interval(level)
            return low > 0 or high < 0

        return [name for name in self.largest_first() if leaves_out(self[name])]

    def _values(self) -> Array:
        return np.array([estimate.value for estimate in self.values()])

    def _freedom(self) -> Array:
        return np.array([estimate.degrees_of_freedom for estimate in self.values()])
