"""A ratio of two estimates, and the interval that holds when its denominator is uncertain too."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from scipy import special


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

    def interval(self, level: float) -> tuple[float, float]:
        """Fieller: all t with |top - t bottom| <= z se(top - t bottom).

        Unbounded (both ends infinite) when the bottom is not distinguishable from 0 at this level.
        """
        z2 = normal_quantile(level) ** 2
        a = self.bottom**2 - z2 * self.variance_bottom
        b = self.top * self.bottom - z2 * self.covariance
        c = self.top**2 - z2 * self.variance_top
        if a <= 0:
            return -math.inf, math.inf
        root = math.sqrt(max(b * b - a * c, 0.0))
        ends = [self.offset + self.scale * (b + s * root) / a for s in (-1, 1)]
        return min(ends), max(ends)


def in_errors(difference: float, error: float) -> float:
    """A distance in standard errors; without error any distance is endless."""
    if error == 0:
        return 0.0 if difference == 0 else math.inf
    return abs(difference) / error


def normal_quantile(level: float) -> float:
    """The z of a two-sided interval."""
    return float(special.ndtri(0.5 + level / 2))
