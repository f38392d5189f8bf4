"""The region of shared support: where a row could have come from either domain."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from whygap.domains import DOMAINS, ByDomain, Domain, IntArray
from whygap.errors import TableError
from whygap.learning.blocks import make_blocks
from whygap.learning.features import make_features
from whygap.learning.menu import Menu, ratio_probes
from whygap.learning.primitives import RatioFits, fit_ratios
from whygap.settings import Settings
from whygap.tables.design import Design, Note

__all__ = ["Restricted", "restrict"]

_LEAST_PROBABILITY = 0.05  # of either domain: no row then weighs more than nineteen others


@dataclass(frozen=True, slots=True, eq=False)
class Restricted:
    """The design on the region of shared support, and the share of rows kept."""

    design: Design
    kept: ByDomain[float]


def restrict(design: Design, settings: Settings, seed: np.random.SeedSequence) -> Restricted:
    """Keep rows whose out-of-fold P(target | W, Z), both domains weighing the same, is 5% to 95%.

    The region is a function of (W, Z) alone, so every mean of the restricted tables is a mean
    over that region: a narrower question, answered honestly.
    """
    plain = replace(settings, split=None)
    features = make_features(design, make_blocks(design, plain, np.random.default_rng(seed)))
    columns = design.baseline + design.covariates
    learner = Menu(settings).learner(
        "support",
        lambda: ratio_probes(features, [columns]),
        columns="W, Z",
        target="domain",
    )
    fits = fit_ratios(features, learner, columns, features.blocks.complements(), "support")
    keep = ByDomain(*(_inside(fits, d) for d in DOMAINS))
    kept = keep.zip(design.rows, lambda rows, total: len(rows) / total)
    if min(kept) == 0:
        raise TableError(
            "The two tables share no region of support: every row gives away its domain",
            hint="Drop the covariates that separate the domains (whygap check names them).",
        )
    note = Note(
        "info",
        f"Restricted to rows that either domain could have produced (probability of target "
        f"between {_LEAST_PROBABILITY:.0%} and {1 - _LEAST_PROBABILITY:.0%}): "
        f"{kept.source:.1%} of the source rows and {kept.target:.1%} of the target rows remain.",
    )
    return Restricted(replace(design.take(keep), notes=(*design.notes, note)), kept)


def _inside(fits: RatioFits, name: Domain) -> IntArray:
    blocks = fits.features.blocks
    kept = []
    for k in blocks.evaluated:
        ratio = fits.predict(blocks.complement(k), name, k)
        probability = ratio / (1 + ratio)
        rows = blocks.order[name][blocks.rows(name, k)]
        inside = (probability > _LEAST_PROBABILITY) & (probability < 1 - _LEAST_PROBABILITY)
        kept.append(rows[inside])
    return np.sort(np.concatenate(kept))
