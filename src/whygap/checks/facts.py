"""Plain facts about a study and the problems they show; nothing is fitted here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from whygap.domains import DOMAINS, Array, ByDomain, Domain
from whygap.estimate import Estimate, Sample
from whygap.notes import Note
from whygap.nuisances.separators import column_auc
from whygap.study import Study
from whygap.tables.design import Design

FEWEST_OF_A_CLASS = 25  # five rows a fold of the rarer value: fewer, and a model learns one row


@dataclass(frozen=True, slots=True)
class DomainFacts:
    """One domain."""

    rows: int  # that are used
    effective_rows: float  # Kish's effective number of them under the weights
    units: int  # independent units: rows, or clusters of rows
    rarer: int  # rows with the rarest outcome value; all rows where the outcome is a number
    positive_share: float | None  # weighted share of rows with outcome 1, of two values
    metric: Estimate  # the metric's mean


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """One column of W or Z."""

    name: str
    player: str  # the player it belongs to; empty for a baseline column
    kind: str  # "numeric", "ordinal" or "category"
    missing: ByDomain[float]  # share of missing values in each domain
    values: int  # number of distinct values in both domains together, missing not counted
    one_sided: ByDomain[float]  # share of rows whose level the other domain lacks (not for numbers)
    domain_auc: float  # how well this column alone tells the domains apart; 0.5 is not at all


@dataclass(frozen=True, slots=True)
class RoleFacts:
    """Which column is what."""

    outcome: str
    scored_by: str
    baseline: tuple[str, ...]
    players: Mapping[str, tuple[str, ...]]
    weights: str | None
    clusters: str | None
    source_risk: str | None


def domain_facts(design: Design) -> ByDomain[DomainFacts]:
    """Sizes, outcome and metric of both domains."""
    sample = design.sample()
    effective, metric = sample.effective_size(), _metric(design, sample)
    positive = sample.mean(design.outcome) if design.task == "binary" else ByDomain(None, None)

    def facts(d: Domain) -> DomainFacts:
        sizes = design.rows[d], effective[d], sample.sizes[d], _rarest(design, d)
        return DomainFacts(*sizes, positive[d], metric[d])

    return ByDomain(facts("source"), facts("target"))


def _metric(design: Design, sample: Sample) -> ByDomain[Estimate]:
    """Its value in each table, and what each row adds to it."""
    rows = design.terms.zip(
        sample.weights,
        lambda u, w: design.metric.value(u, w) + design.metric.influence(u, w),
    )
    zeros = design.rows.map(np.zeros)
    return ByDomain(
        Estimate.from_contributions(sample, source=rows.source, target=zeros.target),
        Estimate.from_contributions(sample, source=zeros.source, target=rows.target),
    )


def _rarest(design: Design, domain: Domain) -> int:
    outcome = design.outcome[domain]
    if design.task == "regression":
        return len(outcome)
    values = max(len(design.classes), 2)
    return int(np.bincount(outcome.astype(np.int64), minlength=values).min())


def column_facts(design: Design) -> tuple[ColumnFacts, ...]:
    """Every column of W and Z, in that order."""
    owner = {c: player.name for player in design.players for c in player.columns}
    order = (*design.baseline, *design.covariates)
    return tuple(_column(design, position, owner.get(position, "")) for position in order)


def _column(design: Design, position: int, player: str) -> ColumnFacts:
    column = design.columns[position]
    values = design.features.map(lambda x: x[:, position])
    known = values.map(lambda v: v[~np.isnan(v)])
    return ColumnFacts(
        name=column.name,
        player=player,
        kind=column.kind,
        missing=values.map(lambda v: float(np.isnan(v).mean())),
        values=len(np.unique(np.concatenate(list(known)))),
        one_sided=ByDomain(0.0, 0.0) if column.kind == "numeric" else _one_sided(values),
        domain_auc=column_auc(values, column.kind),
    )


def _one_sided(values: ByDomain[Array]) -> ByDomain[float]:
    """Share of rows with a level that only their own domain has."""
    known = values.map(lambda v: v[~np.isnan(v)])
    return ByDomain(
        float((~np.isin(known.source, known.target)).sum() / len(values.source)),
        float((~np.isin(known.target, known.source)).sum() / len(values.target)),
    )


def role_facts(study: Study, design: Design) -> RoleFacts:
    """Which column is what, in the user's names."""
    names = [column.name for column in design.columns]
    return RoleFacts(
        outcome=study.outcome,
        scored_by=_scored_by(study),
        baseline=tuple(names[c] for c in design.baseline),
        players={p.name: tuple(names[c] for c in p.columns) for p in design.players},
        weights=study.weights,
        clusters=study.clusters,
        source_risk=study.source_risk,
    )


def _scored_by(study: Study) -> str:
    roles = study.roles
    return roles.prediction or ", ".join(roles.class_columns.values()) or "a model"


def few_of_a_class(study: Study, domains: ByDomain[DomainFacts]) -> list[Note]:
    """Tables with too few rows of an outcome value; the parts need models of the source's alone."""
    return [
        Note(
            "few_of_a_class",
            "problem" if domain == "source" else "warning",
            {
                "rarer": int(found.rarer),
                "rows": int(found.rows),
                "table": name,
                "column": study.outcome,
                "n_needed": FEWEST_OF_A_CLASS,
            },
        )
        for domain, name, found in zip(DOMAINS, study.names, domains, strict=True)
        if found.rarer < FEWEST_OF_A_CLASS
    ]
