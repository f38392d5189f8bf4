"""The page that `check` returns: frozen facts, readable in 80 columns."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from whygap._check.facts import ColumnFacts, DomainFacts
from whygap._check.trial import Forecast, Overlap
from whygap.domains import ByDomain
from whygap.tables.design import Note

__all__ = ["CheckReport", "RoleFacts"]

WIDTH = 80
SEPARATORS = 5
MOST_LINES = 12


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


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What can be known about a study before it is analysed.

    Attributes:
        names: what the two domains are called.
        metric: the metric's name.
        is_share: its mean is a share of rows.
        roles: which column is what.
        domains: sizes, outcome and metric in both domains.
        columns: every column of W and Z.
        overlap: of the domains; None when even a trial fit was not possible.
        forecast: what the analysis will cost; None likewise.
        notes: what was done to the data, and what looks wrong.
        problems: why an analysis could not be trusted; empty when it can.
        level: of the intervals shown.
    """

    names: ByDomain[str]
    metric: str
    is_share: bool
    roles: RoleFacts
    domains: ByDomain[DomainFacts]
    columns: tuple[ColumnFacts, ...]
    overlap: Overlap | None
    forecast: Forecast | None
    notes: tuple[Note, ...]
    problems: tuple[str, ...]
    level: float

    @property
    def ok(self) -> bool:
        """Whether an analysis can be trusted, as far as a check can tell."""
        return not self.problems

    @property
    def separators(self) -> tuple[ColumnFacts, ...]:
        """The columns that tell the domains apart best, up to five."""
        ordered = sorted(self.columns, key=lambda c: -c.domain_auc)
        return tuple(ordered[:SEPARATORS])

    def to_mapping(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "ok": self.ok,
            "problems": list(self.problems),
            "metric": self.metric,
            "roles": asdict(self.roles),
            "domains": {
                key: {**_plain_domain(facts, self.level), "name": name}
                for key, name, facts in zip(
                    ("source", "target"), self.names, self.domains, strict=True
                )
            },
            "columns": [asdict(column) for column in self.columns],
            "separators": {c.name: c.domain_auc for c in self.separators},
            "overlap": None if self.overlap is None else asdict(self.overlap),
            "forecast": None
            if self.forecast is None
            else {**asdict(self.forecast), "seconds": list(self.forecast.seconds)},
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
            ("Notes", _bullets(f"{_mark(n)}{n.text}" for n in self.notes)),
            ("Verdict", _verdict(self.problems)),
        ]
        shown = [f"{title}\n{'-' * len(title)}\n{text}" for title, text in sections if text]
        return "\n\n".join(shown) + "\n"


def _plain_domain(facts: DomainFacts, level: float) -> dict[str, Any]:
    low, high = facts.metric.interval(level)
    plain = {
        name: getattr(facts, name)
        for name in ("rows", "effective_rows", "units", "rarer", "positive_share")
    }
    return {**plain, "metric": facts.metric.value, "metric_low": low, "metric_high": high}


def _rows(report: CheckReport) -> str:
    widest = min(max(len(name) for name in report.names), 22)
    metric = f"{report.metric} ({report.level:.0%} interval)"
    lines = [f"{'':{widest}}  {'rows':>9}  {'effective':>9}  {'outcome 1':>9}  {metric}"]
    for name, facts in zip(report.names, report.domains, strict=True):
        low, high = facts.metric.interval(report.level)
        mean = " ".join(_metric(v, report.is_share) for v in (facts.metric.value,))
        span = f"{_metric(low, report.is_share)} to {_metric(high, report.is_share)}"
        lines.append(
            f"{_cut(name, widest):{widest}}  {facts.rows:>9,}  {facts.effective_rows:>9,.0f}  "
            f"{facts.positive_share:>9.1%}  {mean} ({span})"
        )
    if report.roles.clusters:
        counts = " and ".join(f"{facts.units:,}" for facts in report.domains)
        lines.append(f"Clusters by '{report.roles.clusters}': {counts}.")
    return "\n".join(lines)


def _metric(value: float, is_share: bool) -> str:
    return f"{value:.1%}" if is_share else f"{value:.4g}"


def _roles(roles: RoleFacts) -> str:
    groups = {p: cols for p, cols in roles.players.items() if cols != (p,)}
    pairs = [
        ("outcome", roles.outcome),
        ("prediction", roles.scored_by),
        ("baseline", ", ".join(roles.baseline) or "(none)"),
        (f"covariates ({len(roles.players)})", ", ".join(roles.players)),
        *((f"group '{p}'", ", ".join(cols)) for p, cols in groups.items()),
        ("weights", roles.weights),
        ("clusters", roles.clusters),
        ("source risk", roles.source_risk),
    ]
    known = [(role, names) for role, names in pairs if names]
    indent = min(max(len(role) for role, _ in known), 24) + 2
    return "\n".join(_wrapped(f"{role:{indent}}{names}", " " * indent) for role, names in known)


def _missing(columns: Sequence[ColumnFacts]) -> str:
    having = sorted(
        (c for c in columns if max(c.missing) > 0), key=lambda c: (-max(c.missing), c.name)
    )
    if not having:
        return "None in the columns used."
    lines = [f"{'column':32}  {'source':>7}  {'target':>7}"]
    lines += [
        f"{_cut(c.name, 32):32}  {c.missing.source:>7.1%}  {c.missing.target:>7.1%}"
        for c in having[:MOST_LINES]
    ]
    return "\n".join([*lines, *_more(len(having), "column")])


def _levels(report: CheckReport) -> str:
    """Categories: how many levels, and rows whose level the other table does not have."""
    coded = sorted(
        (c for c in report.columns if c.kind != "numeric"),
        key=lambda c: (-max(c.one_sided), -c.values, c.name),
    )
    if not coded:
        return "No categories among the columns used."
    lines = [f"{'column':32}  {'levels':>6}  {'only source':>11}  {'only target':>11}"]
    lines += [
        f"{_cut(c.name, 32):32}  {c.values:>6}  {c.one_sided.source:>11.1%}  "
        f"{c.one_sided.target:>11.1%}"
        for c in coded[:MOST_LINES]
    ]
    lines += _more(len(coded), "column")
    legend = "'only source': share of source rows whose level no target row has, and so on."
    return "\n".join([*lines, _wrapped(legend)])


def _overlap(report: CheckReport) -> str:
    if report.overlap is None:
        return "Unknown: the trial fits were not possible."
    lines = [f"{'on':20}  {'domain AUC':>10}  {'worth (source rows)':>21}  {'largest weight':>14}"]
    lines += [
        f"{r.columns:20}  {r.domain_auc:>10.3f}  {f'{r.effective_size:,.0f} of {r.rows:,}':>21}  "
        f"{r.largest_weight:>14.1f}"
        for r in report.overlap.ratios
    ]
    used = report.overlap.rows
    if used != report.domains.map(lambda facts: facts.rows):
        text = f"Measured on {used.source:,} source and {used.target:,} target rows at random."
        lines.append(text)
    best = ", ".join(f"{c.name} ({c.domain_auc:.3f})" for c in report.separators)
    text = f"Columns that tell the domains apart best, each alone (AUC; 0.5 is not at all): {best}."
    return "\n".join([*lines, _wrapped(text)])


def _cost(cost: Forecast | None) -> str:
    if cost is None:
        return ""
    low, high = cost.subsets
    of = f" of {cost.possible:,.0f}" if cost.possible > high else ""
    subsets = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    lines = [f"{'subsets per part':20}  {subsets}{of}"]
    lines += [f"{s.name:20}  {_span(s.low, s.high)} of CPU time" for s in cost.stages]
    lines.append(f"{'in all':20}  {_span(*cost.seconds)} of CPU time")
    if cost.workers > 1:
        shared = [s for s in cost.stages if s.name != "aggregate"]
        alone = [s for s in cost.stages if s.name == "aggregate"]
        wall = [
            sum(getattr(s, end) for s in alone)
            + sum(getattr(s, end) for s in shared) / cost.workers
            for end in ("low", "high")
        ]
        lines.append(f"{f'with {cost.workers} workers':20}  {_span(*wall)}")
    lines.append(f"{'memory':20}  about {_megabytes(cost.megabytes)}")
    rows = f"{cost.trial_rows.source:,} source and {cost.trial_rows.target:,} target rows"
    return "\n".join([*lines, _wrapped(f"Extrapolated from trial fits on {rows}.")])


def _megabytes(value: float) -> str:
    return f"{math.ceil(value / 50) * 50:,} MB" if value < 2000 else f"{value / 1024:.1f} GB"


def _span(low: float, high: float) -> str:
    first, last = _duration(low), _duration(high)
    return f"about {last}" if first == last else f"{first} to {last}"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def _verdict(problems: Sequence[str]) -> str:
    if not problems:
        return "Nothing stands in the way of an analysis."
    return "An analysis could not be trusted:\n" + _bullets(problems)


def _mark(note: Note) -> str:
    return "" if note.level == "info" else f"{note.level.capitalize()}: "


def _bullets(texts: Iterable[str]) -> str:
    return "\n".join(_wrapped(f"- {text}", "  ") for text in texts)


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _more(count: int, noun: str) -> list[str]:
    left = count - MOST_LINES
    return [f"... and {left} more {noun}{'s' if left > 1 else ''}."] if left > 0 else []
