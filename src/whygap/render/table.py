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


def render(gap: Gap, format: str = "text", level: float = 0.95) -> str:  # noqa: A002 - the API's word
    """A result as a table in one of `FORMATS`, without a newline at the end."""
    what = f"There is no table format '{format}'"
    require_known(format, FORMATS, what, "Formats", SettingsError)
    return FORMATS[format](gap, level).rstrip("\n")


def sheet(gap: Gap, level: float = 0.95) -> Sheet:
    """The table's words and numbers."""
    about = gap.about
    metric = phrases.metric_name(about)
    scale = "points" if about.is_share else f"units of {metric}"
    titles = {
        "aggregate": f"Change of {metric} ({scale})",
        "points baseline": f"Baseline: what each variable costs or brings ({scale})",
        "points covariate": f"Covariates: what each variable costs or brings ({scale})",
        "where": f"Who is hit: contributions to the outcome part ({scale}; simultaneous)",
        "recoverable here": "What could be won back with target labels (squared error)",
        "recoverable on target mix": "What could be won back with source labels (squared error)",
        "recoverable at home": "What the model misses in the source (squared error)",
        "covariate": "Covariate shift: share of each variable",
        "outcome": "Outcome shift: share of each variable",
    }
    shown = {part: _shown(gap, part, level) for part in titles}
    units = {"metric": units_of(gap), "squared error": squared_error_units(gap)}
    return Sheet(
        title=f"{phrases.capital(metric)}: {about.target_name} minus {about.source_name}",
        header=("", "estimate", "std. error", f"{level_name(level)} interval"),
        sections=(
            *([] if gap.aggregate.comparable else [Section(gap.aggregate.reason, ())]),
            *(Section(f"{phrases.BANNER} {text}", ()) for text in phrases.banner(gap)),
            *(
                Section(titles[part], tuple(_cells(row, units) for row in rows))
                for part, rows in shown.items()
                if rows
            ),
        ),
        notes=tuple(_notes(gap)),
    )


def _shown(gap: Gap, part: str, level: float) -> list[frame.Row]:
    """Rows of one part: points and shares from the largest down, the rest in its own order."""
    rows = [row for row in frame.rows(gap, level) if row.part == part]
    if part.startswith("points"):
        return sorted(rows, key=lambda row: -abs(row.estimate))
    if part not in ("covariate", "outcome"):
        return rows
    if rows and not gap.details()[part].defined:
        return [replace(rows[0], term="all variables", estimate=math.nan)]
    if part == "covariate":
        rows = [row for row in rows if row.term != frame.BASE]
    known = {row: 0.0 if math.isnan(row.estimate) else row.estimate for row in rows}
    return sorted(rows, key=lambda row: (row.term != frame.BASE, -known[row]))


def _notes(gap: Gap) -> Iterator[str]:
    for name, detail in gap.details().items():
        if not detail.defined:
            yield f"{phrases.PART_TITLES[name]}: shares are undefined. {detail.reason}"
        elif name == "outcome":
            yield (
                "Source risk, recalibrated: what one correction of the re-estimated source risk "
                "would explain; not of the model's own score."
            )


def great(gap: Gap, level: float = 0.95) -> Any:
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
    frame.LESS_AT_HOME: "in total, less what the source misses",
    frame.RECALIBRATION: "recalibrating the score",
    frame.IRREDUCIBLE: "what no model can win back",
    "gap": "Change",
    **phrases.PART_TITLES,
}


def _cells(row: frame.Row, units: Mapping[str, Units]) -> tuple[str, str, str, str]:
    if math.isnan(row.estimate):
        return _term(row), "undefined", "", ""
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
    return (_term(row), *numbers)


def _term(row: frame.Row) -> str:
    """A variable keeps its own name, whatever it is."""
    ours = row.part == "aggregate" or row.term.startswith("(")
    return TERMS.get(row.term, row.term) if ours else row.term


def _csv(gap: Gap, level: float) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = [f.name for f in fields(frame.Row)]
    writer.writerow(names)
    for row in frame.rows(gap, level):
        cells = [getattr(row, name) for name in names]
        writer.writerow("" if isinstance(c, float) and math.isnan(c) else c for c in cells)
    return out.getvalue()


def _formatted(write: Callable[[Sheet], str]) -> Callable[[Gap, float], str]:
    return lambda gap, level: write(sheet(gap, level))


FORMATS: dict[str, Callable[[Gap, float], str]] = {
    "text": _formatted(to_text),
    "md": _formatted(to_markdown),
    "csv": _csv,
    "tex": _formatted(to_latex),
    "html": _formatted(to_html),
}
