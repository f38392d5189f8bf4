"""Ratios of two estimates, with intervals that hold when the denominator is uncertain too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple


class Interval(NamedTuple):
    """Two-sided confidence interval."""

    low: float
    high: float

    def excludes(self, value: float = 0.0) -> bool:
        """Return whether `value` lies outside, between ends that are finite numbers.

        Args:
            value: the number looked for in the interval.
        """
        outside = self.low > value or self.high < value
        return outside and math.isfinite(self.low) and math.isfinite(self.high)


@dataclass(frozen=True, slots=True)
class Ratio:
    """Moments of `offset + scale * top / bottom`, for Fieller's interval."""

    top: float
    bottom: float
    variance_top: float
    variance_bottom: float
    covariance: float
    scale: float = 1.0
    offset: float = 0.0

    def affine(self, scale: float, offset: float) -> Ratio:
        """Return `scale` times the ratio, plus `offset`.

        Args:
            scale: the factor, applied first.
            offset: the number added.
        """
        return replace(self, scale=self.scale * scale, offset=self.offset * scale + offset)

    def shares_bottom(self, ratio: Ratio) -> bool:
        """Return whether the denominators are equal.

        Args:
            ratio: the ratio to compare with.
        """
        return (self.bottom, self.variance_bottom) == (ratio.bottom, ratio.variance_bottom)

    def _difference_error(self, t: float) -> float:
        """Compute the standard error of top - t bottom."""
        variance = self.variance_top - 2 * t * self.covariance + t**2 * self.variance_bottom
        return math.sqrt(max(variance, 0.0))

    def standard_error(self) -> float:
        """Compute the standard error by the delta method."""
        return abs(self.scale / self.bottom) * self._difference_error(self.top / self.bottom)

    def distance(self, null: float) -> float:
        """Measure the distance from `null` in standard errors of top - t bottom.

        Args:
            null: a value of the ratio, in the units after scale and offset.
        """
        t = (null - self.offset) / self.scale
        return in_errors(self.top - t * self.bottom, self._difference_error(t))

    def interval(self, critical: float) -> Interval:
        """Compute Fieller's interval: all t with |top - t bottom| <= critical se(top - t bottom).

        Unbounded (both ends infinite) when the bottom is not so many standard errors from 0.

        Args:
            critical: quantile: how many standard errors the interval reaches.
        """
        z2 = critical**2
        a = self.bottom**2 - z2 * self.variance_bottom
        b = self.top * self.bottom - z2 * self.covariance
        c = self.top**2 - z2 * self.variance_top
        if a <= 0:
            return Interval(-math.inf, math.inf)
        root = math.sqrt(max(b * b - a * c, 0.0))
        ends = [self.offset + self.scale * (b + s * root) / a for s in (-1, 1)]
        return Interval(min(ends), max(ends))


def sum_of(ratios: Sequence[Ratio | None], standard_error: float) -> Ratio | None:
    """Add ratios over a common denominator; None unless all have that denominator.

    Whether a sum or difference of numerators is 0 does not depend on the denominator's error.

    Args:
        ratios: the terms; None for an estimate that is no ratio.
        standard_error: of the sum.
    """
    terms = [ratio for ratio in ratios if ratio is not None]
    if len(terms) < len(ratios) or not all(term.shares_bottom(terms[0]) for term in terms):
        return None
    bottom = terms[0].bottom
    variance_bottom = terms[0].variance_bottom
    top = sum(term.scale * term.top for term in terms)
    covariance = sum(term.scale * term.covariance for term in terms)
    value = top / bottom
    variance = (bottom * standard_error) ** 2 + 2 * value * covariance - value**2 * variance_bottom
    moments = (top, bottom, max(variance, 0.0), variance_bottom, covariance)
    return Ratio(*moments, offset=sum(term.offset for term in terms))


def in_errors(difference: float, error: float) -> float:
    """Divide a distance by a standard error; without error any distance is infinite.

    Args:
        difference: the distance, with any sign.
        error: the standard error.
    """
    if error == 0:
        return 0.0 if difference == 0 else math.inf
    return abs(difference) / error
