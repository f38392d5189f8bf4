"""Influence values: how every row, and every other source of error, moves an estimate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from whygap.domains import Array

ERRORS = ("draws", "fits", "repeats", "bias")  # the errors that do not come from rows


@dataclass(frozen=True, slots=True, eq=False)
class Influence:
    """Influence values: `estimate - truth` is about the sum of six independent errors.

    `mean(source) + mean(target)` from the rows (where clusters have rows in both tables, `source`
    has an entry for each cluster and `target` none), and an error of each entry's size from `draws`
    (sampled subsets), `fits` (what halvings of the rows disagree on), `repeats` (how far repeated
    cross-fittings lie apart) and `bias` (what each learner may get wrong on average).
    """

    source: Array
    target: Array
    draws: Array = field(default_factory=lambda: np.zeros(0))
    fits: Array = field(default_factory=lambda: np.zeros(0))
    repeats: Array = field(default_factory=lambda: np.zeros(0))
    bias: Array = field(default_factory=lambda: np.zeros(0))

    def scaled(self, factor: float) -> Influence:
        """Multiply every entry by a number.

        Args:
            factor: the number.
        """
        errors = (getattr(self, name) * factor for name in ERRORS)
        return Influence(self.source * factor, self.target * factor, *errors)

    def plus(self, addend: Influence) -> Influence:
        """Add entry by entry; errors are padded with zeros.

        Args:
            addend: influence values of the study, for equal units.
        """
        pairs = ((getattr(self, name), getattr(addend, name)) for name in ERRORS)
        errors = (padded_stack(pair).sum(axis=0) for pair in pairs)
        return Influence(self.source + addend.source, self.target + addend.target, *errors)

    def variance(self) -> float:
        """Compute the variance of the estimate."""
        return self.covariance(self)

    def covariance(self, second: Influence) -> float:
        """Compute the covariance with another estimate of the study.

        Args:
            second: influence values of that estimate.
        """
        total = _mean_covariance(self.source, second.source)
        total += _mean_covariance(self.target, second.target)
        for name in ERRORS:
            errors = getattr(self, name)
            size = min(len(errors), len(getattr(second, name)))
            total += float(errors[:size] @ getattr(second, name)[:size])
        return total

    def degrees_of_freedom(self) -> float:
        """Compute how well the variance is known, as the degrees of freedom of a chi-square.

        Satterthwaite: 2 V^2 over the variance of the estimated V. Fits: a block's three halvings
        sum to 0, so that the sum of their fourth powers is on average the variance of the sum of
        their squares. Draws, repeats and bias count in V as known.
        """
        total = self.variance()
        doubt = _doubt(self.source) + _doubt(self.target) + float((self.fits**4).sum())
        return max(2 * total**2 / doubt, 1.0) if doubt > 0 else math.inf


def padded_stack(rows: Sequence[Array]) -> Array:
    """Stack rows of different lengths, filled up with zeros.

    Args:
        rows: arrays (length,), at least one.
    """
    stacked = np.zeros((len(rows), max(len(row) for row in rows)))
    for place, row in zip(stacked, rows, strict=True):
        place[: len(row)] = row
    return stacked


def _mean_covariance(first: Array, second: Array) -> float:
    n = len(first)
    if n < 2:
        return 0.0
    return float((first - first.mean()) @ (second - second.mean())) / (n * (n - 1))


def _doubt(values: Array) -> float:
    """Estimate the variance of the variance of a mean: (kurtosis - 1) V^2 / (units - 1)."""
    n = len(values)
    if n < 2:
        return 0.0
    squares = (values - values.mean()) ** 2
    second = float(squares.mean())
    fourth = max(float((squares**2).mean()), 3 * second**2)  # few units cannot show less than 3
    return (fourth - second**2) / (n - 1) ** 3
