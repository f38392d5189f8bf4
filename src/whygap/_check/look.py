"""Sizes, roles, overlap and cost of a study, before anything is estimated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from whygap._check.facts import ColumnFacts, DomainFacts, column_facts, domain_facts
from whygap._check.report import CheckReport, RoleFacts
from whygap._check.trial import forecast, measure_overlap
from whygap.domains import ByDomain
from whygap.errors import WhygapError
from whygap.progress import reporter
from whygap.settings import Settings
from whygap.study import Study
from whygap.tables.design import Design, Note
from whygap.tables.hints import NEARLY_ONE, separator_notes

__all__ = ["check"]

FEWEST_OF_A_CLASS = 25

T = TypeVar("T")


def check(study: Study, settings: Settings | None = None) -> CheckReport:
    """See whether a study can be trusted, and what it will cost; no effect is estimated.

    The density ratios of the analysis are fitted, on at most 5,000 rows of each table, to see how
    far the two tables overlap; the first steps of the details are run on a few hundred rows with a
    clock.

    Args:
        study: the two tables and their roles.
        settings: how the analysis will be run; `Settings()` unless given.

    Returns:
        A page to print; `.ok` says whether an analysis can be trusted, `.problems` why not.
    """
    settings = settings or Settings()
    with reporter(settings.progress) as report:
        design = study.read(report)
    domains, columns = domain_facts(design), column_facts(design)
    overlap, obstacle = _attempt(lambda: measure_overlap(design, settings))
    costs, stopped = None, ""
    if overlap is not None:
        known = overlap
        costs, stopped = _attempt(lambda: forecast(design, settings, known))
    notes = (*design.notes, *(overlap.notes if overlap else ()))
    problems = [
        *_outcome_problems(study, domains),
        *_separation_problems(columns, study.names),
        *(note.text for note in notes if note.level == "problem"),
        *(text for text in (obstacle, stopped) if text),
    ]
    return CheckReport(
        names=study.names,
        metric=study.metric_.name,
        is_share=study.metric_.is_share,
        roles=_roles(study, design),
        domains=domains,
        columns=columns,
        overlap=overlap,
        forecast=costs,
        notes=_shown_notes(notes, problems),
        problems=tuple(dict.fromkeys(problems)),
        level=settings.level,
    )


def _attempt(work: Callable[[], T]) -> tuple[T | None, str]:
    """The result, or why there is none: what stops a trial would stop the analysis."""
    try:
        return work(), ""
    except WhygapError as error:
        return None, str(error)


def _roles(study: Study, design: Design) -> RoleFacts:
    names = [column.name for column in design.columns]
    return RoleFacts(
        outcome=study.outcome,
        scored_by=study.prediction or "a model",
        baseline=tuple(names[c] for c in design.baseline),
        players={p.name: tuple(names[c] for c in p.columns) for p in design.players},
        weights=study.weights,
        clusters=study.clusters,
        source_risk=study.source_risk,
    )


def _outcome_problems(study: Study, domains: ByDomain[DomainFacts]) -> list[str]:
    return [
        f"Only {facts.rarer} of {facts.rows:,} rows of {name} have the rarer value of "
        f"'{study.outcome}'; at least {FEWEST_OF_A_CLASS} are needed for models of the outcome."
        for name, facts in zip(study.names, domains, strict=True)
        if facts.rarer < FEWEST_OF_A_CLASS
    ]


def _separation_problems(columns: Sequence[ColumnFacts], names: ByDomain[str]) -> list[str]:
    separating = [c.name for c in columns if c.domain_auc > NEARLY_ONE]
    return [note.text for note in separator_notes(separating, names)]


def _shown_notes(notes: Sequence[Note], problems: Sequence[str]) -> tuple[Note, ...]:
    """Notes that are not already told as problems."""
    return tuple(dict.fromkeys(note for note in notes if note.text not in problems))
