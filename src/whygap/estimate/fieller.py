"""A ratio of two estimates, and the interval that holds when its denominator is uncertain too."""

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
        """Return whether `value` lies outside, between ends that are finite numbers."""
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
        """The ratio times `scale` plus `offset`."""
        return replace(self, scale=self.scale * scale, offset=self.offset * scale + offset)

    def shares_bottom(self, other: Ratio) -> bool:
        """Whether two ratios have one denominator."""
        return (self.bottom, self.variance_bottom) == (other.bottom, other.variance_bottom)

    def standard_error(self) -> float:
        """By the delta method."""
        value = self.top / self.bottom
        variance = self.variance_top - 2 * value * self.covariance + value**2 * self.variance_bottom
        return abs(self.scale / self.bottom) * math.sqrt(max(variance, 0.0))

    def distance(self, null: float) -> float:
        """From `null`, in standard errors of top - t bottom: what Fieller's interval inverts."""
        t = (null - self.offset) / self.scale
        variance = self.variance_top - 2 * t * self.covariance + t**2 * self.variance_bottom
        return in_errors(self.top - t * self.bottom, math.sqrt(max(variance, 0.0)))

    def interval(self, critical: float) -> Interval:
        """Fieller: all t with |top - t bottom| <= critical se(top - t bottom).

        Unbounded (both ends infinite) when the bottom is not so many standard errors from 0.
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
    """The sum of ratios over one denominator, given its standard error; None of any others.

    Whether a sum or difference of numerators is 0 does not depend on the denominator's error.
    """
    known = [ratio for ratio in ratios if ratio is not None]
    if len(known) < len(ratios) or not all(one.shares_bottom(known[0]) for one in known):
        return None
    bottom, variance_bottom = known[0].bottom, known[0].variance_bottom
    top = sum(one.scale * one.top for one in known)
    covariance = sum(one.scale * one.covariance for one in known)
    value = top / bottom
    variance = (bottom * standard_error) ** 2 + 2 * value * covariance - value**2 * variance_bottom
    offset = sum(one.offset for one in known)
    return Ratio(top, bottom, max(variance, 0.0), variance_bottom, covariance, offset=offset)


def in_errors(difference: float, error: float) -> float:
    """A distance in standard errors; without error any distance is endless."""
    if error == 0:
        return 0.0 if difference == 0 else math.inf
    return abs(difference) / error
