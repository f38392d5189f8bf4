"""The page that `check` prints, readable in 80 columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from whygap.checks.facts import ColumnFacts, RoleFacts
from whygap.checks.forecast import Forecast
from whygap.checks.report import CheckReport
from whygap.errors import large
from whygap.render.formats import text_table, wrapped
from whygap.render.units import level_name

MOST_NAMES = 40  # of columns in a list: half a screen
MOST_LINES = 12  # of a table, so that the whole page can be read in one go


def page_of(report: CheckReport) -> str:
    """All sections that have something to say."""
    said = [str(note) for note in report.notes if note.level == "info"]
    sections = [
        ("Rows", _rows(report)),
        ("Roles", _roles(report.roles)),
        ("Predictions", _prediction(report)),
        ("Missing values", _missing(report.columns)),
        ("Levels", _levels(report)),
        ("Overlap", _overlap(report)),
        ("Cost (a forecast, not a promise)", _cost(report.forecast, len(report.columns))),
        ("Groups", _groups(report)),
        ("Notes", _bullets(said)),
        ("Verdict", _verdict(report)),
    ]
    shown = [f"{title}\n{'-' * len(title)}\n{text}" for title, text in sections if text]
    return "\n\n".join(shown) + "\n"


def _rows(report: CheckReport) -> str:
    def metric(value: float) -> str:
        return f"{value:.1%}" if report.is_share else f"{value:.4g}"

    title = f"{report.metric} ({level_name(report.level)} interval)"
    rows = []
    for name, one in zip(report.names, report.domains, strict=True):
        span = " to ".join(map(metric, one.metric.interval(report.level)))
        share = () if one.positive_share is None else (f"{one.positive_share:.1%}",)
        sizes = (f"{one.rows:,}", f"{one.effective_rows:,.0f}", *share)
        rows.append((name, *sizes, f"{metric(one.metric.value)} ({span})"))
    binary = report.domains.source.positive_share is not None
    header = ("", "rows", "effective", *(["outcome 1"] if binary else []), title)
    table = text_table(header, rows, "lrrrl" if binary else "lrrl")
    if not report.roles.clusters:
        return table
    counts = " and ".join(f"{facts.units:,}" for facts in report.domains)
    return f"{table}\nClusters by '{report.roles.clusters}': {counts}."


def _roles(roles: RoleFacts) -> str:
    groups = {p: cols for p, cols in roles.players.items() if cols != (p,)}
    pairs = {
        "outcome": roles.outcome,
        "prediction": roles.scored_by,
        "baseline": _first(roles.baseline) or "(none)",
        f"covariates ({len(roles.players)})": _first(roles.players),
        **{f"group '{p}'": _first(cols) for p, cols in groups.items()},
        "weights": roles.weights,
        "clusters": roles.clusters,
        "source risk": roles.source_risk,
    }
    return _pairs({role: names for role, names in pairs.items() if names})


def _first(names: Iterable[str]) -> str:
    """Those that can be read in one go, and how many more."""
    every = list(names)
    more = len(every) - MOST_NAMES
    return ", ".join(every[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


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


def _prediction(report: CheckReport) -> str:
    rows = [(one.name, *map(one.text, one.value)) for one in report.prediction]
    said = [MEASURES[one.name] for one in report.prediction if one.name in MEASURES]
    table = text_table(("", *report.names), rows)
    return f"{table}\n{wrapped(' '.join(said))}" if said else table


MEASURES = {
    "AUC": "AUC: how well the predictions rank the outcome (1: perfectly, 0.5: not at all).",
    "commoner outcome": "Commoner outcome: the accuracy of always saying it.",
    "commonest class": "Commonest class: the accuracy of always saying it.",
    "calibration error": "Calibration error: how far predictions and outcomes lie apart on average "
    "over tenths of the predictions.",
    "R2": "R2: the share of the outcome's variance that the predictions explain; below 0, the mean "
    "does better.",
    "bias": "Bias: mean prediction less mean outcome.",
}


def _overlap(report: CheckReport) -> str:
    overlap = report.overlap
    if overlap is None:
        return "Unknown: the trial fits were not possible."
    header = ("on", "overlap", "AUC", "count as (source rows)", "largest", "mean", "alone")
    rows = []
    for ratio in overlap.ratios:
        counted = f"{ratio.effective_size:,.0f} of {ratio.rows:,}"
        weights = (f"{ratio.largest_weight:,.1f}", f"{ratio.mean_weight:.2f}")
        alone = f"{ratio.without_counterpart:.1%}"
        measured = (f"{ratio.domain_auc:.3f}", counted, *weights, alone)
        rows.append((ratio.columns.removesuffix(" variables"), ratio.verdict, *measured))
    lines = [text_table(header, rows, "llrrrrr"), wrapped(OVERLAP_WORDS)]
    if overlap.rows != report.domains.map(lambda facts: facts.rows):
        used = f"{overlap.rows.source:,} source and {overlap.rows.target:,} target rows"
        lines.append(f"Measured on {used} at random.")
    best = ", ".join(f"{c.name} ({c.domain_auc:.3f})" for c in report.separators)
    text = f"Columns that tell the tables apart best, each alone (AUC): {best}."
    return "\n".join([*lines, wrapped(text)])


OVERLAP_WORDS = (
    "AUC: how well a classifier tells the tables apart (0.5: not at all). Count as: how "
    "many rows remain when the source rows are weighted to look like the target. Largest: the "
    "heaviest weight; mean: the average weight, which should be 1; alone: target rows without a "
    "counterpart."
)


def _cost(cost: Forecast | None, columns: int) -> str:
    if cost is None:
        return ""
    low, high = cost.subsets
    of = f" of {large(cost.possible)}" if cost.possible > high else ""
    subsets = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    pairs = {"subsets": f"{subsets}{of}"}
    pairs |= {s.name: f"{_span(s.low, s.high)} of CPU time" for s in cost.stages}
    pairs["in all"] = f"{_span(*cost.seconds)} of CPU time"
    if cost.workers > 1:
        pairs[f"with {cost.workers} workers"] = _span(*cost.wall_seconds)
    pairs["memory"] = f"about {_megabytes(cost.megabytes)}"
    rows = f"{cost.trial_rows.source:,} source and {cost.trial_rows.target:,} target rows"
    some = f" with {cost.trial_columns} of the columns" if cost.trial_columns < columns else ""
    return f"{_pairs(pairs)}\n{wrapped(f'Extrapolated from trial fits on {rows}{some}.')}"


def _groups(report: CheckReport) -> str:
    if not report.proposals:
        return ""
    first, *others = report.proposals
    players = len(report.roles.players)
    text = (
        f"{players} covariates make {large(2.0**players)} subsets, and a long list to read. "
        f"In groups by {first.by} they would be {first.players} players"
    )
    if report.forecast is not None and report.forecast.in_groups is not None:
        alone = next(stage for stage in report.forecast.stages if stage.name == "points")
        one, other = (_span(s.low, s.high) for s in (report.forecast.in_groups, alone))
        text += f", and points would take {one} of CPU time instead of {other}"
    text += f"{''.join(f'; by {o.by} {o.players}' for o in others)}."
    how = "Paste this into study.toml, or use groups=check(study).proposals[0].groups:"
    return f"{wrapped(text)}\n{wrapped(how)}\n\n{first.toml()}"


def _megabytes(value: float) -> str:
    return f"{math.ceil(value / 50) * 50:,} MB" if value < 2000 else f"{value / 1024:.1f} GB"


def _span(low: float, high: float) -> str:
    first, last = _duration(low), _duration(high)
    return f"about {last}" if first == last else f"{first} to {last}"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _verdict(report: CheckReport) -> str:
    """Of everything that was found: problems first, then what to keep in mind."""
    said = []
    if report.problems:
        said.append("An analysis could not be trusted:\n" + _bullets(report.problems))
    if report.warnings:
        title = "Also:" if report.problems else "An analysis is possible. Keep in mind:"
        said.append(f"{title}\n{_bullets(report.warnings)}")
    return "\n".join(said) or "Nothing stands in the way of an analysis."


def _bullets(texts: Iterable[str]) -> str:
    return "\n".join(wrapped(text, "- ", "  ") for text in texts)


def _pairs(pairs: Mapping[str, str]) -> str:
    indent = min(max(map(len, pairs)), 24) + 2
    return "\n".join(
        wrapped(f"{name:{indent}}{text}", rest=" " * indent) for name, text in pairs.items()
    )
