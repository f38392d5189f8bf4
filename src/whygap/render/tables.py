"""Tables of a result: one tidy table of every estimate, and printed ones made from it.

Rows come from findings. Terminal: rich; CSV: the csv module; HTML and LaTeX: great_tables.
"""

from __future__ import annotations

import csv
import io
import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from typing import Any

from whygap.errors import SettingsError, require_known
from whygap.render.formats import TEXT_WIDTH, shorten, text_table, wrapped
from whygap.render.text import BANNER, of_target, section_title, targets_units
from whygap.render.units import (
    Units,
    capital,
    level_name,
    metric_name,
    percent,
    percent_span,
    squared_error_units,
    unit_words,
)
from whygap.results import Finding, Gap, Gaps
from whygap.tables import native_table

UNITS = {  # of the findings that are rows; others have no estimate or repeat one
    "change": "metric",
    "part": "metric",
    "points": "metric",
    "rule": "metric",
    "group": "metric",
    "recoverable": "squared error",
    "share_base": "share",
    "share": "share",
}
TERMS = {
    "total": "with target labels",
    "recalibration": "recalibrating the score",
    "irreducible": "irreducible",
    "reweighted": "by reweighting, if outcomes stayed",
    "source": "in the source already",
    "added": "added in the target",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the tidy table.

    Attributes:
        part: name of the part; empty where the row is on the whole gap.
        term: variable, group or rule; empty for the gap and the parts themselves.
        kind: of the finding.
        estimate: the number.
        standard_error: of the estimate.
        low: end of the interval; of rules and groups simultaneous over all of them.
        high: likewise.
        level: of the interval.
        p_value: of "this is 0"; NaN for rules and groups, whose intervals are simultaneous.
        unit: "metric", "squared error" or "share".
        plugin: the estimate without debiasing; NaN where there is none.
    """

    part: str
    term: str
    kind: str
    estimate: float
    standard_error: float
    low: float
    high: float
    level: float
    p_value: float
    unit: str
    plugin: float


def rows(findings: Sequence[Finding]) -> list[Row]:
    """Return a row for every finding on an estimate, in the order of the findings.

    Args:
        findings: on one gap.
    """
    return [_row(f) for f in findings if f.kind in UNITS]


def _row(finding: Finding) -> Row:
    estimate, interval = finding.estimate, finding.interval
    if estimate is None or interval is None:
        raise SettingsError(f"A finding of kind '{finding.kind}' needs an estimate")
    many = finding.kind in ("rule", "group")
    return Row(
        finding.part,
        _term(finding),
        finding.kind,
        estimate.value,
        estimate.standard_error,
        interval.low,
        interval.high,
        finding.level,
        math.nan if many else estimate.p_value(),
        UNITS[finding.kind],
        estimate.plugin,
    )


def _term(finding: Finding) -> str:
    if finding.kind == "group":
        return f"{finding.variable}: {finding.group}"
    if finding.kind == "recoverable" and not finding.variable:
        return str(finding.facts["term"])
    return finding.variable or finding.group


def to_frame(result: Gap | Gaps, level: float | None = None) -> Any:
    """Return the tidy table in the study's kind of table; several targets have a column `target`.

    Args:
        result: of `explain` or `explain_many`.
        level: of the intervals; that of the settings unless given.
    """
    names, lines = _tidy(result, level)
    columns = {name: [line[k] for line in lines] for k, name in enumerate(names)}
    first = result if isinstance(result, Gap) else next(iter(result.values()))
    return native_table(columns, first.table_kind)


def _tidy(result: Gap | Gaps, level: float | None) -> tuple[list[str], list[list[Any]]]:
    """Return the header and the lines of the tidy table."""
    names, findings = [field.name for field in fields(Row)], result.findings(level)
    if isinstance(result, Gap):
        return names, [[getattr(row, name) for name in names] for row in rows(findings)]
    lines = [
        [target, *(getattr(row, name) for name in names)]
        for target in result
        for row in rows(of_target(findings, target))
    ]
    return ["target", *names], lines


# -- printed tables --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table in words, before it takes a format.

    Attributes:
        title: of the whole table.
        header: a name per column.
        sections: heading -> lines, each with a cell per column.
        problems: why not to rely on the numbers; shown first.
        remarks: shown last.
    """

    title: str
    header: tuple[str, ...]
    sections: Mapping[str, list[tuple[str, ...]]]
    problems: tuple[str, ...]
    remarks: tuple[str, ...]


def sheet(result: Gap | Gaps, level: float | None = None) -> Sheet:
    """Return every estimate of a result in words and numbers.

    Args:
        result: of `explain` or `explain_many`.
        level: of the intervals; that of the settings unless given.
    """
    if isinstance(result, Gaps) and len(result) == 1:
        return sheet(next(iter(result.values())), level)
    findings, level = result.findings(level), result.level(level)
    header = ("", "estimate", "std. error", f"{level_name(level)} interval")
    targets = {"": result} if isinstance(result, Gap) else dict(result)
    own = (
        {"": findings} if isinstance(result, Gap) else {n: of_target(findings, n) for n in targets}
    )
    units, about = targets_units(targets), next(iter(targets.values())).about
    sections: dict[str, list[tuple[str, ...]]] = {}
    problems, remarks = [], []
    for name, gap in targets.items():
        prefix = f"{name}. " if name else ""
        problems += [f"{prefix}{gap.reason}"] if gap.reason else []
        for finding in own[name]:
            if finding.kind in UNITS:
                heading = f"{prefix}{section_heading(gap, finding)}"
                sections.setdefault(heading, []).append(cells(gap, finding, units))
            elif finding.kind == "problem":
                problems.append(f"{prefix}{BANNER} {finding.facts['note']}")
            elif finding.kind == "share_undefined":
                heading = f"{prefix}{section_title(gap, f'shares {finding.part}')}"
                remarks.append(f"{heading}: undefined. {finding.facts['reason']}")
    compared = about.target_name if isinstance(result, Gap) else f"{len(result)} targets"
    title = f"{capital(metric_name(about))}: {compared} minus {about.source_name}"
    return Sheet(title, header, sections, tuple(problems), tuple(remarks))


def section_heading(gap: Gap, finding: Finding) -> str:
    """Return the heading that a finding's line stands below."""
    keys = {"rule": "affected", "group": "affected", "share": "shares", "share_base": "shares"}
    kind = keys.get(finding.kind, finding.kind)
    if kind in ("change", "part"):
        return f"Change and its parts ({unit_words(gap.about)})"
    return section_title(gap, f"{kind} {finding.part}".strip())


def cells(gap: Gap, finding: Finding, units: Units) -> tuple[str, ...]:
    """Return a finding's line: name, estimate, standard error, interval."""
    row = _row(finding)
    label = _label(gap, finding)
    if row.unit == "share":
        error = row.standard_error
        numbers = (percent(row.estimate, error), percent(error, error))
        return (label, *numbers, percent_span(row.low, row.high, error))
    units = squared_error_units(gap) if row.unit == "squared error" else units
    estimate = units.bare(row.estimate, signed=True)
    return (label, estimate, units.bare(row.standard_error), units.span(row.low, row.high))


def _label(gap: Gap, finding: Finding) -> str:
    if finding.kind == "change":
        return "Change"
    if finding.kind == "part":
        return gap.parts[finding.part].label
    if finding.kind == "share_base":
        return "source risk, recalibrated"
    term = _term(finding)
    own = finding.kind == "recoverable" and not finding.variable
    return TERMS[term] if own else f"rule: {term}" if finding.kind == "rule" else term


# -- formats ---------------------------------------------------------------------------------------


def render(result: Gap | Gaps, format: str = "text", level: float | None = None) -> str:  # noqa: A002 - the API's word
    """Return a result as a table, without a newline at the end.

    Args:
        result: of `explain` or `explain_many`.
        format: "text", "csv", "md", "html" or "tex".
        level: of the intervals; that of the settings unless given.
    """
    what = f"There is no table format '{format}'"
    require_known(format, FORMATS, what, "Formats", SettingsError)
    if format == "csv":
        return _csv(*_tidy(result, level)).rstrip("\n")
    return FORMATS[format](sheet(result, level)).rstrip("\n")


def _csv(names: Sequence[str], lines: Sequence[Sequence[Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    for line in lines:
        writer.writerow("" if isinstance(c, float) and math.isnan(c) else c for c in line)
    return out.getvalue()


def _text(table: Sheet) -> str:
    """Aligned columns under headings, 80 columns wide."""
    lines = [line for section in table.sections.values() for line in section]
    aligned = text_table(table.header, lines, columns=TEXT_WIDTH - 2).splitlines()
    body = (f"  {line}".rstrip() for line in aligned)
    rule = "-" * (max(map(len, aligned)) + 2)
    written = [shorten(table.title, TEXT_WIDTH), ""]
    written += [line for text in table.problems for line in (wrapped(text), "")]
    written.append(next(body))
    for heading, section in table.sections.items():
        written += [rule, shorten(heading, TEXT_WIDTH), *islice(body, len(section))]
    for remark in table.remarks:
        written += ["", wrapped(remark)]
    return "\n".join(written)


def _markdown(table: Sheet) -> str:
    """A pipe table; headings are rows in bold."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    blank = [""] * (len(table.header) - 1)
    written = [f"**{_escaped(table.title)}**", ""]
    written += [part for text in table.problems for part in (_escaped(text), "")]
    written += [line(table.header), "|:---|" + "---:|" * len(blank)]
    for heading, section in table.sections.items():
        written.append(line((f"**{_escaped(heading)}**", *blank)))
        written += [line((_escaped(name), *numbers)) for name, *numbers in section]
    for remark in table.remarks:
        written += ["", _escaped(remark)]
    return "\n".join(written)


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|~])", r"\\\1", " ".join(text.split()))


def great(table: Sheet) -> Any:
    """Return a great_tables table; needs the extra `whygap[tables]`.

    Args:
        table: of `sheet`.
    """
    try:
        from great_tables import GT
    except ImportError as err:
        raise SettingsError(
            "Tables as HTML and LaTeX need the package great_tables",
            hint="Install it with: pip install 'whygap[tables]'.",
        ) from err
    import pyarrow as pa

    lines = [(h, *line) for h, section in table.sections.items() for line in section]
    names = ("section", "term", *table.header[1:])
    content = pa.table({name: [line[k] for line in lines] for k, name in enumerate(names)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # great_tables calls its support of Arrow experimental
        shown = GT(content, rowname_col="term", groupname_col="section", id="whygap")
    shown = shown.tab_header(title=table.title, subtitle=" ".join(table.problems) or None)
    shown = shown.cols_align("right", list(table.header[1:]))
    for remark in table.remarks:
        shown = shown.tab_source_note(remark)
    return shown


FORMATS: dict[str, Callable[[Sheet], str]] = {
    "text": _text,
    "md": _markdown,
    "html": lambda table: str(great(table).as_raw_html()),
    "tex": lambda table: str(great(table).as_latex()),
    "csv": lambda table: table.title,
}
