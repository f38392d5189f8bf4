"""Overlap before an analysis: the ratios are fitted on some rows, and judged as `explain` does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from whygap.checks.sampled import WIDE, some_rows
from whygap.domains import ByDomain
from whygap.notes import Note
from whygap.nuisances.meaning import meaning_notes
from whygap.nuisances.overlap import (
    fit_ratios_alone,
    not_comparable,
    ratio_records,
    region_notes,
)
from whygap.nuisances.separators import find_separators
from whygap.nuisances.support import Region, find_region
from whygap.results import Overlap, RatioRecord, Separator
from whygap.running.workers import one_thread
from whygap.settings import Settings
from whygap.tables.design import Design

MOST_ROWS = 5_000  # of each table: what a density ratio is fitted on within seconds
WIDE_ROWS = 2_000  # of each wide table: ten a column of two hundred


@dataclass(frozen=True, slots=True)
class TrialOverlap:
    """How far the tables overlap, as `explain` will judge it.

    Attributes:
        ratios: effective sizes are of all source rows.
        kept: share of rows in the region that is compared; all where there is no need of one.
        reason: why the tables cannot be compared; empty where they can.
        notes: what follows.
        rows: of each table, that it was measured on.
    """

    ratios: tuple[RatioRecord, ...]
    separators: tuple[Separator, ...]
    kept: ByDomain[float]
    reason: str
    notes: tuple[Note, ...]
    rows: ByDomain[int]


def measure_overlap(design: Design, settings: Settings) -> TrialOverlap:
    """The density ratios of the analysis to come, on some rows of each table.

    Of wide tables fewer rows are taken, fewer folds, and the fast learner: the answer is to come in
    seconds.
    """
    wide = len(design.columns) > WIDE
    chosen = some_rows(design, WIDE_ROWS if wide else MOST_ROWS, settings.seed)
    plain = replace(settings, repeats=1, support="all", split=None, checkpoint=None)
    plain = replace(plain, learner="fast", folds=3) if wide else plain
    with one_thread():
        ratios = fit_ratios_alone(chosen, plain)
        grown = _grown(ratio_records(ratios), design, chosen)
        overlap = Overlap(grown, find_separators(design))
        needed = settings.support == "auto" and overlap.lacks_counterparts
        region = find_region(ratios.wz) if needed or settings.support == "common" else None
        kept = ByDomain(1.0, 1.0) if region is None else region.kept
        found = TrialOverlap(overlap.ratios, overlap.separators, kept, "", (), chosen.rows)
        if region is not None and region.is_too_small:
            note = not_comparable(region, design)
            return replace(found, reason=str(note), notes=(note,))
        notes = overlap.notes() if region is None else _within(region, chosen, overlap, plain)
        return replace(found, notes=(*notes, *meaning_notes(chosen, plain, ratios.wz)))


def _grown(
    ratios: Iterable[RatioRecord], design: Design, chosen: Design
) -> tuple[RatioRecord, ...]:
    """Effective sizes as they will be with all rows."""
    grown, rows = design.rows.source / chosen.rows.source, design.rows.source
    return tuple(replace(r, effective_size=r.effective_size * grown, rows=rows) for r in ratios)


def _within(
    region: Region, chosen: Design, overlap: Overlap, settings: Settings
) -> tuple[Note, ...]:
    """That a region is compared is worth a warning; its own ratios are judged."""
    ratios = ratio_records(fit_ratios_alone(chosen.take(region.rows), settings))
    said = (replace(note, level="warning") for note in region_notes(region))
    return (*said, *Overlap(ratios, overlap.separators).notes())
