"""What a check finds out about a study before anything is estimated."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from whygap.checks import facts
from whygap.checks.facts import ColumnFacts, DomainFacts, TrialOverlap
from whygap.checks.proposals import Proposal, propose_groups
from whygap.checks.trial import Forecast, forecast
from whygap.data_checks import Measure, look_at
from whygap.domains import DOMAINS, ByDomain
from whygap.errors import WhygapError
from whygap.notes import Note
from whygap.progress import reporter
from whygap.results import files
from whygap.results.redaction import rounded, rounded_share
from whygap.running.shares import no_shares
from whygap.settings import Settings
from whygap.study import Study
from whygap.tables import native_table
from whygap.tables.open import TableKind

T = TypeVar("T")


def check(study: Study, settings: Settings | None = None) -> Check:
    """Check whether a study can be trusted, and the cost; no effect is estimated.

    The density ratios of the analysis are fitted, on at most 5,000 rows of each table, to see how
    far the two tables overlap; one subset is valued on a few hundred rows with a clock.

    Args:
        study: the two tables and their roles.
        settings: how the analysis will be run; `Settings()` unless given.

    Returns:
        The facts: `.ok` says whether an analysis can be trusted, `.problems()` why not.
    """
    study = Study.require(study, "check")
    settings = Settings.resolve(settings)
    with reporter(settings.progress) as report:
        design = study.read(report)
    domains = facts.domain_facts(design)
    overlap, obstacle = _attempt(lambda: facts.measure_overlap(design, settings))
    cost, stopped = (
        _attempt(lambda: forecast(design, settings)) if overlap is not None else (None, "")
    )
    notes = (
        *facts.few_of_a_class(study, domains),
        *design.notes,
        *(overlap.notes if overlap else ()),
        *(Note("stopped", "problem", {"value": text}) for text in (obstacle, stopped) if text),
        *(Note("no_shares", "info", {"reason": text}) for text in (no_shares(design),) if text),
    )
    return Check(
        names=study.names,
        metric=design.metric.name,
        is_share=design.metric.is_share,
        roles=facts.role_facts(study, design),
        domains=domains,
        prediction=look_at(design),
        columns=facts.column_facts(design),
        overlap=overlap,
        cost=cost,
        proposals=propose_groups(design, settings.seed),
        notes=tuple(dict.fromkeys(notes)),
        level=settings.level,
        table_kind=study.table_kind,
    )


def _attempt(work: Callable[[], T]) -> tuple[T | None, str]:
    """Return the result, or the reason for none: what stops a trial would stop the analysis."""
    try:
        return work(), ""
    except WhygapError as error:
        return None, str(error)


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """What can be known about a study before it is analysed.

    Attributes:
        names: what the two tables are called.
        metric: the metric's name.
        is_share: whether the metric is a share of rows.
        roles: role -> columns.
        domains: sizes, outcome and metric in both tables.
        prediction: how the predictions do in both tables.
        columns: every column of W and Z.
        overlap: of the tables; None where even a trial fit was not possible.
        cost: what the analysis will cost; None where a trial was not possible.
        proposals: groups, where there are many covariates.
        notes: what was done to the data, and what looks wrong.
        level: of intervals, unless another is asked for.
        table_kind: the kind of table that `to_frame` gives.
    """

    names: ByDomain[str]
    metric: str
    is_share: bool
    roles: Mapping[str, tuple[str, ...]]
    domains: ByDomain[DomainFacts]
    prediction: tuple[Measure, ...]
    columns: tuple[ColumnFacts, ...]
    overlap: TrialOverlap | None
    cost: Forecast | None
    proposals: tuple[Proposal, ...]
    notes: tuple[Note, ...]
    level: float
    table_kind: TableKind

    def problems(self) -> tuple[str, ...]:
        """List why an analysis could not be trusted; empty when all is well."""
        return tuple(str(note) for note in self.notes if note.level == "problem")

    def warnings(self) -> tuple[str, ...]:
        """List what does not stand in the way, but may change the answer."""
        return tuple(str(note) for note in self.notes if note.level == "warning")

    @property
    def ok(self) -> bool:
        """Whether an analysis can be trusted, as far as a check can tell."""
        return not self.problems()

    @property
    def separators(self) -> tuple[ColumnFacts, ...]:
        """The columns that tell the tables apart best, up to five."""
        return tuple(sorted(self.columns, key=lambda c: -c.domain_auc)[:5])

    def summary(self, level: float | None = None) -> str:
        """Write all facts as text of 80 columns.

        Args:
            level: of the metric's intervals; that of the settings if left out.
        """
        from whygap.checks.text import summary

        return summary(self, level or self.level)

    def __str__(self) -> str:
        from whygap.checks.text import verdict

        return verdict(self)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.summary())}</pre>"

    def to_frame(self, level: float | None = None) -> Any:
        """Return a tidy table: topic, term, table, value, low, high.

        Args:
            level: of the metric's intervals; that of the settings if left out.
        """
        lines = [line + (None,) * (6 - len(line)) for line in self._lines(level or self.level)]
        names = ("topic", "term", "table", "value", "low", "high")
        columns = dict(zip(names, map(list, zip(*lines, strict=True)), strict=True))
        return native_table(columns, self.table_kind)

    def _lines(self, level: float) -> Iterator[tuple[Any, ...]]:
        for d in DOMAINS:
            table = self.names[d]
            size = self.domains[d]
            for term in ("rows", "effective_rows", "units", "rarer", "positive_share"):
                if getattr(size, term) is not None:
                    yield "size", term, table, float(getattr(size, term))
            yield "metric", self.metric, table, size.metric.value, *size.metric.interval(level)
            for measure in self.prediction:
                yield "prediction", measure.name, table, measure.value[d]
            for column in self.columns:
                yield "missing", column.name, table, column.missing[d]
                yield "only in this table", column.name, table, column.one_sided[d]
        for column in self.columns:
            yield "tells tables apart (AUC)", column.name, "", column.domain_auc
        for ratio in self.overlap.ratios if self.overlap else ():
            for term in ("effective_size", "domain_auc", "mean_weight", "without_counterpart"):
                yield "overlap", f"{ratio.columns}: {term}", "", float(getattr(ratio, term))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Check) and files.to_dict(self) == files.to_dict(other)

    __hash__ = None  # type: ignore[assignment]  # holds mappings

    def save(self, path: str | Path) -> Path:
        """Write versioned JSON, whole or not at all.

        Args:
            path: of the file.
        """
        return files.save(self, path)

    def to_dict(self) -> dict[str, Any]:
        """Return what `save` writes, as plain values."""
        return files.to_dict(self)

    def redacted(self, rows: int = 10) -> Check:
        """Return a copy without values of rows, in which counts are rounded.

        Args:
            rows: what counts of rows are rounded to.
        """
        total = self.domains.map(lambda size: size.rows)
        shares = {
            c.name: c.one_sided.zip(total, lambda share, n: rounded_share(share, n, rows))
            for c in self.columns
        }
        overlap = self.overlap
        if overlap is not None:
            separators = tuple(separator.unnamed for separator in overlap.separators)
            notes = tuple(note.redacted(rows) for note in overlap.notes)
            reason = " ".join(map(str, notes)) if overlap.reason else ""
            overlap = replace(overlap, separators=separators, notes=notes, reason=reason)
        return replace(
            self,
            domains=self.domains.map(
                lambda size: replace(
                    size,
                    rows=int(rounded(size.rows, rows)),
                    units=int(rounded(size.units, rows)),
                    rarer=int(rounded(size.rarer, rows)),
                    effective_rows=rounded(size.effective_rows, rows),
                )
            ),
            columns=tuple(replace(c, one_sided=shares[c.name]) for c in self.columns),
            overlap=overlap,
            notes=tuple(dict.fromkeys(note.redacted(rows) for note in self.notes)),
        )
