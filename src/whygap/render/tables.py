"""Tables of a result: one tidy table of every estimate, and printed ones made from it.

Rows come from findings. HTML and LaTeX: great_tables.
"""

import csv
import io
import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from whygap.errors import SettingsError, require_known
from whygap.estimate import Estimate
from whygap.render import units as write
from whygap.render.formats import TEXT_WIDTH, shorten, text_table, wrapped
from whygap.render.text import BANNER, of_target, section_title, targets_units
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
BASE_REMARK = (
    "Source risk, recalibrated: what one correction of the re-estimated source risk would explain; "
    "not of the model's own score."
)
TERMS = {
    "total": "with target labels",
    "recalibration": "recalibrating the score",
    "irreducible": "irreducible",
    "reweighted": "by reweighting, if outcomes stayed",
    "source": "in the source already",
    "added": "added in the target",
}
COLUMNS: tuple[str, ...] = ("part", "term", "kind", "estimate", "standard_error", "low", "high")
COLUMNS += ("level", "p_value", "unit", "plugin")


def rows(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """Return a row, by column, for every finding on an estimate, in the order of the findings.

    Args:
        findings: on a gap.
    """
    return [_row(f) for f in findings if f.kind in UNITS]


def _row(finding: Finding) -> dict[str, Any]:
    """Return the values of all columns.

    `term` is empty for the gap and the parts themselves; `p_value` (of "this is 0") is NaN for
    rules and groups, whose intervals are simultaneous; `plugin` is the estimate before debiasing.
    """
    estimate = finding.estimate or Estimate(math.nan, math.nan)
    low, high = finding.interval or (math.nan, math.nan)
    p_value = math.nan if finding.kind in ("rule", "group") else estimate.p_value()
    names = (finding.part, _term(finding), finding.kind)
    numbers = (estimate.value, estimate.standard_error, low, high, finding.level, p_value)
    values = (*names, *numbers, UNITS[finding.kind], estimate.plugin)
    return dict(zip(COLUMNS, values, strict=True))


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
    lines = _tidy(result, level)
    columns = {name: [line[name] for line in lines] for name in lines[0]}
    first = result if isinstance(result, Gap) else next(iter(result.values()))
    return native_table(columns, first.table_kind)


def _tidy(result: Gap | Gaps, level: float | None) -> list[dict[str, Any]]:
    findings = result.findings(level)
    if isinstance(result, Gap):
        return rows(findings)
    return [{"target": n} | row for n in result for row in rows(of_target(findings, n))]


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
    findings = result.findings(level)
    header = ("", "estimate", "std. error", f"{write.level_name(result.level(level))} interval")
    targets = {"": result} if isinstance(result, Gap) else dict(result)
    units = targets_units(targets)
    analysis = next(iter(targets.values())).about
    sections: dict[str, list[tuple[str, ...]]] = {}
    problems = []
    remarks = []
    for name, gap in targets.items():
        prefix = f"{name}. " if name else ""
        problems += [f"{prefix}{gap.reason}"] if gap.reason else []
        for finding in of_target(findings, name) if name else findings:
            if finding.kind in UNITS:
                heading = f"{prefix}{section_heading(gap, finding)}"
                sections.setdefault(heading, []).append(cells(gap, finding, units))
                remarks += [BASE_REMARK] if finding.kind == "share_base" else []
            elif finding.kind == "problem":
                problems.append(f"{prefix}{BANNER} {finding.facts['note']}")
            elif finding.kind == "share_undefined":
                heading = f"{prefix}{section_title(gap, f'shares {finding.part}')}"
                remarks.append(f"{heading}: undefined. {finding.facts['reason']}")
    compared = analysis.target_name if isinstance(result, Gap) else f"{len(result)} targets"
    title = f"{write.capital(write.metric_name(analysis))}: {compared} minus {analysis.source_name}"
    return Sheet(title, header, sections, tuple(problems), tuple(dict.fromkeys(remarks)))


def section_heading(gap: Gap, finding: Finding) -> str:
    """Return the heading for a finding's line.

    Args:
        gap: the result.
        finding: on the gap.
    """
    keys = {"rule": "affected", "group": "affected", "share": "shares", "share_base": "shares"}
    kind = keys.get(finding.kind, finding.kind)
    if kind in ("change", "part"):
        return f"Change and its parts ({write.unit_words(gap.about)})"
    return section_title(gap, f"{kind} {finding.part}".strip())


def cells(gap: Gap, finding: Finding, units: write.Units) -> tuple[str, ...]:
    """Return a finding's line: name, estimate, standard error, interval.

    Args:
        gap: the result.
        finding: on the gap.
        units: of the metric.
    """
    row = _row(finding)
    label = _label(gap, finding)
    unit = UNITS[finding.kind]
    error = row["standard_error"]
    ends = (row["low"], row["high"])
    if unit == "share":
        numbers = (write.percent(row["estimate"], error), write.percent(error, error))
        return (label, *numbers, write.percent_span(*ends, error))
    units = write.squared_error_units(gap) if unit == "squared error" else units
    return (label, units.bare(row["estimate"], True), units.bare(error), units.span(*ends))


def _label(gap: Gap, finding: Finding) -> str:
    if finding.kind == "change":
        return "Change"
    if finding.kind == "part":
        return gap.parts[finding.part].label
    if finding.kind == "share_base":
        return "source risk, recalibrated"
    term = _term(finding)
    if finding.kind == "recoverable" and not finding.variable:
        return TERMS[term]
    return f"rule: {term}" if finding.kind == "rule" else term


# -- formats ---------------------------------------------------------------------------------------


def render(result: Gap | Gaps, format: str = "text", level: float | None = None) -> str:  # noqa: A002 - the API's word
    """Return a result as a table, without a newline at the end.

    Args:
        result: of `explain` or `explain_many`.
        format: "text", "csv", "md", "html" or "tex".
        level: of the intervals; that of the settings unless given.
    """
    unknown = f"There is no table format '{format}'"
    require_known(format, FORMATS, unknown, "Formats", SettingsError)
    if format == "csv":
        return _csv(_tidy(result, level)).rstrip("\n")
    return FORMATS[format](sheet(result, level)).rstrip("\n")


def render_records(records: Sequence[Mapping[str, Any]], format: str, title: str) -> str:  # noqa: A002 - the API's word
    """Return rows of a tidy table of any kind as a table, without a newline at the end.

    Args:
        records: a mapping per row; values of the first column become headings.
        format: "csv", "md", "html" or "tex".
        title: above the table.
    """
    if format == "csv":
        return _csv(records).rstrip("\n")
    sections: dict[str, list[tuple[str, ...]]] = {}
    for record in records:
        heading, *cells = record.values()
        words = (f"{c:.4g}" if isinstance(c, float) else str(c or "") for c in cells)
        sections.setdefault(str(heading), []).append(tuple(words))
    return FORMATS[format](Sheet(title, tuple(records[0])[1:], sections, (), ())).rstrip("\n")


def _csv(lines: Sequence[Mapping[str, Any]]) -> str:
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(lines[0])
    for line in lines:
        writer.writerow("" if c != c else c for c in line.values())
    return output.getvalue()


def _text(table: Sheet) -> str:
    """Return aligned columns under headings, 80 columns wide."""
    lines = [line for section in table.sections.values() for line in section]
    aligned = text_table(table.header, lines, columns=TEXT_WIDTH - 2).splitlines()
    body = (f"  {line}".rstrip() for line in aligned)
    rule = "-" * (max(map(len, aligned)) + 2)
    output = [shorten(table.title, TEXT_WIDTH), ""]
    output += [line for text in table.problems for line in (wrapped(text), "")]
    output.append(next(body))
    for heading, section in table.sections.items():
        output += [rule, shorten(heading, TEXT_WIDTH), *islice(body, len(section))]
    for remark in table.remarks:
        output += ["", wrapped(remark)]
    return "\n".join(output)


def _markdown(table: Sheet) -> str:
    """Return a pipe table; headings are rows in bold."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    blank = [""] * (len(table.header) - 1)
    output = [f"**{_escaped(table.title)}**", ""]
    output += [part for text in table.problems for part in (_escaped(text), "")]
    output += [line(table.header), "|:---|" + "---:|" * len(blank)]
    for heading, section in table.sections.items():
        output.append(line((f"**{_escaped(heading)}**", *blank)))
        output += [line((_escaped(name), *numbers)) for name, *numbers in section]
    for remark in table.remarks:
        output += ["", _escaped(remark)]
    return "\n".join(output)


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|~])", r"\\\1", " ".join(text.split()))


def _great(table: Sheet) -> Any:
    """Return a great_tables table; needs the extra `whygap[tables]`."""
    try:
        from great_tables import GT
    except ImportError as err:
        message = "Tables as HTML and LaTeX need the package great_tables"
        hint = "Install it with: pip install 'whygap[tables]'."
        raise SettingsError(message, hint=hint) from err
    import pyarrow as pa

    lines = [(h, *line) for h, section in table.sections.items() for line in section]
    names = ("section", "term", *table.header[1:])
    content = pa.table({name: [line[k] for line in lines] for k, name in enumerate(names)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # great_tables calls its support of Arrow experimental
        output = GT(content, rowname_col="term", groupname_col="section", id="whygap")
    output = output.tab_header(title=table.title, subtitle=" ".join(table.problems) or None)
    output = output.cols_align("right", list(table.header[1:]))
    for remark in table.remarks:
        output = output.tab_source_note(remark)
    return output


FORMATS: dict[str, Callable[[Sheet], str]] = {
    "text": _text,
    "md": _markdown,
    "html": lambda table: str(_great(table).as_raw_html()),
    "tex": lambda table: str(_great(table).as_latex()),
    "csv": lambda table: table.title,
}
