"""What `check` finds out about a study before it is analysed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from whygap.checks import facts
from whygap.checks.facts import ColumnFacts, DomainFacts, RoleFacts
from whygap.checks.forecast import Forecast, forecast
from whygap.checks.overlap import TrialOverlap, measure_overlap
from whygap.checks.proposals import Proposal, propose_groups
from whygap.domains import DOMAINS, ByDomain
from whygap.errors import WhygapError
from whygap.notes import Note
from whygap.progress import reporter
from whygap.running.shares import no_shares
from whygap.settings import Settings
from whygap.study import Study
from whygap.tables.prediction_checks import Measure, look_at

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
    study, settings = Study.given(study, "check"), Settings.given(settings)
    with reporter(settings.progress) as report:
        design = study.read(report)
    domains = facts.domain_facts(design)
    overlap, obstacle = _attempt(lambda: measure_overlap(design, settings))
    proposals = propose_groups(design, settings.seed)
    grouped = proposals[0].players if proposals else None
    costs, stopped = None, ""
    if overlap is not None:
        costs, stopped = _attempt(lambda: forecast(design, settings, grouped))
    notes = (
        *facts.few_of_a_class(study, domains),
        *design.notes,
        *(overlap.notes if overlap else ()),
        *(Note("stopped", "problem", {"reason": text}) for text in (obstacle, stopped) if text),
        *(Note("no_shares", "info", {"reason": text}) for text in (no_shares(design),) if text),
    )
    return CheckReport(
        names=study.names,
        metric=study.metric_.name,
        is_share=study.metric_.is_share,
        roles=facts.role_facts(study, design),
        domains=domains,
        prediction=look_at(design),
        columns=facts.column_facts(design),
        overlap=overlap,
        forecast=costs,
        proposals=proposals,
        notes=tuple(dict.fromkeys(notes)),
        level=settings.level,
    )


def _attempt(work: Callable[[], T]) -> tuple[T | None, str]:
    """The result, or why there is none: what stops a trial would stop the analysis."""
    try:
        return work(), ""
    except WhygapError as error:
        return None, str(error)


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What can be known about a study before it is analysed."""

    names: ByDomain[str]  # what the two domains are called
    metric: str  # the metric's name
    is_share: bool  # its mean is a share of rows
    roles: RoleFacts  # which column is what
    domains: ByDomain[DomainFacts]  # sizes, outcome and metric in both domains
    prediction: tuple[Measure, ...]  # how the predictions do in both domains
    columns: tuple[ColumnFacts, ...]  # every column of W and Z
    overlap: TrialOverlap | None  # of the domains; None when even a trial fit was not possible
    forecast: Forecast | None  # what the analysis will cost; None likewise
    proposals: tuple[Proposal, ...]  # groups, where there are many covariates
    notes: tuple[Note, ...]  # what was done to the data, and what looks wrong
    level: float  # of the intervals shown

    @property
    def problems(self) -> tuple[str, ...]:
        """Why an analysis could not be trusted; empty when it can."""
        return tuple(str(note) for note in self.notes if note.level == "problem")

    @property
    def ok(self) -> bool:
        """Whether an analysis can be trusted, as far as a check can tell."""
        return not self.problems

    @property
    def warnings(self) -> tuple[str, ...]:
        """What does not stand in the way, but may change the answer."""
        return tuple(str(note) for note in self.notes if note.level == "warning")

    @property
    def separators(self) -> tuple[ColumnFacts, ...]:
        """The columns that tell the domains apart best, up to five."""
        ordered = sorted(self.columns, key=lambda c: -c.domain_auc)
        return tuple(ordered[:5])

    def to_mapping(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "ok": self.ok,
            "problems": list(self.problems),
            "warnings": list(self.warnings),
            "metric": self.metric,
            "roles": asdict(self.roles),
            "domains": {
                d: {**_plain_domain(self.domains[d], self.level), "name": self.names[d]}
                for d in DOMAINS
            },
            "prediction": {one.name: asdict(one.value) for one in self.prediction},
            "columns": [asdict(column) for column in self.columns],
            "separators": {c.name: c.domain_auc for c in self.separators},
            "overlap": None if self.overlap is None else asdict(self.overlap),
            "forecast": self.forecast
            and {**asdict(self.forecast), "seconds": list(self.forecast.seconds)},
            "proposals": [asdict(proposal) for proposal in self.proposals],
            "notes": [asdict(note) for note in self.notes],
        }

    def __str__(self) -> str:
        from whygap.checks.page import page_of

        return page_of(self)


def _plain_domain(facts: DomainFacts, level: float) -> dict[str, Any]:
    low, high = facts.metric.interval(level)
    plain = {**asdict(facts), "metric": facts.metric.value}
    return {**plain, "metric_low": low, "metric_high": high}
