"""Plain text of a result: headline, short form, summary, and the texts of a page's sections.

Terminal output is 80 columns wide. What is said, and in which order, comes from findings.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from whygap.render import detail_sentences as details
from whygap.render import sentences as say
from whygap.render import units as write
from whygap.render.formats import wrapped
from whygap.render.units import joined, metric_name
from whygap.results import Finding, Gap
from whygap.results.gaps import JOINT_KINDS

MAX_GROUPS = 3  # groups in words; more are read as a table
BANNER = "Do not rely on these numbers as they stand:"


# -- one result ------------------------------------------------------------------------------------


def headline(gap: Gap, findings: Sequence[Finding]) -> list[str]:
    """Return the answer in at most three short texts: the change, the parts, the affected rows.

    Args:
        gap: the result.
        findings: on the gap.
    """
    change = next(f for f in findings if f.kind == "change")
    parts = [f for f in findings if f.kind == "part"]
    texts = [say.change_sentence(gap, change)]
    if gap.comparable:
        main = say.main_sentence(gap, change, parts)
        shares = [f.variable for f in findings if f.kind == "share" and f.facts["headline"]]
        along = f"Its largest shares lie with {joined(shares)}." if shares else ""
        variables = say.variables_sentence(gap, [f for f in findings if f.kind == "points"])
        texts.append(" ".join(filter(None, [main, variables, along])))
    else:
        texts.insert(0, gap.reason)
    groups = [f for f in findings if f.kind in ("rule", "group") and f.facts["headline"]]
    for group in groups[:1]:
        gains = group.facts["direction"] == "better"
        label = "Gaining most" if gains else "Most affected"
        if not group.facts["excess_significant"]:
            label = "Gaining, though not beyond" if gains else "Affected, within"
            label += " their share"
        effect = say.mean_change(gap, group, level=group.level != change.level)
        rows = f"{label}: rows where {say.group_words(group)}"
        texts.append(f"{rows}; {effect}." if effect else f"{rows}.")
    return [text for text in texts if text]


def short(gap: Gap, findings: Sequence[Finding]) -> str:
    """Return the answer and the parts, a few lines.

    Args:
        gap: the result.
        findings: on the gap.
    """
    answer = wrapped(" ".join(headline(gap, findings)))
    return "\n".join([*_banner(findings), answer, *_parts(gap, findings, opened=False)])


def summary(gap: Gap, findings: Sequence[Finding]) -> str:
    """Return everything that can be said, in plain words, 80 columns wide.

    Args:
        gap: the result.
        findings: on the gap.
    """
    parts = _parts(gap, findings, opened=True)
    blocks = [[*_banner(findings), wrapped(" ".join(headline(gap, findings)))], parts]
    kinds = ("affected", "recoverable", "advice", "trust", "shares")
    return "\n\n".join("\n".join(b) for b in (*blocks, *_sections(gap, findings, kinds)) if b)


def first_screen(gap: Gap, findings: Sequence[Finding]) -> str:
    """Return the answer, who is affected, what could be won back, and what to do next.

    Args:
        gap: the result.
        findings: on the gap.
    """
    answer = [*_banner(findings), wrapped(" ".join(headline(gap, findings)))]
    sections = _sections(gap, findings, ("affected", "recoverable", "advice"))
    return "\n\n".join("\n".join(block) for block in (answer, *sections))


def _sections(gap: Gap, findings: Sequence[Finding], kinds: Sequence[str]) -> Iterator[list[str]]:
    """Yield the lines of each section of the given kinds that has something to say."""
    for key, texts in section_texts(gap, findings).items():
        if texts and key.partition(" ")[0] in kinds:
            yield [section_title(gap, key), *_bullets(texts)]


def section_title(gap: Gap, key: str) -> str:
    """Return the title of a section of the summary and the page.

    Args:
        gap: the result.
        key: of `section_texts`.
    """
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
    """Return what is said in each section: "parts", "points <part>", "affected <part>", ...

    Args:
        gap: the result.
        findings: on the gap.
    """
    by_kind: dict[str, list[Finding]] = {}
    for finding in findings:
        by_kind.setdefault(finding.kind, []).append(finding)
    texts = {
        "problems": [str(f.facts["note"]) for f in by_kind.get("problem", ())],
        "parts": [say.part_sentence(gap, f) for f in by_kind.get("part", ())],
    }
    for name, points in _by_part(findings, "points", "points_rest").items():
        texts[f"points {name}"] = say.points_sentences(gap, points)
    rows = _by_part(findings, "rule", "group", "no_group", "no_excess", "no_rule")
    for name, groups in rows.items():
        texts[f"affected {name}"] = _affected(gap, groups)
    if "recoverable" in by_kind:
        texts["recoverable"] = details.recoverable_sentences(gap, by_kind["recoverable"])
    texts["advice"] = [details.advice_sentence(gap, f) for f in by_kind.get("advice", ())]
    ratios = [f.facts["ratio"] for f in by_kind.get("overlap", ())]
    texts["overlap"] = [details.overlap_sentence(ratio) for ratio in ratios]
    texts["trust"] = details.trust_sentences(gap, findings)
    for name, shares in _by_part(findings, "share_undefined", "share_base", "share").items():
        texts[f"shares {name}"] = details.share_sentences(gap, shares)
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
    absent = [say.no_group_sentence(f) for f in findings if f.kind.startswith("no_")]
    return [*(say.group_sentence(gap, f) for f in telling[:MAX_GROUPS]), *absent]


def _parts(gap: Gap, findings: Sequence[Finding], opened: bool) -> list[str]:
    """Return a bullet per part; opened, with sentences on the variables."""
    parts = [f for f in findings if f.kind == "part"]
    if not parts:
        return []
    texts = section_texts(gap, findings) if opened else {}
    lines = [wrapped(f"Parts of the change ({metric_name(gap.about)}, target minus source)")]
    for part in parts:
        lines += _bullets([say.part_sentence(gap, part)])
        sentences = texts.get(f"points {part.part}", ())
        lines += [wrapped(text, "      ", "      ") for text in sentences]
    return lines


def _banner(findings: Sequence[Finding]) -> list[str]:
    problems = [str(f.facts["note"]) for f in findings if f.kind == "problem"]
    return [BANNER, *_bullets(problems), ""] if problems else []


def _bullets(texts: Iterable[str]) -> list[str]:
    return [wrapped(text, "  - ", "    ") for text in texts]


# -- several targets -------------------------------------------------------------------------------


def targets_headline(gaps: Mapping[str, Gap], findings: Sequence[Finding]) -> list[str]:
    """Return what can be said of all targets together: which moved, and through what.

    Args:
        gaps: target -> gap.
        findings: on all targets.
    """
    changes = [f for f in findings if f.kind == "target_change"]
    return [_moved(gaps, changes), *_through_what(gaps, findings)] if changes else []


def targets_units(gaps: Mapping[str, Gap]) -> write.Units:
    """Return the units for all targets: as many digits as the least known target supports."""
    units = [write.units_of(gap) for gap in gaps.values()]
    return min(units, key=lambda unit: (unit.letter == "", unit.decimals or 0))


def targets_summary(
    gaps: Mapping[str, Gap], findings: Sequence[Finding], unfinished: Sequence[str] = ()
) -> str:
    """Return plain words: all targets together, then a section for each.

    Args:
        gaps: target -> gap.
        findings: of `Gaps.findings`.
        unfinished: targets left out because the run was interrupted.
    """
    texts = targets_headline(gaps, findings)
    blocks = [wrapped(" ".join(texts))] if texts else []
    for name, gap in gaps.items():
        text = summary(gap, of_target(findings, name))
        blocks.append(f"{name}\n{'=' * len(name)}\n{text}" if len(gaps) > 1 else text)
    if unfinished:
        blocks.append(wrapped(f"Interrupted before these targets: {', '.join(unfinished)}."))
    return "\n\n".join(blocks)


def of_target(findings: Sequence[Finding], name: str) -> list[Finding]:
    """Return the findings on a single target.

    Args:
        findings: of `Gaps.findings`.
        name: of the target.
    """
    return [f for f in findings if f.facts["target"] == name and f.kind not in JOINT_KINDS]


def _moved(gaps: Mapping[str, Gap], changes: Sequence[Finding]) -> str:
    significant = [f for f in changes if f.significant]
    fell = sum(f.value < 0 for f in significant)
    counts = {
        "fell": fell,
        "rose": len(significant) - fell,
        "did not significantly change": len(changes) - len(significant),
    }
    metric = write.capital(metric_name(next(iter(gaps.values())).about))
    targets = f"{len(changes)} targets, looked at together."
    if not significant:
        return f"{metric} did not significantly change in any of {targets}"
    verbs = [f"{verb} in {number}" for verb, number in counts.items() if number]
    largest = next(f for f in significant if f.facts["most"])
    name = largest.facts["target"]
    units = write.units_of(gaps[name])
    span = units.span(*(largest.interval or (largest.value, largest.value)))
    return (
        f"{metric} {joined(verbs)} of {targets} It moved most for {name}: "
        f"{units.change(largest.value)} ({write.level_name(largest.level)} interval {span})."
    )


def _through_what(gaps: Mapping[str, Gap], findings: Sequence[Finding]) -> list[str]:
    parts = [f for f in findings if f.kind == "part_in_targets"]
    counts = [(f.facts["label"].lower(), f.facts["n_significant"]) for f in parts]
    counts = sorted((pair for pair in counts if pair[1]), key=lambda pair: -pair[1])
    if not counts:
        return ["No part of the change is significant in any target."] if parts else []
    (name, number), *smaller = counts
    texts = [f"{name} is significant in {number}", *(f"{name} in {n}" for name, n in smaller)]
    return [f"Of the parts of the change, {joined(texts, len(texts))} of {len(gaps)} targets."]
