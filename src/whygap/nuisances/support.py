"""The region of shared support: where a row could have come from either domain."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from whygap.domains import DOMAINS, Array, ByDomain, IntArray
from whygap.estimate import Sample
from whygap.learning.primitives import Fits
from whygap.nuisances.held_out import out_of_fold
from whygap.results.overlap import LIMITS

__all__ = ["Edges", "Region", "find_region"]

RULE_OF_THREE = 3  # none among 3 / p rows: with 95% confidence it is rarer than p


@dataclass(frozen=True, slots=True)
class Edges:
    """Probabilities of the target, by the model, between which a row could be of either domain."""

    low: float
    high: float

    def hold(self, ratio: Array) -> NDArray[np.bool_]:
        """Which rows of these density ratios are inside."""
        probability = ratio / (1 + ratio)
        return np.asarray((probability > self.low) & (probability < self.high))


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """Rows of both tables that either domain could have produced.

    Attributes:
        rows: their numbers, ascending.
        kept: their share of each table, by weight.
        edges: that it was cut by.
    """

    rows: ByDomain[IntArray]
    kept: ByDomain[float]
    edges: Edges

    @property
    def is_too_small(self) -> bool:
        """Whether it holds too little of either table."""
        enough = min(self.kept) >= LIMITS.least_share
        return not enough or min(map(len, self.rows)) < LIMITS.least_rows

    @property
    def largest_ratio(self) -> float:
        """What no density ratio of W and Z, or of some of them, exceeds within the region.

        On A, where P(target | x) is at most 1 - eps, the ratio p_1(x | A) / p_0(x | A) is at most
        (1 - eps) / eps times P_0(A) / P_1(A); given some columns only it is an average of these. A
        fitted ratio beyond that is the extrapolation of a model.
        """
        eps = LIMITS.probability
        return (1 - eps) / eps * self.kept.source / self.kept.target

    def sample(self, whole: Sample) -> Sample:
        """The region's rows as part of the whole sample: their estimates combine."""
        weights = whole.weights.zip(self.rows, lambda w, rows: w[rows] / w[rows].mean())
        units = whole.units.zip(self.rows, lambda unit, rows: unit[rows])
        return replace(whole, weights=weights, units=units)


def find_region(ratio: Fits) -> Region:
    """Rows whose out-of-fold probability of either domain, given (W, Z), is 5% at least.

    The region is a function of (W, Z) alone, made without outcomes, so every mean over its rows is
    a mean over that region: a narrower question, answered honestly.
    """
    found = ByDomain(*(out_of_fold(ratio, domain) for domain in DOMAINS))
    features = ratio.features
    weights = features.weights.zip(features.blocks.back, lambda w, back: w[back])
    edges = _edges(found.map(lambda pi: pi / (1 + pi)), weights)
    inside = found.map(edges.hold)
    kept = inside.zip(weights, lambda held, w: float(w[held].sum() / w.sum()))
    return Region(inside.map(np.flatnonzero), kept, edges)


def _edges(probability: ByDomain[Array], weights: ByDomain[Array]) -> Edges:
    """By what the model says, and by what it is worth.

    Smooth models do not say 0 where a domain has no rows. So the probability is calibrated by
    isotonic regression: an end of it that holds enough rows, and next to none of the other domain,
    is outside, whatever the model says of it.
    """
    from scipy.optimize import isotonic_regression  # slow to import, and seldom needed

    weight = np.concatenate([w / w.sum() for w in weights])
    counted = weight > 0
    weight, label = weight[counted], np.repeat([0.0, 1.0], list(weights.map(len)))[counted]
    said, place = np.unique(np.concatenate(list(probability))[counted], return_inverse=True)
    mass, rows = np.bincount(place, weight), np.bincount(place)
    share = np.bincount(place, weight * label) / mass
    calibrated = isotonic_regression(share, weights=mass).x
    eps = LIMITS.probability
    low, high = calibrated < eps, calibrated > 1 - eps
    enough = RULE_OF_THREE / eps
    return Edges(
        low=float(np.max(said[low], initial=eps)) if rows[low].sum() >= enough else eps,
        high=float(np.min(said[high], initial=1 - eps)) if rows[high].sum() >= enough else 1 - eps,
    )
