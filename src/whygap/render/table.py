"""Tables for terminals, papers and pages: text, markdown, csv, LaTeX and HTML."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from whygap.errors import SettingsError, require_known
from whygap.render import frame, phrases
from whygap.render.formats import Section, Sheet, to_html, to_latex, to_markdown, to_text
from whygap.render.units import Units, level_name, percent, squared_error_units, units_of
from whygap.results import Gap


def render(gap: Gap, format: str = "text", level: float | None = None) -> str:  # noqa: A002 - the API's word
    """A result as a table in one of `FORMATS`, without a newline at the end."""
    what = f"There is no table format '{format}'"
    require_known(format, FORMATS, what, "Formats", SettingsError)
    return FORMATS[format](gap, level).rstrip("\n")


def sheet(gap: Gap, level: float | None = None) -> Sheet:
    """The table's words and numbers."""
    about = gap.about
    metric = phrases.metric_name(about)
    scale = "points" if about.is_share else f"units of {metric}"
    level, shown = gap.level(level), _shown(gap, gap.level(level))
    titles = {part: _title(gap, part, scale, metric) for part in shown}
    units = {"metric": units_of(gap), "squared error": squared_error_units(gap)}
    return Sheet(
        title=f"{phrases.capital(metric)}: {about.target_name} minus {about.source_name}",
        header=("", "estimate", "std. error", f"{level_name(level)} interval"),
        sections=(
            *([] if gap.comparable else [Section(gap.reason, ())]),
            *(Section(f"{phrases.BANNER} {text}", ()) for text in phrases.banner(gap)),
            *(
                Section(titles[part], tuple(_cells(gap, row, units) for row in rows))
                for part, rows in shown.items()
                if rows
            ),
        ),
        notes=tuple(_notes(gap)),
    )


def _title(gap: Gap, part: str, scale: str, metric: str) -> str:
    """The heading of the rows of one `part` of the tidy table."""
    kind, _, name = part.partition(" ")
    label = gap.parts[name].label if name in gap.parts else ""
    titles = {
        "gap": f"Change of {metric} ({scale})",
        "points": f"{label}: what each variable costs or brings ({scale})",
        "affected": f"Who is hit: contributions to the {name} part ({scale}; simultaneous)",
        "recoverable": "What could be won back with target labels (squared error)",
        "recoverable reweighted": "What could be won back with source labels (squared error)",
        "recoverable source": "What the model misses in the source (squared error)",
        "shares": f"{phrases.capital(name)} shift: share of each variable",
    }
    return titles.get(part) or titles[kind]


def _shown(gap: Gap, level: float) -> dict[str, list[frame.Row]]:
    """Rows by part: points and shares from the largest down, the rest in the table's order."""
    rows: dict[str, list[frame.Row]] = {}
    for row in frame.rows(gap, level):
        if row.part != "reason":
            rows.setdefault(row.part, []).append(row)
    return {part: _ordered(gap, part, own) for part, own in rows.items()}


def _ordered(gap: Gap, part: str, rows: list[frame.Row]) -> list[frame.Row]:
    kind, _, name = part.partition(" ")
    if kind == "points":
        return sorted(rows, key=lambda row: -abs(row.estimate))
    if kind != "shares":
        return rows
    if not gap.shares[name].defined:
        return [replace(rows[0], term="all variables", estimate=math.nan)]
    if name == "covariate":
        rows = [row for row in rows if row.term != frame.BASE]
    known = {row: 0.0 if math.isnan(row.estimate) else row.estimate for row in rows}
    return sorted(rows, key=lambda row: (row.term != frame.BASE, -known[row]))


def _notes(gap: Gap) -> Iterator[str]:
    for name, detail in gap.shares.items():
        if not detail.defined:
            yield f"{gap.parts[name].label}: shares are undefined. {detail.reason}"
        elif name == "outcome":
            yield (
                "Source risk, recalibrated: what one correction of the re-estimated source risk "
                "would explain; not of the model's own score."
            )


def great(gap: Gap, level: float | None = None) -> Any:
    """A great_tables table; needs the extra `whygap[tables]`."""
    try:
        from great_tables import GT
    except ImportError as err:
        raise SettingsError(
            "Rich tables need the package great_tables",
            hint="Install it with: pip install 'whygap[tables]'.",
        ) from err
    import pandas as pd

    content = sheet(gap, level)
    rows = [(part.title, *line) for part in content.sections for line in part.lines]
    columns = ["part", "term", *content.header[1:]]
    table = pd.DataFrame(rows, columns=columns)
    return GT(table, rowname_col="term", groupname_col="part").tab_header(
        title=content.title, subtitle=" ".join(gap.problems()) or None
    )


TERMS = {  # of the tidy table, as a reader is told them
    frame.BASE: "source risk, recalibrated",
    frame.TOTAL: "in total",
    frame.ADDED: "in total, less what the source misses",
    frame.RECALIBRATION: "recalibrating the score",
    frame.IRREDUCIBLE: "what no model can win back",
    "total": "Change",
}


def _cells(gap: Gap, row: frame.Row, units: Mapping[str, Units]) -> tuple[str, str, str, str]:
    if math.isnan(row.estimate):
        return _term(gap, row), "undefined", "", ""
    if row.unit in units:
        known = units[row.unit]
        numbers = (
            known.bare(row.estimate, signed=True),
            known.bare(row.standard_error),
            known.span(row.low, row.high),
        )
    else:
        error = row.standard_error
        ends = (percent(row.low, error), percent(row.high, error))
        unbounded = math.isinf(row.low) and math.isinf(row.high)
        span = "unbounded" if unbounded else " to ".join(ends)
        numbers = (percent(row.estimate, error), percent(error, error), span)
    return (_term(gap, row), *numbers)


def _term(gap: Gap, row: frame.Row) -> str:
    """A variable keeps its own name, whatever it is."""
    if row.part == "gap" and row.term in gap.parts:
        return gap.parts[row.term].label
    ours = row.part == "gap" or row.term.startswith("(")
    return TERMS.get(row.term, row.term) if ours else row.term


def _csv(gap: Gap, level: float | None) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = [f.name for f in fields(frame.Row)]
    writer.writerow(names)
    for row in frame.rows(gap, level):
        cells = [getattr(row, name) for name in names]
        writer.writerow("" if isinstance(c, float) and math.isnan(c) else c for c in cells)
    return out.getvalue()


def _formatted(write: Callable[[Sheet], str]) -> Callable[[Gap, float | None], str]:
    return lambda gap, level: write(sheet(gap, level))


FORMATS: dict[str, Callable[[Gap, float | None], str]] = {
    "text": _formatted(to_text),
    "md": _formatted(to_markdown),
    "csv": _csv,
    "tex": _formatted(to_latex),
    "html": _formatted(to_html),
}
