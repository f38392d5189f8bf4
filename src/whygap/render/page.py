"""One self-contained HTML page: no network, aggregates only, readable by a stranger.

Findings are computed once, at the beginning; charts, sentences and tables show them.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from whygap.errors import large
from whygap.render import text as words
from whygap.render.drawing import WIDTH
from whygap.render.figures import DecompositionDisplay, IntervalsDisplay, TrendDisplay
from whygap.render.formats import PICTURES
from whygap.render.sentences import change_sentence, main_sentence, part_words, variables_sentence
from whygap.render.svg import svg
from whygap.render.tables import UNITS, cells, section_heading
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


def write(
    result: Gap | Gaps, path: str | Path, level: float | None = None, redact: int | None = ROWS
) -> Path:
    """Write the page of a result.

    Args:
        result: of `explain` or `explain_many`.
        path: of the file.
        level: of the intervals; that of the settings unless given.
        redact: name no level of fewer rows, and round counts; None shows all there is.
    """
    files.require_ending(path, ".html")
    visible = result if redact is None else result.redacted(redact)
    return files.write_whole(path, html(visible, level))


def html(result: Gap | Gaps, level: float | None = None) -> str:
    """Return the page as text."""
    level = result.level(level)
    gaps, findings, by_target = _findings(result, level)
    targets = [_target(name, gap, by_target[name], k) for k, (name, gap) in enumerate(gaps.items())]
    script = _asset("report.js")
    digest = hashlib.sha256(script.encode("utf-8")).digest()  # no other script can run on the page
    analysis = targets[0]["gap"].about
    return _filled(
        "report.html",
        targets=targets,
        together=_all_targets(gaps, findings) if len(gaps) > 1 else None,
        about=analysis,
        metric=metric_name(analysis),
        level=level_name(level),
        css=_trusted(_asset("report.css")),
        script=_trusted(script),
        script_hash=base64.b64encode(digest).decode("ascii"),
    )


def notebook(result: Gap | Gaps) -> str:
    """Return what a notebook shows: the answer, a chart, all numbers to unfold; no scripts."""
    gaps, findings, by_target = _findings(result, None)
    first = next(iter(gaps.values()))
    if len(gaps) > 1:
        texts = words.targets_headline(gaps, findings)
        chart = _svg(TrendDisplay.from_gaps(gaps, findings), "The change in every target", "wg-n")
    else:
        statements = next(iter(by_target.values()))
        texts = words.headline(first, statements)
        chart = _decomposition(first, statements, "wg-n", NOTEBOOK, {})
    problems = [(name, text) for name, gap in gaps.items() for text in gap.problems()]
    return _filled(
        "notebook.html",
        texts=texts,
        chart=chart,
        is_trend=len(gaps) > 1,
        tables=[(name, _numbers(gaps[name], by_target[name])) for name in gaps],
        problems=problems,
        level=level_name(first.level()),
    )


def _findings(
    result: Gap | Gaps, level: float | None
) -> tuple[dict[str, Gap], Sequence[Finding], dict[str, Sequence[Finding]]]:
    """Return the gaps by target, all findings, and findings by target."""
    findings = result.findings(level)
    if isinstance(result, Gap):
        return {"": result}, findings, {"": findings}
    return dict(result), findings, {name: words.of_target(findings, name) for name in result}


# -- one target ------------------------------------------------------------------------------------


def _target(name: str, gap: Gap, findings: Sequence[Finding], number: int) -> dict[str, Any]:
    """Return what the template shows of one target."""
    prefix = f"t{number + 1}"
    texts = words.section_texts(gap, findings)
    sections = _sections(gap, findings, texts, prefix)
    keys = [section["key"] for section in sections]
    opened = {
        k.split("-", 1)[-1]: k for k in reversed(keys) if k.startswith(("points-", "affected-"))
    }
    links = {part: f"#{prefix}-{opened.get(part, 'parts')}" for part in gap.parts}
    change = next(f for f in findings if f.kind == "change")
    return {
        "name": name,
        "id": prefix,
        "gap": gap,
        "problems": gap.problems(),
        "lead": change_sentence(gap, change),
        "wide": _decomposition(gap, findings, f"{prefix}w", WIDE, links),
        "narrow": _decomposition(gap, findings, f"{prefix}n", WIDTH, links),
        "caption": f"In {unit_words(gap.about)}; {level_name(change.level)} intervals; hollow: not "
        "significant.",
        "cards": _cards(gap, findings, texts, keys),
        "sections": sections,
        "numbers": _numbers(gap, findings),
        "terms": [(gap.parts[part].label, part_words(gap, part)) for part in gap.parts],
    }


def _cards(
    gap: Gap, findings: Sequence[Finding], texts: Mapping[str, list[str]], keys: Sequence[str]
) -> list[tuple[str, list[str], str]]:
    """Return title, sentences and section of the cards under the first chart."""
    change = next(f for f in findings if f.kind == "change")
    parts = [f for f in findings if f.kind == "part"]
    points = [f for f in findings if f.kind == "points"]
    why = ["The parts of the change cannot be estimated: see above."]
    if gap.comparable:
        why = [main_sentence(gap, change, parts), variables_sentence(gap, points)]
    affected = next((key for key in texts if key.startswith("affected ")), "")
    rows = texts.get(affected, [])[:1]
    if any(f.facts.get("headline") for f in findings if f.kind in ("rule", "group")):
        rows = words.headline(gap, findings)[-1:]
    first = next((f for f in findings if f.kind == "advice"), None)
    gain = texts.get("recoverable", [])[1:2] if first and first.estimate is None else []
    steps = [*texts["advice"][:1], *gain]
    cards = []
    sections = (("Why", why, "parts"), ("Who", rows, affected), ("What to do", steps, "advice"))
    for title, sentences, key in sections:
        sentences = [text for text in sentences if text]
        section = key.replace(" ", "-")
        if sentences:
            cards.append((title, sentences, section if section in keys else ""))
    return cards


def _sections(
    gap: Gap, findings: Sequence[Finding], texts: Mapping[str, list[str]], prefix: str
) -> list[dict[str, Any]]:
    """Return what the template shows of each section that opens."""
    order = ["parts", "points", "affected", "recoverable", "advice", "shares", "trust"]
    keys = [key for key in texts if texts[key] and key.split()[0] in order]
    sections = []
    for key in sorted(keys, key=lambda key: order.index(key.split()[0])):
        kind, _, part = key.partition(" ")
        name = key.replace(" ", "-")
        sentences = [*(texts["overlap"] if key == "trust" else ()), *texts[key]]
        chart, note = _chart(gap, findings, kind, part, f"{prefix}-{name}-c")
        section = {"key": name, "title": words.section_title(gap, key), "texts": sentences}
        sections.append(section | {"chart": chart, "note": note})
    return sections


def _chart(
    gap: Gap, findings: Sequence[Finding], kind: str, part: str, prefix: str
) -> tuple[Markup, str]:
    """Return the chart of a section and the caption; empty where a section has none."""
    label = words.section_title(gap, f"{kind} {part}".strip())
    if kind == "parts":
        display = DecompositionDisplay.from_gap(gap, findings)
        return _svg(display, label, prefix), "Each part begins where the one before ends."
    kinds = {"points": "points", "affected": "group", "recoverable": "recoverable"}
    drawable = kinds.get(kind, "share" if kind == "shares" else "")
    if not any(f.kind == drawable and f.part == part for f in findings):
        return Markup(), ""
    intervals = IntervalsDisplay.from_gap(gap, findings, kind, part)
    count_words = f" {intervals.n_left_out} more stand in the table."
    return _svg(intervals, label, prefix), NOTES[kind] + count_words * bool(intervals.n_left_out)


def _decomposition(
    gap: Gap, findings: Sequence[Finding], prefix: str, line: float, links: Mapping[str, str]
) -> Markup:
    """Return the decomposition in a line; nothing without parts."""
    if not gap.parts:
        return Markup()
    units = units_of(gap)
    span = f"{units.mean(gap.source.value)} to {units.mean(gap.target.value)}"
    label = f"{metric_name(gap.about)} from {span}, part by part"
    return _svg(DecompositionDisplay.from_gap(gap, findings, line=line), label, prefix, links)


def _svg(display: Any, label: str, prefix: str, links: Mapping[str, str] | None = None) -> Markup:
    return _trusted(svg(display, label, prefix, links))


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


def _all_targets(gaps: Mapping[str, Gap], findings: Sequence[Finding]) -> dict[str, Any]:
    """Return what the template shows of all targets together."""
    units = words.targets_units(gaps)
    series = {f.part: f.facts["label"] for f in findings if f.kind == "part_in_targets"}
    by_place = {
        (f.part, f.facts["target"]): f
        for f in findings
        if f.kind in ("target_change", "target_part")
    }
    rows = []
    for name, gap in gaps.items():
        numbers = []
        for part in ("", *series):
            f = by_place.get((part, name))
            if f is None or f.interval is None:
                numbers.append(("", ""))
            else:
                numbers.append((units.bare(f.value, signed=True), units.span(*f.interval)))
        rows.append((name, gap.about.rows.target, bool(gap.problems()), numbers))
    return {
        "texts": words.targets_headline(gaps, findings),
        "chart": _svg(TrendDisplay.from_gaps(gaps, findings), "The change in every target", "all"),
        "header": ["Change", *series.values()],
        "rows": rows,
        "unit": " in points" if units.is_share else "",
    }


# -- templates -------------------------------------------------------------------------------------


def _filled(name: str, **values: Any) -> str:
    """Return a template filled with values, all escaped; a misspelt name is an error."""
    environment = Environment(
        loader=PackageLoader("whygap.render"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: with_minus(value) if type(value) is str else value,
    )
    environment.filters |= {f.__name__: f for f in (count, joined, large, metric_name)}
    text = environment.get_template(name).render(banner=words.BANNER, **values)
    return text.translate({k: picture for k, picture in PICTURES.items() if k != ord("\n")})


def _trusted(text: str) -> Markup:
    return Markup(text)  # noqa: S704 - our own files, and charts whose texts are escaped


@cache
def _asset(name: str) -> str:
    return resources.files("whygap.render").joinpath("templates", name).read_text("utf-8")
