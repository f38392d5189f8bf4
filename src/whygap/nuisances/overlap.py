"""How far the two domains overlap, and what else a reader must know."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import stats

from whygap.domains import DOMAINS, Array
from whygap.equations import binning
from whygap.learning.primitives import Fits
from whygap.nuisances.cross_fit import CrossFit
from whygap.nuisances.held_out import out_of_fold
from whygap.nuisances.separators import find_separators
from whygap.nuisances.support import LIMITS, Region
from whygap.results import RatioRecord
from whygap.tables.design import Design, Note

_FEW_EFFECTIVE = 100.0  # rows: with fewer, a mean is not known to a tenth of a standard deviation


def ratio_records(crossfit: CrossFit) -> tuple[RatioRecord, ...]:
    """Overlap on W, and on W and Z."""
    return (
        _record(crossfit, "pi_w", "baseline variables", crossfit.ratio_w),
        _record(crossfit, "pi_wz", "all variables", crossfit.ratio_wz),
    )


def _record(crossfit: CrossFit, name: str, columns: str, fits: Fits) -> RatioRecord:
    raw = out_of_fold(fits, "source")
    clip = crossfit.settings.clip
    used = raw if clip is None else np.minimum(raw, clip)
    weight = used * crossfit.sample.weights.source
    return RatioRecord(
        name=name,
        columns=columns,
        effective_size=float(weight.sum() ** 2 / (weight**2).sum()),
        rows=len(raw),
        largest_weight=float(used.max()),
        clipped_share=0.0 if clip is None else float(np.mean(raw > clip)),
        domain_auc=_auc(raw, out_of_fold(fits, "target")),
    )


def _auc(source: Array, target: Array) -> float:
    """How well the ratio tells target rows from source rows; 0.5 is not at all."""
    ranks = stats.rankdata(np.concatenate([source, target]))
    n_0, n_1 = len(source), len(target)
    return float((ranks[n_0:].sum() - n_1 * (n_1 + 1) / 2) / (n_0 * n_1))


def region_notes(region: Region) -> tuple[Note, ...]:
    """Where the tables are compared, in words; nothing where they cannot be."""
    if region.is_too_small:
        return ()
    low = LIMITS.probability
    text = (
        "The tables are compared where both have rows (probability of the target between "
        f"{low:.0%} and {1 - low:.0%}): {region.kept.source:.1%} of the source rows and "
        f"{region.kept.target:.1%} of the target rows. The rest is left behind or new ground."
    )
    return (Note("info", text),)


def not_comparable(region: Region, design: Design) -> str:
    """Why nothing can be compared, with the columns that separate the tables."""
    kept = region.kept
    text = (
        f"The tables share too little to compare them: only {kept.source:.1%} of the source rows "
        f"and {kept.target:.1%} of the target rows have a counterpart in the other table."
    )
    separators = find_separators(design)
    if not separators:
        return text + " No single column separates them; several together do."
    listed = "; ".join(map(str, separators))
    return f"{text} What separates them: {listed}."


def overlap_notes(crossfit: CrossFit, ratios: tuple[RatioRecord, ...]) -> tuple[Note, ...]:
    """Warnings that follow from the overlap and from the source risk."""
    notes = [note for record in ratios for note in _overlap_notes(record)]
    settings = crossfit.settings
    at_edge = binning.rows_at_edges(crossfit.risk.target, settings.bins)
    if settings.outcome_form != "smooth" and at_edge:
        text = (
            f"{at_edge} target rows have a source risk exactly on the edge of a bin; the outcome "
            "shares assume there are none. Another number of bins avoids this."
        )
        notes.append(Note("warning", text))
    return (*notes, *_size_notes(crossfit))


def _size_notes(crossfit: CrossFit) -> Iterator[Note]:
    """What was done because there are many rows."""
    blocks, sample = crossfit.blocks, crossfit.sample
    rows = blocks.bounds.map(lambda bounds: int(bounds[-1]))
    trained = rows if blocks.trained is None else blocks.trained.map(lambda t: int(t.sum()))
    if sum(trained) < sum(rows):
        yield Note(
            "info",
            f"Models were trained on {trained.source:,} of {rows.source:,} source rows and "
            f"{trained.target:,} of {rows.target:,} target rows, drawn at random; all rows serve "
            "in the averages. training_rows=None trains on all.",
        )
    groups = crossfit.settings.influence_groups
    if any(sample.sizes[d] == groups < rows[d] for d in DOMAINS):
        yield Note(
            "info",
            f"Standard errors rest on sums over {groups:,} random groups of rows per domain, "
            f"which makes them uncertain by about {(0.5 / groups) ** 0.5:.1%}.",
        )


def _overlap_notes(record: RatioRecord) -> Iterator[Note]:
    if record.clipped_share > 0:
        yield Note(
            "warning",
            f"{record.clipped_share:.1%} of the source rows had their density ratio on "
            f"{record.columns} cut at the limit you set; this biases the estimates towards the "
            "source domain.",
        )
    if record.effective_size < _FEW_EFFECTIVE or record.domain_auc > 0.95:
        yield Note(
            "problem" if record.effective_size < _FEW_EFFECTIVE / 4 else "warning",
            f"The domains overlap poorly on {record.columns}: reweighted to look like the target, "
            f"{record.rows} source rows are worth about {record.effective_size:.0f} (largest "
            f"weight {record.largest_weight:.0f}, domain AUC {record.domain_auc:.2f}).",
        )
