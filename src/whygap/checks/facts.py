"""Plain facts about a study: sizes, roles, columns, overlap, and the problems they show."""

from dataclasses import dataclass, replace

import numpy as np

from whygap.checks.trial import WIDE, some_rows
from whygap.domains import DOMAINS, Array, ByDomain, Domain
from whygap.estimate import Estimate
from whygap.notes import Note
from whygap.nuisances.meaning import meaning_notes
from whygap.nuisances.overlap import fit_ratios_alone, not_comparable, ratio_records, region_notes
from whygap.nuisances.separators import column_auc, find_separators
from whygap.nuisances.support import Region, find_region
from whygap.results import Overlap, RatioRecord, Separator
from whygap.running.workers import one_thread
from whygap.settings import Settings
from whygap.study import Study
from whygap.tables.design import Design

FEWEST_OF_A_CLASS = 25  # five rows a fold of the rarer value: fewer, and a model learns one row


@dataclass(frozen=True, slots=True)
class DomainFacts:
    """Sizes, outcome and metric of a table.

    Attributes:
        rows: that are used.
        effective_rows: Kish's effective number of rows under the weights.
        units: independent units: rows, or clusters of rows.
        rarer: rows with the rarest outcome value; all rows where the outcome is a number.
        positive_share: weighted share of rows with outcome 1, of an outcome of two values.
        metric: the metric's value.
    """

    rows: int
    effective_rows: float
    units: int
    rarer: int
    positive_share: float | None
    metric: Estimate


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """A column of W or Z.

    Attributes:
        name: of the column.
        player: the group it belongs to, or its own name; empty for a baseline column.
        kind: "numeric", "ordinal" or "category".
        missing: share of missing values in each table.
        values: number of distinct values in both tables together, missing not counted.
        one_sided: share of rows whose level the other table lacks (0 for numbers).
        domain_auc: how well the column alone tells the tables apart; 0.5 is not at all.
    """

    name: str
    player: str
    kind: str
    missing: ByDomain[float]
    values: int
    one_sided: ByDomain[float]
    domain_auc: float


@dataclass(frozen=True, slots=True)
class TrialOverlap:
    """How far the tables overlap, as `explain` will judge it.

    Attributes:
        ratios: of the density ratios; effective sizes are of all source rows.
        separators: columns that tell the tables apart.
        kept: share of rows in the region that is compared; all where there is no need of one.
        reason: why the tables cannot be compared; empty where they can.
        notes: what follows.
        rows: of each table, that the ratios were fitted on.
    """

    ratios: tuple[RatioRecord, ...]
    separators: tuple[Separator, ...]
    kept: ByDomain[float]
    reason: str
    notes: tuple[Note, ...]
    rows: ByDomain[int]


def domain_facts(design: Design) -> ByDomain[DomainFacts]:
    """Collect sizes, outcome and metric of each table.

    Args:
        design: the rows of the study.
    """
    sample = design.sample()
    effective = sample.effective_size()
    positive = sample.mean(design.outcome) if design.task == "binary" else ByDomain(None, None)
    weighted = design.terms.zip(
        sample.weights,
        lambda u, w: design.metric.value(u, w) + design.metric.influence(u, w),
    )

    def _facts(d: Domain) -> DomainFacts:
        source, target = (float(name == d) * weighted[name] for name in DOMAINS)
        outcome = design.outcome[d]
        classes = max(len(design.classes), 2)
        rarer = len(outcome)
        if design.task != "regression":
            rarer = int(np.bincount(outcome.astype(np.int64), minlength=classes).min())
        metric = Estimate.from_contributions(sample, source=source, target=target)
        return DomainFacts(
            design.rows[d], effective[d], sample.sizes[d], rarer, positive[d], metric
        )

    return ByDomain(_facts("source"), _facts("target"))


def column_facts(design: Design) -> tuple[ColumnFacts, ...]:
    """Describe every column of W and Z, in that order.

    Args:
        design: the rows of the study.
    """
    owner = {c: player.name for player in design.players for c in player.columns}
    return tuple(
        _column(design, position, owner.get(position, ""))
        for position in (*design.baseline, *design.covariates)
    )


def _column(design: Design, position: int, player: str) -> ColumnFacts:
    column = design.columns[position]
    values = design.features.map(lambda x: x[:, position])
    present = values.map(lambda v: v[~np.isnan(v)])

    def _one_sided(counts: Array, opposite: Array, rows: int) -> float:
        numeric = column.kind == "numeric"
        return 0.0 if numeric else float((~np.isin(counts, opposite)).sum() / rows)

    return ColumnFacts(
        name=column.name,
        player=player,
        kind=column.kind,
        missing=values.map(lambda v: float(np.isnan(v).mean())),
        values=len(np.unique(np.concatenate(list(present)))),
        one_sided=ByDomain(
            _one_sided(present.source, present.target, design.rows.source),
            _one_sided(present.target, present.source, design.rows.target),
        ),
        domain_auc=column_auc(values, column.kind),
    )


def role_facts(study: Study, design: Design) -> dict[str, tuple[str, ...]]:
    """List which column is what, in the user's names: role -> columns.

    Args:
        study: names the columns.
        design: the rows of the study.
    """
    names = [column.name for column in design.columns]
    scores = study.roles.prediction or ", ".join(study.roles.class_columns.values()) or "a model"
    groups = {f"group '{p.name}'": p.columns for p in design.players if len(p.columns) > 1}
    single = {
        "weights": study.weights, "clusters": study.clusters, "source risk": study.source_risk
    }  # fmt: skip
    return {
        "outcome": (study.outcome,),
        "prediction": (scores,),
        "baseline": tuple(names[c] for c in design.baseline),
        "covariates": tuple(player.name for player in design.players),
        **{group: tuple(names[c] for c in columns) for group, columns in groups.items()},
        **{role: (name,) for role, name in single.items() if name},
    }


def few_of_a_class(study: Study, domains: ByDomain[DomainFacts]) -> list[Note]:
    """Warn of too few rows of an outcome value; the parts need models of the source's alone.

    Args:
        study: names the tables and the outcome.
        domains: see `domain_facts`.
    """
    return [
        Note(
            "few_of_a_class",
            "problem" if domain == "source" else "warning",
            {
                "rarer": int(facts.rarer),
                "rows": int(facts.rows),
                "table": name,
                "column": study.outcome,
                "n_needed": FEWEST_OF_A_CLASS,
            },
        )
        for domain, name, facts in zip(DOMAINS, study.names, domains, strict=True)
        if facts.rarer < FEWEST_OF_A_CLASS
    ]


def measure_overlap(design: Design, settings: Settings) -> TrialOverlap:
    """Fit the density ratios of the analysis to come on some rows, and judge the fits.

    Of wide tables fewer rows are taken, fewer folds, and the fast learner.

    Args:
        design: the rows of the study.
        settings: of the analysis to come.
    """
    wide = len(design.columns) > WIDE
    # Rows of each table: ten a column of two hundred, or what is fitted within seconds.
    trial = some_rows(design, 2_000 if wide else 5_000, settings.seed)
    plain = replace(settings, repeats=1, support="all", checkpoint=None)
    plain = replace(plain, learner="fast", folds=3) if wide else plain
    with one_thread():
        ratios = fit_ratios_alone(trial, plain)
        rows = design.rows.source  # effective sizes are told of all source rows
        growing = tuple(
            replace(r, effective_size=r.effective_size * rows / trial.rows.source, rows=rows)
            for r in ratio_records(ratios)
        )
        overlap = Overlap(growing, find_separators(design))
        needed = settings.support == "auto" and overlap.lacks_counterparts
        region = find_region(ratios.wz) if needed or settings.support == "common" else None
        kept = ByDomain(1.0, 1.0) if region is None else region.kept
        result = TrialOverlap(overlap.ratios, overlap.separators, kept, "", (), trial.rows)
        if region is not None and region.is_too_small:
            note = not_comparable(region, design)
            return replace(result, reason=str(note), notes=(note,))
        notes = overlap.notes() if region is None else _within(region, trial, overlap, plain)
        return replace(result, notes=(*notes, *meaning_notes(trial, plain, ratios.wz)))


def _within(
    region: Region, trial: Design, overlap: Overlap, settings: Settings
) -> tuple[Note, ...]:
    """Warn that only a region is compared, and judge the ratios of that region."""
    ratios = ratio_records(fit_ratios_alone(trial.take(region.rows), settings))
    warnings = (replace(note, level="warning") for note in region_notes(region))
    return (*warnings, *Overlap(ratios, overlap.separators).notes())
