"""The region of shared support: where a row could have come from either domain."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from whygap.blocks import make_blocks
from whygap.domains import DOMAINS, ByDomain, Domain, IntArray
from whygap.estimate import Sample
from whygap.learning.features import make_features
from whygap.learning.menu import Menu, ratio_probes
from whygap.learning.primitives import Fits, fit_ratios
from whygap.results.overlap import LIMITS
from whygap.settings import Settings
from whygap.tables.design import Design

__all__ = ["Region", "find_region"]


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
    rows = ByDomain(*(_inside(fits, d) for d in DOMAINS))
    return Region(rows, rows.zip(design.rows, lambda inside, total: len(inside) / total))


def _inside(fits: Fits, domain: Domain) -> IntArray:
    blocks = fits.features.blocks
    kept = []
    for k in blocks.evaluated:
        rows = blocks.order[domain][blocks.rows(domain, k)]
        ratio = fits.predict(blocks.complement(k), domain, k)
        kept.append(rows[np.abs(ratio / (1 + ratio) - 0.5) < 0.5 - LIMITS.probability])
    return np.sort(np.concatenate(kept))
