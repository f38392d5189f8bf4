"""What `check` returns: sizes, roles, overlap and cost of a study, readable in 80 columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from whygap._check import facts
from whygap._check.facts import ColumnFacts, DomainFacts, RoleFacts
from whygap._check.trial import Forecast, Overlap, forecast, measure_overlap
from whygap.domains import DOMAINS, ByDomain
from whygap.errors import WhygapError
from whygap.progress import reporter
from whygap.render.formats import text_table, wrapped
from whygap.settings import Settings
from whygap.study import Study
from whygap.tables.design import Note

MOST_LINES = 12  # of a table, so that the whole page can be read in one go

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
    domains, columns = facts.domain_facts(design), facts.column_facts(design)
    overlap, obstacle = _attempt(lambda: measure_overlap(design, settings))
    costs, stopped = None, ""
    if overlap is not None:
        costs, stopped = _attempt(lambda: forecast(design, settings, overlap))
    notes = (*design.notes, *(overlap.notes if overlap else ()))
    problems = [
        *facts.problems_of(study, domains, columns),
        *(note.text for note in notes if note.level == "problem"),
        *filter(None, (obstacle, stopped)),
    ]
    return CheckReport(
        names=study.names,
        metric=study.metric_.name,
        is_share=study.metric_.is_share,
        roles=facts.role_facts(study, design),
        domains=domains,
        columns=columns,
        overlap=overlap,
        forecast=costs,
        notes=tuple(dict.fromkeys(note for note in notes if note.text not in problems)),
        problems=tuple(dict.fromkeys(problems)),
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
    columns: tuple[ColumnFacts, ...]  # every column of W and Z
    overlap: Overlap | None  # of the domains; None when even a trial fit was not possible
    forecast: Forecast | None  # what the analysis will cost; None likewise
    notes: tuple[Note, ...]  # what was done to the data, and what looks wrong
    problems: tuple[str, ...]  # why an analysis could not be trusted; empty when it can
    level: float  # of the intervals shown

    @property
    def ok(self) -> bool:
        """Whether an analysis can be trusted, as far as a check can tell."""
        return not self.problems

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
            "metric": self.metric,
            "roles": asdict(self.roles),
            "domains": {
                d: {**_plain_domain(self.domains[d], self.level), "name": self.names[d]}
                for d in DOMAINS
            },
            "columns": [asdict(column) for column in self.columns],
            "separators": {c.name: c.domain_auc for c in self.separators},
            "overlap": None if self.overlap is None else asdict(self.overlap),
            "forecast": self.forecast
            and {**asdict(self.forecast), "seconds": list(self.forecast.seconds)},
            "notes": [asdict(note) for note in self.notes],
        }

    def __str__(self) -> str:
        sections = [
            ("Rows", _rows(self)),
            ("Roles", _roles(self.roles)),
            ("Missing values", _missing(self.columns)),
            ("Levels", _levels(self)),
            ("Overlap", _overlap(self)),
            ("Cost (a forecast, not a promise)", _cost(self.forecast)),
            ("Notes", _bullets(map(_note, self.notes))),
            ("Verdict", _verdict(self.problems)),
        ]
        shown = [f"{title}\n{'-' * len(title)}\n{text}" for title, text in sections if text]
        return "\n\n".join(shown) + "\n"


def _plain_domain(facts: DomainFacts, level: float) -> dict[str, Any]:
    low, high = facts.metric.interval(level)
    plain = {**asdict(facts), "metric": facts.metric.value}
    return {**plain, "metric_low": low, "metric_high": high}


def _rows(report: CheckReport) -> str:
    def metric(value: float) -> str:
        return f"{value:.1%}" if report.is_share else f"{value:.4g}"

    title = f"{report.metric} ({report.level:.0%} interval)"
    rows = []
    for name, one in zip(report.names, report.domains, strict=True):
        span = " to ".join(map(metric, one.metric.interval(report.level)))
        sizes = (f"{one.rows:,}", f"{one.effective_rows:,.0f}", f"{one.positive_share:.1%}")
        rows.append((name, *sizes, f"{metric(one.metric.value)} ({span})"))
    table = text_table(("", "rows", "effective", "outcome 1", title), rows, "lrrrl")
    if not report.roles.clusters:
        return table
    counts = " and ".join(f"{facts.units:,}" for facts in report.domains)
    return f"{table}\nClusters by '{report.roles.clusters}': {counts}."


def _roles(roles: RoleFacts) -> str:
    groups = {p: cols for p, cols in roles.players.items() if cols != (p,)}
    pairs = {
        "outcome": roles.outcome,
        "prediction": roles.scored_by,
        "baseline": ", ".join(roles.baseline) or "(none)",
        f"covariates ({len(roles.players)})": ", ".join(roles.players),
        **{f"group '{p}'": ", ".join(cols) for p, cols in groups.items()},
        "weights": roles.weights,
        "clusters": roles.clusters,
        "source risk": roles.source_risk,
    }
    return _pairs({role: names for role, names in pairs.items() if names})


def _missing(columns: Sequence[ColumnFacts]) -> str:
    having = sorted(
        (c for c in columns if max(c.missing) > 0), key=lambda c: (-max(c.missing), c.name)
    )
    if not having:
        return "None in the columns used."
    rows = [(c.name, *(f"{share:.1%}" for share in c.missing)) for c in having]
    return _columns_table(("column", "source", "target"), rows)


def _levels(report: CheckReport) -> str:
    coded = sorted(
        (c for c in report.columns if c.kind != "numeric"),
        key=lambda c: (-max(c.one_sided), -c.values, c.name),
    )
    if not coded:
        return "No categories among the columns used."
    rows = [(c.name, f"{c.values}", *(f"{share:.1%}" for share in c.one_sided)) for c in coded]
    table = _columns_table(("column", "levels", "only source", "only target"), rows)
    legend = "'only source': share of source rows whose level no target row has, and so on."
    return f"{table}\n{wrapped(legend)}"


def _columns_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    table, left = text_table(header, rows[:MOST_LINES]), len(rows) - MOST_LINES
    more = f"\n... and {left} more column{'s' if left > 1 else ''}."
    return table + (more if left > 0 else "")


def _overlap(report: CheckReport) -> str:
    if report.overlap is None:
        return "Unknown: the trial fits were not possible."
    header = ("on", "domain AUC", "worth (source rows)", "largest weight")
    rows = []
    for ratio in report.overlap.ratios:
        worth = f"{ratio.effective_size:,.0f} of {ratio.rows:,}"
        auc, largest = f"{ratio.domain_auc:.3f}", f"{ratio.largest_weight:.1f}"
        rows.append((ratio.columns, auc, worth, largest))
    lines, used = [text_table(header, rows)], report.overlap.rows
    if used != report.domains.map(lambda facts: facts.rows):
        text = f"Measured on {used.source:,} source and {used.target:,} target rows at random."
        lines.append(text)
    best = ", ".join(f"{c.name} ({c.domain_auc:.3f})" for c in report.separators)
    text = f"Columns that tell the domains apart best, each alone (AUC; 0.5 is not at all): {best}."
    return "\n".join([*lines, wrapped(text)])


def _cost(cost: Forecast | None) -> str:
    if cost is None:
        return ""
    low, high = cost.subsets
    of = f" of {cost.possible:,.0f}" if cost.possible > high else ""
    subsets = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    pairs = {"subsets": f"{subsets}{of}"}
    pairs |= {s.name: f"{_span(s.low, s.high)} of CPU time" for s in cost.stages}
    pairs["in all"] = f"{_span(*cost.seconds)} of CPU time"
    if cost.workers > 1:
        pairs[f"with {cost.workers} workers"] = _span(*cost.wall_seconds)
    pairs["memory"] = f"about {_megabytes(cost.megabytes)}"
    rows = f"{cost.trial_rows.source:,} source and {cost.trial_rows.target:,} target rows"
    return f"{_pairs(pairs)}\n{wrapped(f'Extrapolated from trial fits on {rows}.')}"


def _megabytes(value: float) -> str:
    return f"{math.ceil(value / 50) * 50:,} MB" if value < 2000 else f"{value / 1024:.1f} GB"


def _span(low: float, high: float) -> str:
    first, last = _duration(low), _duration(high)
    return f"about {last}" if first == last else f"{first} to {last}"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _verdict(problems: Sequence[str]) -> str:
    if not problems:
        return "Nothing stands in the way of an analysis."
    return "An analysis could not be trusted:\n" + _bullets(problems)


def _note(note: Note) -> str:
    return note.text if note.level == "info" else f"{note.level.capitalize()}: {note.text}"


def _bullets(texts: Iterable[str]) -> str:
    return "\n".join(wrapped(text, "- ", "  ") for text in texts)


def _pairs(pairs: Mapping[str, str]) -> str:
    indent = min(max(map(len, pairs)), 24) + 2
    return "\n".join(
        wrapped(f"{name:{indent}}{text}", rest=" " * indent) for name, text in pairs.items()
    )
