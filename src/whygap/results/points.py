"""Estimates by variable that are judged together: contrasts, ranks, simultaneous intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from whygap.domains import Array
from whygap.errors import ResultError, require_known
from whygap.estimate import Estimate, Interval
from whygap.estimate.fieller import sum_of
from whygap.estimate.student import as_normal
from whygap.shapley import inference


@dataclass(frozen=True, slots=True)
class Sampling:
    """How subsets of variables were chosen, and why sampling stopped."""

    evaluated: int
    possible: float
    exact: bool
    largest_error: float
    stopped: str


@dataclass(frozen=True, slots=True)
class RankInterval:
    """Ranks (1 = largest) that the data do not exclude, all variables at once."""

    best: int
    worst: int


@dataclass(frozen=True, slots=True, eq=False)
class Points(Mapping[str, Estimate]):
    """Estimates by variable that add up to a total, with their joint covariance.

    Attributes:
        estimates: variable -> estimate.
        covariance: of the estimates, in their order; sampling error included.
        sampling: how subsets were chosen; None where nothing was sampled.
    """

    estimates: Mapping[str, Estimate]
    covariance: Array
    sampling: Sampling | None = None

    def __getitem__(self, name: str) -> Estimate:
        unknown = f"There is no variable named '{name}'"
        require_known(name, self.estimates, unknown, "Names", ResultError)
        return self.estimates[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return the estimate of a name, or the default."""
        return self.estimates.get(name, default)

    def __contains__(self, name: object) -> bool:
        return name in self.estimates

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def difference(self, first: str, second: str) -> Estimate:
        """Return the estimate of `first` less the estimate of `second`."""
        minuend = self[first]
        subtrahend = self[second]
        if minuend.influence is not None and subtrahend.influence is not None:
            return minuend - subtrahend
        return self.combined({first: 1.0, second: -1.0})

    def combined(self, factors: Mapping[str, float]) -> Estimate:
        """Return a weighted sum, by the covariance alone: influence values may be missing.

        Degrees of freedom are the fewest of all terms.

        Args:
            factors: variable -> its weight in the sum.
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

    def numerators(self) -> Points:
        """Return what decides the order: numerators of ratios over a shared positive denominator.

        The error of the denominator moves all ratios alike. Estimates that are no ratios are
        returned as they are.
        """
        ratios = [estimate.ratio for estimate in self.values() if estimate.ratio is not None]
        if len(ratios) < len(self) or not ratios or ratios[0].bottom <= 0:
            return self
        if any(ratio.offset or not ratio.shares_bottom(ratios[0]) for ratio in ratios):
            return self
        values = self._values()
        product = np.outer([ratio.scale * ratio.covariance for ratio in ratios], values)
        covariance = ratios[0].bottom ** 2 * self.covariance + product + product.T
        covariance -= ratios[0].variance_bottom * np.outer(values, values)
        tops = {
            name: Estimate(
                ratio.scale * ratio.top,
                abs(ratio.scale) * math.sqrt(ratio.variance_top),
                degrees_of_freedom=self[name].degrees_of_freedom,
            )
            for name, ratio in zip(self, ratios, strict=True)
        }
        return Points(tops, covariance)

    def ranking(self, level: float = 0.95) -> dict[str, RankInterval]:
        """Return the ranks (1 = largest) that the data do not exclude, all variables at once.

        Args:
            level: of all rank intervals together.
        """
        order = self.numerators()
        ranks = inference.rank_intervals(order._values(), order.covariance, level, order._freedom())
        intervals = (RankInterval(int(best), int(worst)) for best, worst in ranks)
        return dict(zip(self, intervals, strict=True))

    def first(self, level: float = 0.95, *, lowest: bool = False) -> tuple[str, ...]:
        """Return the variables that may be the largest (or the lowest), by value.

        The true largest is among them with probability `level`, all variables looked at (multiple
        comparisons with the best). That asks less than `ranking`, which tells every two variables
        apart: a single name is at least as large as every other, even where rank intervals overlap.

        Args:
            level: the probability.
            lowest: look for the lowest.
        """
        order = self.numerators()
        sign = -1.0 if lowest else 1.0
        values = sign * order._values()
        possible = inference.may_be_first(values, order.covariance, level, order._freedom())
        names = [name for name, may_be in zip(self, possible, strict=True) if may_be]
        return tuple(sorted(names, key=lambda name: -sign * self[name].value))

    def simultaneous(self, level: float = 0.95) -> dict[str, Interval]:
        """Return intervals that hold for all variables at once (max-t; of ratios Fieller's).

        Args:
            level: of all intervals together.
        """
        bounds = inference.simultaneous_intervals(list(self.values()), self.covariance, level)
        return dict(zip(self, bounds, strict=True))

    def adjusted_p_values(self, method: Literal["holm", "max_t"] = "holm") -> dict[str, float]:
        """Return p-values of "this is 0", adjusted for looking at all variables.

        Args:
            method: Holm's, or the largest of correlated statistics.
        """
        distances = np.array([estimate.distance() for estimate in self.values()])
        order = self.numerators()
        distances = as_normal(distances, self._freedom())
        values = order._values()
        p = inference.adjusted_p_values(values, order.covariance, method, distances=distances)
        return dict(zip(self, map(float, p), strict=True))

    def largest_first(self) -> list[str]:
        """Return the names by size, whatever the sign."""
        return sorted(self, key=lambda name: -abs(self[name].value))

    def significant(self, level: float = 0.95) -> list[str]:
        """Return the names whose own interval excludes 0, largest first."""
        return [name for name in self.largest_first() if self[name].excludes_zero(level)]

    def _values(self) -> Array:
        return np.array([estimate.value for estimate in self.values()])

    def _freedom(self) -> Array:
        return np.array([estimate.degrees_of_freedom for estimate in self.values()])
