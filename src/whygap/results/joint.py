"""Estimates by name that are looked at together: contrasts, ranks, simultaneous intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from whygap.domains import Array
from whygap.errors import ResultError, require_known
from whygap.estimate import Estimate


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
        names = list(self)
        i, j = names.index(first), names.index(second)
        cov = self.covariance
        variance = max(float(cov[i, i] + cov[j, j] - 2 * cov[i, j]), 0.0)
        return Estimate(a.value - b.value, math.sqrt(variance), a.plugin - b.plugin)

    def ranking(self, level: float = 0.95) -> dict[str, RankInterval]:
        """Ranks (1 = largest) that the data do not exclude, all names at once."""
        from whygap.shapley import inference

        ranks = inference.rank_intervals(self._values(), self.covariance, level)
        return {
            name: RankInterval(int(best), int(worst))
            for name, (best, worst) in zip(self, ranks, strict=True)
        }

    def simultaneous(self, level: float = 0.95) -> dict[str, tuple[float, float]]:
        """Intervals that hold for all names at once (max-t)."""
        from whygap.shapley import inference

        bounds = inference.simultaneous_intervals(self._values(), self.covariance, level)
        return {
            name: (float(low), float(high)) for name, (low, high) in zip(self, bounds, strict=True)
        }

    def adjusted_p_values(self, method: Literal["holm", "max_t"] = "holm") -> dict[str, float]:
        """p-values of "this is 0", adjusted for looking at all names."""
        from whygap.shapley import inference

        distances = np.array([estimate.distance() for estimate in self.values()])
        adjusted = inference.adjusted_p_values(
            self._values(), self.covariance, method, distances=distances
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
