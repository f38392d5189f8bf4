"""Plain text of a result: headline, short form, summary, and the texts of a page's sections.

Terminal output is 80 columns wide. What is said, and in which order, comes from findings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from whygap.render import units as write
from whygap.render.advice import advice_sentence
from whygap.render.detail_sentences import (
    overlap_sentence,
    recoverable_sentences,
    share_sentences,
    trust_sentences,
)
from whygap.render.formats import wrapped
from whygap.render.sentences import (
    change_sentence,
    group_sentence,
    group_words,
    main_sentence,
    mean_change,
    no_group_sentence,
    part_sentence,
    points_sentences,
    variables_sentence,
)
from whygap.render.units import joined, metric_name
from whygap.results import Finding, Gap
from whygap.results.targets import TOGETHER

MAX_GROUPS = 3  # groups in words; more are read as a table
MAX_TARGETS = 3  # targets in one sentence; figure and table have all
BANNER = "Do not rely on these numbers as they stand:"


# -- one result ------------------------------------------------------------------------------------


def headline(gap: Gap, findings: Sequence[Finding]) -> list[str]:
    """Return the answer in at most three short texts: the change, its parts, the affected rows."""
    change = next(f for f in findings if f.kind == "change")
    parts = [f for f in findings if f.kind == "part"]
    texts = [change_sentence(gap, change)]
    if gap.comparable:
        main = main_sentence(gap, change, parts)
        shares = [f.variable for f in findings if f.kind == "share" and f.facts["headline"]]
        along = f"Its largest shares lie with {joined(shares)}." if shares else ""
        variables = variables_sentence(gap, [f for f in findings if f.kind == "points"])
        texts.append(" ".join(filter(None, [main, variables, along])))
    else:
        texts.insert(0, gap.reason)
    groups = [f for f in findings if f.kind in ("rule", "group") and f.facts["headline"]]
    texts += [_most_affected(gap, change, group) for group in groups[:1]]
    return [text for text in texts if text]


def _most_affected(gap: Gap, change: Finding, group: Finding) -> str:
    gains = group.facts["direction"] == "better"
    who = "Gaining most" if gains else "Most affected"
    if not group.facts["excess_significant"]:
        who = "Gaining, though not beyond their share" if gains else "Affected, within their share"
    other_level = group.level != change.level
    effect = mean_change(gap, group, level=other_level)
    return f"{who}: rows where {group_words(group)}{'; ' if effect else ''}{effect}."


def short(gap: Gap, findings: Sequence[Finding]) -> str:
    """Return the answer and the parts, a few lines."""
    answer = wrapped(" ".join(headline(gap, findings)))
    return "\n".join([*_banner(findings), answer, *_parts(gap, findings, opened=False)])


def summary(gap: Gap, findings: Sequence[Finding]) -> str:
    """Return everything that can be said, in plain words, 80 columns wide."""
    parts = _parts(gap, findings, opened=True)
    blocks = [[*_banner(findings), wrapped(" ".join(headline(gap, findings)))], parts]
    kinds = ("affected", "recoverable", "advice", "trust", "shares")
    return "\n\n".join("\n".join(b) for b in (*blocks, *_sections(gap, findings, kinds)) if b)


def first_screen(gap: Gap, findings: Sequence[Finding]) -> str:
    """Return the answer, who is affected, what could be won back, and what to do next."""
    answer = [*_banner(findings), wrapped(" ".join(headline(gap, findings)))]
    sections = _sections(gap, findings, ("affected", "recoverable", "advice"))
    return "\n\n".join("\n".join(block) for block in (answer, *sections))


def _sections(gap: Gap, findings: Sequence[Finding], kinds: Sequence[str]) -> Iterator[list[str]]:
    """Yield the lines of each section of these kinds that has something to say."""
    for key, texts in section_texts(gap, findings).items():
        if texts and key.partition(" ")[0] in kinds:
            yield [section_title(gap, key), *_bullets(texts)]


def section_title(gap: Gap, key: str) -> str:
    """Return the title of a section of the summary and the page."""
    kind, _, name = key.partition(" ")
    part = gap.parts[name].label if name in gap.parts else write.capital(name)
    titles = {
        "problems": "Problems",
        "parts": "Parts of the change",
        "points": f"{part}: points of each variable",
        "affected": f"Affected groups ({part.lower()} part)",
        "recoverable": "Recoverable error (squared error of the predictions)",
        "shares": f"Shapley shares of the {part.lower()} part",
        "advice": "What to do next",
        "overlap": "Overlap of the two tables",
        "trust": "How far to trust it",
    }
    return titles[kind]


def section_texts(gap: Gap, findings: Sequence[Finding]) -> dict[str, list[str]]:
    """Return what is said in each section: "parts", "points <part>", "affected <part>", ..."""
    by_kind: dict[str, list[Finding]] = {}
    for finding in findings:
        by_kind.setdefault(finding.kind, []).append(finding)
    texts = {
        "problems": [str(f.facts["note"]) for f in by_kind.get("problem", ())],
        "parts": [part_sentence(gap, f) for f in by_kind.get("part", ())],
    }
    for name, points in _by_part(findings, "points", "points_rest").items():
        texts[f"points {name}"] = points_sentences(gap, points)
    rows = _by_part(findings, "rule", "group", "no_group", "no_excess", "no_rule")
    for name, groups in rows.items():
        texts[f"affected {name}"] = _affected(gap, groups)
    if "recoverable" in by_kind:
        texts["recoverable"] = recoverable_sentences(gap, by_kind["recoverable"])
    texts["advice"] = [advice_sentence(gap, f) for f in by_kind.get("advice", ())]
    texts["overlap"] = [overlap_sentence(f.facts["ratio"]) for f in by_kind.get("overlap", ())]
    texts["trust"] = trust_sentences(gap, findings)
    for name, shares in _by_part(findings, "share_undefined", "share_base", "share").items():
        texts[f"shares {name}"] = share_sentences(gap, shares)
    return texts


def _by_part(findings: Sequence[Finding], *kinds: str) -> dict[str, list[Finding]]:
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.kind in kinds:
            groups.setdefault(finding.part, []).append(finding)
    return groups


def _affected(gap: Gap, findings: Sequence[Finding]) -> list[str]:
    telling = [f for f in findings if f.facts.get("telling")]
    telling.sort(key=lambda f: f.facts["place"])
    absent = [no_group_sentence(f) for f in findings if f.kind.startswith("no_")]
    return [*(group_sentence(gap, f) for f in telling[:MAX_GROUPS]), *absent]


def _parts(gap: Gap, findings: Sequence[Finding], opened: bool) -> list[str]:
    """Return a bullet per part; opened, what is said of its variables below."""
    parts = [f for f in findings if f.kind == "part"]
    if not parts:
        return []
    texts = section_texts(gap, findings) if opened else {}
    lines = [wrapped(f"Parts of the change ({metric_name(gap.about)}, target minus source)")]
    for part in parts:
        lines += _bullets([part_sentence(gap, part)])
        below = texts.get(f"points {part.part}", ())
        lines += [wrapped(text, "      ", "      ") for text in below]
    return lines


def _banner(findings: Sequence[Finding]) -> list[str]:
    problems = [str(f.facts["note"]) for f in findings if f.kind == "problem"]
    return [BANNER, *_bullets(problems), ""] if problems else []


def _bullets(texts: Iterable[str]) -> list[str]:
    return [wrapped(text, "  - ", "    ") for text in texts]


# -- several targets -------------------------------------------------------------------------------


def targets_headline(gaps: Mapping[str, Gap], findings: Sequence[Finding]) -> list[str]:
    """Return what can be said of all targets together: who moved, who differs, through what."""
    changes = [f for f in findings if f.kind == "target_change"]
    if not changes:
        return []
    return [_moved(gaps, changes), _who_differs(gaps, findings), *_through_what(gaps, findings)]


def targets_units(gaps: Mapping[str, Gap]) -> write.Units:
    """Return one way to write all targets: as many digits as the least known of them supports."""
    units = [write.units_of(gap) for gap in gaps.values()]
    return min(units, key=lambda unit: (unit.letter == "", unit.decimals or 0))


def targets_summary(
    gaps: Mapping[str, Gap], findings: Sequence[Finding], unfinished: Sequence[str] = ()
) -> str:
    """Return plain words: all targets together, then a section for each."""
    together = targets_headline(gaps, findings)
    blocks = [wrapped(" ".join(together))] if together else []
    for name, gap in gaps.items():
        text = summary(gap, of_target(findings, name))
        blocks.append(f"{name}\n{'=' * len(name)}\n{text}" if len(gaps) > 1 else text)
    if unfinished:
        blocks.append(wrapped(f"Interrupted before these targets: {', '.join(unfinished)}."))
    return "\n\n".join(blocks)


def of_target(findings: Sequence[Finding], name: str) -> list[Finding]:
    """Return one target's own findings."""
    return [f for f in findings if f.facts["target"] == name and f.kind not in TOGETHER]


def _moved(gaps: Mapping[str, Gap], changes: Sequence[Finding]) -> str:
    significant = [f for f in changes if f.significant]
    fell = sum(f.value < 0 for f in significant)
    counts = {
        "fell": fell,
        "rose": len(significant) - fell,
        "did not significantly change": len(changes) - len(significant),
    }
    metric = write.capital(_metric(gaps))
    together = f"{len(changes)} targets, looked at together."
    if not significant:
        return f"{metric} did not significantly change in any of {together}"
    verbs = [f"{verb} in {number}" for verb, number in counts.items() if number]
    most = next(f for f in significant if f.facts["most"])
    units = write.units_of(gaps[most.facts["target"]])
    span = units.span(*(most.interval or (most.value, most.value)))
    return (
        f"{metric} {joined(verbs)} of {together} It moved most for {most.facts['target']}: "
        f"{units.change(most.value)} ({write.level_name(most.level)} interval {span})."
    )


def _who_differs(gaps: Mapping[str, Gap], findings: Sequence[Finding]) -> str:
    differing = [f for f in findings if f.kind == "target_differs" and f.significant]
    if not differing:
        return f"No target differs significantly from the mean of all {len(gaps)} targets."
    units, texts = targets_units(gaps), []
    for side, way in (("below", -1.0), ("above", 1.0)):
        names = sorted((f for f in differing if f.value * way > 0), key=lambda f: -abs(f.value))
        sizes = [
            f"{f.facts['target']} (by {units.size(f.value)}, "
            f"{units.size_span(*(f.interval or (f.value, f.value)))})"
            for f in names
        ]
        texts += [f"{side} it for {joined(sizes, MAX_TARGETS)}"] if sizes else []
    mean = f"Compared with its mean over all {len(gaps)} targets, {_metric(gaps)} is significantly"
    return f"{mean} {joined(texts)}."


def _through_what(gaps: Mapping[str, Gap], findings: Sequence[Finding]) -> list[str]:
    parts = [f for f in findings if f.kind == "part_in_targets"]
    counts = [(f.facts["label"].lower(), f.facts["n_significant"]) for f in parts]
    counts = sorted((pair for pair in counts if pair[1]), key=lambda pair: -pair[1])
    if not counts:
        return ["No part of the change is significant in any target."] if parts else []
    (name, number), *others = counts
    texts = [f"{name} is significant in {number}", *(f"{name} in {n}" for name, n in others)]
    return [f"Of the parts of the change, {joined(texts, len(texts))} of {len(gaps)} targets."]


def _metric(gaps: Mapping[str, Gap]) -> str:
    return metric_name(next(iter(gaps.values())).about)
