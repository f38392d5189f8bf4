"""One self-contained HTML page: no network, aggregates only, readable by a stranger.

Findings are computed once, at the beginning; charts, sentences and tables show them.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from whygap.errors import large, require_level
from whygap.render.drawing import WIDTH, shown
from whygap.render.figures import DecompositionDisplay, IntervalsDisplay, TrendDisplay
from whygap.render.sentences import change_sentence, main_sentence, part_words, variables_sentence
from whygap.render.svg import svg
from whygap.render.tables import UNITS, cells, section_heading
from whygap.render.text import (
    BANNER,
    headline,
    of_target,
    section_texts,
    section_title,
    targets_headline,
    targets_units,
)
from whygap.render.units import (
    count,
    joined,
    level_name,
    metric_name,
    unit_words,
    units_of,
    with_minus,
)
from whygap.results import Finding, Gap, Gaps, files
from whygap.results.redaction import ROWS

WIDE = 760.0  # points: the decomposition in one line on a desktop; a phone gets its own
NOTEBOOK = 680.0  # points: likewise in a notebook
NOTES = {  # below charts
    "points": "They add up to the part.",
    "affected": "Contributions to the part, most telling first; intervals hold for all groups at "
    "once, those of rules for all rules that were tested.",
    "recoverable": "Mean squared error of the predictions in the target.",
    "shares": "Shares of the mean square of the part's effect.",
}


@dataclass(frozen=True, slots=True)
class Section:
    """Hold one section of the page, which opens.

    Attributes:
        key: unique within the target: the key of `section_texts`, with hyphens.
        title: of the section.
        texts: sentences.
        chart: SVG; empty for none.
        note: below the chart.
    """

    key: str
    title: str
    texts: Sequence[str]
    chart: Markup
    note: str


def write(
    result: Gap | Gaps, path: str | Path, level: float | None = None, redact: int | None = ROWS
) -> Path:
    """Write the page of a result, of one target or of several.

    Args:
        result: of `explain` or `explain_many`.
        path: of the .html file.
        level: of the intervals; that of the settings unless given.
        redact: name no level of fewer rows, and round counts; None shows all there is.
    """
    files.require_ending(path, ".html")
    visible = result if redact is None else result.redacted(redact)
    return files.write_whole(path, html(visible, level))


def html(result: Gap | Gaps, level: float | None = None) -> str:
    """Return the page as text.

    Args:
        result: of `explain` or `explain_many`; shown as it is.
        level: of the intervals; that of the settings unless given.
    """
    level = result.level(level)
    require_level(level, "The level of a report")
    gaps: Mapping[str, Gap] = {"": result} if isinstance(result, Gap) else dict(result)
    findings = result.findings(level)
    own = {name: of_target(findings, name) if name else list(findings) for name in gaps}
    targets = [_target(name, gap, own[name], k) for k, (name, gap) in enumerate(gaps.items())]
    script = _asset("report.js")
    digest = hashlib.sha256(script.encode("utf-8")).digest()  # no other script can run on the page
    about = targets[0]["gap"].about
    return (
        _environment()
        .get_template("report.html")
        .render(
            targets=targets,
            together=_together(gaps, findings) if len(gaps) > 1 else None,
            about=about,
            metric=metric_name(about),
            level=level_name(level),
            css=_trusted(_asset("report.css")),
            script=_trusted(script),
            script_hash=base64.b64encode(digest).decode("ascii"),
            banner=BANNER,
        )
    )


def notebook(result: Gap | Gaps) -> str:
    """Return what a notebook shows: the answer, a chart, all numbers to unfold; no scripts.

    Args:
        result: of `explain` or `explain_many`.
    """
    findings = result.findings()
    gaps: Mapping[str, Gap] = {"": result} if isinstance(result, Gap) else dict(result)
    own = {name: of_target(findings, name) if name else list(findings) for name in gaps}
    first = next(iter(gaps.values()))
    if len(gaps) > 1:
        texts = targets_headline(gaps, findings)
        chart = _svg(TrendDisplay.from_gaps(gaps, findings), "The change in every target", "wg-n")
    else:
        statements = next(iter(own.values()))
        texts = headline(first, statements)
        chart = _decomposition(first, statements, "wg-n", NOTEBOOK, {})
    problems = [
        f"{name}: {text}" if name else text for name in gaps for text in _problems(gaps[name])
    ]
    return (
        _environment()
        .get_template("notebook.html")
        .render(
            texts=texts,
            chart=chart,
            is_trend=len(gaps) > 1,
            tables=[(name, _numbers(gaps[name], own[name])) for name in gaps],
            problems=problems,
            banner=BANNER,
            level=level_name(first.level()),
        )
    )


# -- one target ------------------------------------------------------------------------------------


def _target(name: str, gap: Gap, findings: Sequence[Finding], number: int) -> dict[str, Any]:
    """Return what the template shows of one target."""
    prefix = f"t{number + 1}"
    sections = _sections(gap, findings, prefix)
    keys = [section.key for section in sections]
    links = {
        part: next(
            (f"#{prefix}-{k}" for k in (f"points-{part}", f"affected-{part}") if k in keys), ""
        )
        for part in gap.parts
    }
    links = {part: link or f"#{prefix}-parts" for part, link in links.items()}
    change = next(f for f in findings if f.kind == "change")
    return {
        "name": name,
        "id": prefix,
        "gap": gap,
        "problems": _problems(gap),
        "lead": change_sentence(gap, change),
        "wide": _decomposition(gap, findings, f"{prefix}w", WIDE, links),
        "narrow": _decomposition(gap, findings, f"{prefix}n", WIDTH, links),
        "caption": f"Parts in {unit_words(gap.about)}; thin lines: {level_name(change.level)} "
        "intervals; hollow: not significant.",
        "cards": _cards(gap, findings, change, keys),
        "sections": sections,
        "numbers": _numbers(gap, findings),
        "terms": [(gap.parts[part].label, part_words(gap, part)) for part in gap.parts],
    }


def _problems(gap: Gap) -> list[str]:
    return list(gap.problems())


def _cards(
    gap: Gap, findings: Sequence[Finding], change: Finding, keys: Sequence[str]
) -> list[tuple[str, list[str], str]]:
    """Return title, sentences and section of the cards below the first chart."""
    texts = section_texts(gap, findings)
    parts = [f for f in findings if f.kind == "part"]
    points = [f for f in findings if f.kind == "points"]
    why = [main_sentence(gap, change, parts), variables_sentence(gap, points)]
    if not gap.comparable:
        why = ["The parts of the change cannot be estimated: see above."]
    affected = next((key for key in texts if key.startswith("affected ")), "")
    who = texts.get(affected, [])[:1]
    if any(f.facts.get("headline") for f in findings if f.kind in ("rule", "group")):
        who = headline(gap, findings)[-1:]
    first = next((f for f in findings if f.kind == "advice"), None)
    gain = texts.get("recoverable", [])[1:2] if first and first.estimate is None else []
    what = [*texts["advice"][:1], *gain]
    cards = [("Why", why, "parts"), ("Who", who, affected), ("What to do", what, "advice")]
    kept = [(title, [t for t in own if t], key.replace(" ", "-")) for title, own, key in cards]
    return [(title, own, key if key in keys else "") for title, own, key in kept if own]


def _sections(gap: Gap, findings: Sequence[Finding], prefix: str) -> list[Section]:
    texts = section_texts(gap, findings)
    texts["trust"] = [*texts.pop("overlap"), *texts["trust"]]
    order = ["parts", "points", "affected", "recoverable", "advice", "shares", "trust"]
    keys = sorted(texts, key=lambda key: order.index(key.split()[0]) if key != "problems" else -1)
    sections = []
    for key in keys:
        kind, _, part = key.partition(" ")
        if kind == "problems" or not texts[key]:
            continue
        title = section_title(gap, key)
        chart, note = _chart(gap, findings, kind, part, f"{prefix}-{key.replace(' ', '-')}-c")
        sections.append(Section(key.replace(" ", "-"), title, texts[key], chart, note))
    return sections


def _chart(
    gap: Gap, findings: Sequence[Finding], kind: str, part: str, prefix: str
) -> tuple[Markup, str]:
    """Return the chart of a section and what is said below, if the section has one."""
    label = section_title(gap, f"{kind} {part}".strip())
    if kind == "parts":
        display = DecompositionDisplay.from_gap(gap, findings)
        return _svg(display, label, prefix), "Each part begins where the one before ends."
    kinds = {"points": "points", "affected": "group", "recoverable": "recoverable"}
    wanted = kinds.get(kind, "share" if kind == "shares" else "")
    if not any(f.kind == wanted and f.part == part for f in findings):
        return Markup(), ""
    intervals = IntervalsDisplay.from_gap(gap, findings, kind, part)
    more = f" {intervals.n_left_out} more stand in the table." if intervals.n_left_out else ""
    return _svg(intervals, label, prefix), NOTES[kind] + more


def _decomposition(
    gap: Gap, findings: Sequence[Finding], prefix: str, line: float, links: Mapping[str, str]
) -> Markup:
    """Return the decomposition in one line; nothing where there are no parts."""
    if not gap.parts:
        return Markup()
    units = units_of(gap)
    source, target = units.mean(gap.source.value), units.mean(gap.target.value)
    label = f"{metric_name(gap.about)} from {source} to {target}, part by part"
    return _svg(DecompositionDisplay.from_gap(gap, findings, line=line), label, prefix, links)


def _svg(display: Any, label: str, prefix: str, links: Mapping[str, str] | None = None) -> Markup:
    return _trusted(svg(display, shown(label), prefix, links))


def _numbers(gap: Gap, findings: Sequence[Finding]) -> dict[str, list[tuple[str, ...]]]:
    """Return heading -> lines of the table of all numbers."""
    units = units_of(gap)
    sections: dict[str, list[tuple[str, ...]]] = {}
    for finding in findings:
        if finding.kind in UNITS:
            sections.setdefault(section_heading(gap, finding), []).append(
                cells(gap, finding, units)
            )
    return sections


# -- several targets -------------------------------------------------------------------------------


def _together(gaps: Mapping[str, Gap], findings: Sequence[Finding]) -> dict[str, Any]:
    """Return what the template shows of all targets together."""
    units = targets_units(gaps)
    series = {f.part: f.facts["label"] for f in findings if f.kind == "part_in_targets"}
    by_place = {
        (f.part, f.facts["target"]): f
        for f in findings
        if f.kind in ("target_change", "target_part")
    }
    rows = []
    for name, gap in gaps.items():
        own = [by_place.get((part, name)) for part in ("", *series)]
        numbers = [
            (units.bare(f.value, signed=True), units.span(*f.interval))
            if f and f.interval
            else ("", "")
            for f in own
        ]
        rows.append((name, gap.about.rows.target, bool(gap.problems()), numbers))
    return {
        "texts": targets_headline(gaps, findings),
        "chart": _svg(TrendDisplay.from_gaps(gaps, findings), "The change in every target", "all"),
        "header": ["Change", *series.values()],
        "rows": rows,
        "unit": " in points" if units.is_share else "",
    }


# -- templates -------------------------------------------------------------------------------------


def _environment() -> Environment:
    """Return templates with everything escaped; a misspelt name is an error."""
    environment = Environment(
        loader=PackageLoader("whygap.render"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: shown(with_minus(value)) if type(value) is str else value,
    )
    environment.filters |= {f.__name__: f for f in (count, joined, large, metric_name)}
    return environment


def _trusted(text: str) -> Markup:
    return Markup(text)  # noqa: S704 - our own files, and charts whose texts are escaped


@cache
def _asset(name: str) -> str:
    return resources.files("whygap.render").joinpath("templates", name).read_text("utf-8")
