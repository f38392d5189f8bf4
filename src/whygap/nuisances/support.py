"""The region of shared support: where a row could have come from either domain."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from whygap.blocks import make_blocks
from whygap.domains import DOMAINS, Array, ByDomain, IntArray
from whygap.estimate import Sample
from whygap.learning.features import make_features
from whygap.learning.menu import Menu, ratio_probes
from whygap.learning.primitives import fit_ratios
from whygap.nuisances.held_out import out_of_fold
from whygap.results.overlap import LIMITS
from whygap.settings import Settings
from whygap.tables.design import Design

__all__ = ["Region", "find_region"]

RULE_OF_THREE = 3  # none among 3 / p rows: with 95% confidence it is rarer than p


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """Rows of both tables that either domain could have produced."""

    rows: ByDomain[IntArray]
    kept: ByDomain[float]

    @property
    def is_too_small(self) -> bool:
        """Whether it holds too little of either table."""
        enough = min(self.kept) >= LIMITS.least_share
        return not enough or min(map(len, self.rows)) < LIMITS.least_rows

    def largest_ratio(self, clip: float | None) -> float:
        """What no density ratio within the region exceeds, or less where less is wanted.

        On A, where P(target | x) is at most 1 - eps, the ratio p_1(x | A) / p_0(x | A) is at most
        (1 - eps) / eps times P_0(A) / P_1(A); given some columns only it is an average of these. A
        fitted ratio beyond that is the extrapolation of a model.
        """
        eps = LIMITS.probability
        bound = (1 - eps) / eps * self.kept.source / self.kept.target
        return bound if clip is None else min(bound, clip)

    def sample(self, whole: Sample) -> Sample:
        """The region's rows as part of the whole sample: their estimates combine."""
        weights = whole.weights.zip(self.rows, lambda w, rows: w[rows] / w[rows].mean())
        units = whole.units.zip(self.rows, lambda unit, rows: unit[rows])
        return replace(whole, weights=weights, units=units)


def find_region(design: Design, settings: Settings, seed: np.random.SeedSequence) -> Region:
    """Rows whose out-of-fold probability of either domain is 5% at least.

    The region is a function of (W, Z) alone, so every mean over its rows is a mean over that
    region: a narrower question, answered honestly.
    """
    plain = replace(settings, split=None)
    features = make_features(design, make_blocks(design, plain, np.random.default_rng(seed)))
    columns = design.baseline + design.covariates
    learner = Menu(settings).learner(
        "support", lambda: ratio_probes(features, [columns]), columns="W, Z", target="domain"
    )
    fits = fit_ratios(features, learner, columns, "support")
    ratio = ByDomain(*(out_of_fold(fits, domain) for domain in DOMAINS))
    inside = _inside(ratio.map(lambda pi: pi / (1 + pi)))
    rows = inside.map(np.flatnonzero)
    return Region(rows, rows.zip(design.rows, lambda found, total: len(found) / total))


def _inside(probability: ByDomain[Array]) -> ByDomain[NDArray[np.bool_]]:
    """Rows that either domain could have produced, by what the model says and by what it is worth.

    Smooth models do not say 0 where a domain has no rows. So the probability is calibrated by
    isotonic regression: an end of it that holds enough rows, and next to none of the other domain,
    is outside, whatever the model says of it.
    """
    low, sizes = LIMITS.probability, probability.map(len)
    both = np.concatenate(list(probability))
    order = np.argsort(both, kind="stable")
    label = np.repeat([0.0, 1.0], list(sizes))
    weight = np.repeat([1 / sizes.source, 1 / sizes.target], list(sizes))
    calibrated = np.empty(len(both))
    calibrated[order] = isotonic_regression(label[order], weights=weight[order]).x
    outside = np.abs(both - 0.5) >= 0.5 - low
    for end in (calibrated < low, calibrated > 1 - low):
        if np.count_nonzero(end) >= RULE_OF_THREE / low:
            outside |= end
    return ByDomain(~outside[: sizes.source], ~outside[sizes.source :])
