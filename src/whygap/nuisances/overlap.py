"""How far the two domains overlap, and what else a reader must know."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from whygap.domains import DOMAINS, Array, ByDomain
from whygap.equations import binning
from whygap.estimate import Sample
from whygap.learning.blocks import make_blocks
from whygap.learning.features import make_features
from whygap.learning.menu import Menu
from whygap.learning.primitives import Fits
from whygap.notes import Note
from whygap.nuisances.cross_fit import (
    INFLUENCE_GROUPS,
    CrossFit,
    largest,
    ratio,
    sample_of,
)
from whygap.nuisances.held_out import out_of_fold
from whygap.nuisances.separators import find_separators
from whygap.nuisances.support import Region
from whygap.results.overlap import LIMITS, RatioRecord, not_comparable_note
from whygap.settings import Settings
from whygap.tables.design import Design


@dataclass(frozen=True, slots=True, eq=False)
class Ratios:
    """Density ratios of W, of (W, Z) and maybe of (W, Y); rows they are judged on, their limits."""

    w: Fits
    wz: Fits
    sample: Sample
    design: Design
    settings: Settings
    wy: Fits | None = None
    bound: float = math.inf

    def limit(self, fits: Fits) -> float:
        """What one of them is cut at."""
        return largest(self.design, self.settings, self.bound, fits.columns)


def ratios_of(crossfit: CrossFit) -> Ratios:
    """Those of the aggregate terms."""
    own = crossfit.sample, crossfit.design, crossfit.settings
    return Ratios(
        crossfit.ratio_w, crossfit.ratio_wz, *own, wy=crossfit.ratio_wy, bound=crossfit.bound
    )


def fit_ratios_alone(design: Design, settings: Settings) -> Ratios:
    """The ratios without the rest of a cross-fitting: enough to judge the overlap."""
    blocks = make_blocks(design, settings, np.random.default_rng(settings.seed))
    features, menu = make_features(design, blocks), Menu(settings)
    everything = design.baseline + design.covariates
    fits = [
        ratio(features, menu, name, columns)
        for name, columns in (("pi_w", design.baseline), ("pi_wz", everything))
    ]
    return Ratios(fits[0], fits[1], sample_of(design, settings), design, settings)


def ratio_records(ratios: Ratios) -> tuple[RatioRecord, ...]:
    """Overlap on W, on W and Y where the outcome comes first, and last on W and Z."""
    asked = [("pi_w", "baseline variables", ratios.w), ("pi_wz", "all variables", ratios.wz)]
    if ratios.wy is not None:
        asked.insert(1, ("pi_wy", "baseline variables and the outcome", ratios.wy))
    return tuple(_record(ratios, *one) for one in asked)


def _record(ratios: Ratios, name: str, columns: str, fits: Fits) -> RatioRecord:
    found = ByDomain(out_of_fold(fits, "source"), out_of_fold(fits, "target"))
    raw, weights, limit = found.source, ratios.sample.weights, ratios.limit(fits)
    used = np.minimum(raw, limit)
    weight, pi = used * weights.source, raw * weights.source
    alone = found.target / (1 + found.target) > 1 - LIMITS.without_counterpart
    return RatioRecord(
        name=name,
        columns=columns,
        effective_size=float(weight.sum() ** 2 / max(float((weight**2).sum()), 1e-300)),
        rows=len(raw),
        largest_weight=float(used.max()),
        clipped_share=float(np.mean(raw > limit)),
        domain_auc=_auc(raw, found.target),
        mean_weight=float(pi.mean()),
        mean_error=float(pi.std()) / len(pi) ** 0.5,
        without_counterpart=float(np.mean(alone * weights.target)),
    )


def _auc(source: Array, target: Array) -> float:
    """How well the ratio tells target rows from source rows; 0.5 is not at all."""
    from scipy import stats  # takes long to import

    ranks = stats.rankdata(np.concatenate([source, target]))
    n_0, n_1 = len(source), len(target)
    return float((ranks[n_0:].sum() - n_1 * (n_1 + 1) / 2) / (n_0 * n_1))


def region_notes(region: Region) -> tuple[Note, ...]:
    """Where the tables are compared, in words; nothing where they cannot be."""
    if region.is_too_small:
        return ()
    low = LIMITS.probability
    kept = {"source_share": region.kept.source, "target_share": region.kept.target}
    return (Note("common_support", "info", {"low": low, "high": 1 - low, **kept}),)


def not_comparable(region: Region, design: Design) -> Note:
    """Say why nothing can be compared, with the columns that separate the tables."""
    return not_comparable_note(region.kept, region.rows.map(len), find_separators(design))


def fit_notes(crossfit: CrossFit) -> tuple[Note, ...]:
    """What a reader must know of the fits besides the overlap."""
    return (*_edge_notes(crossfit), *_size_notes(crossfit))


def _edge_notes(crossfit: CrossFit) -> Iterator[Note]:
    risk = crossfit.risk
    at_edge = 0 if risk is None else binning.rows_at_edges(risk.target, binning.BINS)
    if at_edge:
        yield Note("bin_edges", "warning", {"rows": int(at_edge)})


def _size_notes(crossfit: CrossFit) -> Iterator[Note]:
    """What was done because there are many rows."""
    blocks, sample = crossfit.blocks, crossfit.sample
    rows = blocks.bounds.map(lambda bounds: int(bounds[-1]))
    trained = rows if blocks.trained is None else blocks.trained.map(lambda t: int(t.sum()))
    if sum(trained) < sum(rows):
        of_all = {"source": rows.source, "target": rows.target}
        used = {"trained_source": trained.source, "trained_target": trained.target}
        yield Note("training_rows", "info", {**used, **of_all})
    groups = INFLUENCE_GROUPS
    if any(sample.sizes[d] == groups < rows[d] for d in DOMAINS):
        uncertainty = (0.5 / groups) ** 0.5  # relative, of a standard error
        facts = {"n_groups": int(groups), "uncertainty": uncertainty}
        yield Note("random_groups", "info", facts)
