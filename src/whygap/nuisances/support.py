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
from whygap.nuisances.cross_fit import CrossFit
from whygap.nuisances.held_out import out_of_fold
from whygap.settings import Settings
from whygap.tables.design import Design

__all__ = ["Region", "find_region", "lacks_counterparts"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What counts as shared support."""

    # A row is shared when P(its domain | W, Z), both domains weighing the same, leaves the other at
    # least this much: weights within the region stay below 19
    probability: float = 0.05
    without_counterpart: float = 0.01  # a target row surely has none when the source is left less
    missing: float = 0.05  # share of the target without counterpart from which the region is needed
    # Of the source rows that must be left when they are reweighted: half of what the paper's own
    # world leaves, which is hard on purpose
    least_effective: float = 0.02
    least_share: float = 0.1  # of either table's rows, for the region to say anything of it
    least_rows: int = 100  # likewise, in rows: 20 in each of five folds


LIMITS = Limits()


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

    def sample(self, whole: Sample) -> Sample:
        """The region's rows as part of the whole sample: their estimates combine."""
        weights = whole.weights.zip(self.rows, lambda w, rows: w[rows] / w[rows].mean())
        units = whole.units.zip(self.rows, lambda unit, rows: unit[rows])
        return replace(whole, weights=weights, units=units)


def lacks_counterparts(crossfit: CrossFit) -> bool:
    """Whether many target rows have nothing alike in the source, by the ratio on all columns.

    Its mean over source rows is the part of the target that lies where the source has rows: 1
    where weights are merely heavy, clearly less where counterparts are missing. Rows that are
    nearly sure to be the target's tell the same where they are many; and so do weights of which
    next to nothing is effective.
    """
    weights = crossfit.sample.weights
    pi = out_of_fold(crossfit.ratio_wz, "source") * weights.source
    error = float(pi.std()) / len(pi) ** 0.5
    ratio = out_of_fold(crossfit.ratio_wz, "target")
    alone = ratio / (1 + ratio) > 1 - LIMITS.without_counterpart
    surely = float(np.mean(alone * weights.target)) > 2 * LIMITS.missing
    effective = float(pi.sum() ** 2 / max(float((pi**2).sum()), 1e-300)) / len(pi)
    hardly = effective < LIMITS.least_effective
    return surely or hardly or 1 - float(pi.mean()) - 2 * error > LIMITS.missing


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
