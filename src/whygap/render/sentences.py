"""Sentences: one fixed form per kind of finding. Nothing is decided here."""

from collections.abc import Sequence

from whygap.render import units as write
from whygap.render.units import Units, domain_name, in_domain, joined, metric_name
from whygap.results import Finding, Gap
from whygap.tables.design import Condition

OVER_PREDICTION = ("calibration", "bias")  # metrics of which 0 is right
NOT_SIGNIFICANT = "not distinguishable from 0"
# What statisticians call a shift of the parts that there are
TERMS = {
    "source_only": "outside the common support",
    "baseline": "baseline shift",
    "covariate": "covariate shift",
    "outcome": "concept shift",
    "target_only": "outside the common support",
}
TERMS_OUTCOME_FIRST = TERMS | {
    "covariate": "covariate shift given the outcome",
    "outcome": "label shift",
}


def number(units: Units, finding: Finding, level: bool = False, unit: bool = True) -> str:
    """Write an estimate with an interval: -4.9 points (95% interval -7.6 to -2.2).

    Args:
        units: of the metric.
        finding: with an estimate.
        level: name the level.
        unit: name the unit.
    """
    if finding.estimate is None or finding.interval is None:
        return ""
    units = units.suited(finding.estimate)
    size = units.bare(finding.value, signed=True) + (units.unit if unit else "")
    label = f"{write.level_name(finding.level)} interval " if level else ""
    return f"{size} ({label}{units.span(*finding.interval)})"


def amount(gap: Gap, finding: Finding, brackets: bool = True) -> str:
    """Write a squared error with an interval: 0.0119 (0.0061 to 0.0177).

    Args:
        gap: the result.
        finding: on recoverable error.
        brackets: around the interval.
    """
    units = write.squared_error_units(gap)
    span = units.span(*(finding.interval or (finding.value, finding.value)), signed=False)
    return units.bare(finding.value) + (f" ({span})" if brackets else f", {span}")


def part_term(gap: Gap, name: str) -> str:
    """Return the standard term for the shift behind a part; or nothing.

    Args:
        gap: the result.
        name: of the part.
    """
    return (TERMS_OUTCOME_FIRST if gap.outcome_first else TERMS).get(name, "")


def part_words(gap: Gap, name: str) -> str:
    """Return what a part is, to stand in brackets: covariate shift: a different mix of x and z."""
    return ": ".join(filter(None, [part_term(gap, name), _meaning(gap, name)]))


def _meaning(gap: Gap, name: str) -> str:
    return _small(gap.parts[name].meaning.rstrip("."))


def _small(text: str) -> str:
    return text[:1].lower() + text[1:]


# -- the change and its parts ----------------------------------------------------------------------


def change_sentence(gap: Gap, change: Finding) -> str:
    """Say how far the metric moved, from where to where."""
    analysis = gap.about
    units = write.units_of(gap)
    value = change.value
    start = units.mean(gap.source.value)
    end = units.mean(gap.target.value)
    metric = metric_name(analysis) + write.metric_unit(analysis)
    source = in_domain(analysis, "source")
    target = in_domain(analysis, "target")
    if not value and not gap.total.standard_error:
        return f"{write.capital(metric)} is the same {source} and {target}: {end}."
    low, high = change.interval or (value, value)
    level = write.level_name(change.level)
    if not change.significant:
        names = f"{domain_name(analysis, 'source')} and {domain_name(analysis, 'target')}"
        return (
            f"These data cannot tell whether {metric} differs between {names}: it moved from "
            f"{start} to {end}, a change of {units.change(value)} whose {level} interval, "
            f"{units.span(low, high)}, includes 0."
        )
    judged = change.facts["direction"]
    is_named = judged and not analysis.higher_is_better
    verdict = f": the model does {judged} there" if is_named else ""
    if analysis.metric in OVER_PREDICTION:  # neither a rise nor a fall is better: 0 is right
        side = "high" if gap.target.value > 0 else "low"
        off = f"now {units.size(gap.target.value)} too {side}"
        is_off = change.facts["target_interval"].excludes(0.0)
        verdict = f": the mean prediction is {off if is_off else 'not clearly off there'}"
    return (
        f"{write.capital(metric)} {'fell' if value < 0 else 'rose'} by {units.size(value)} "
        f"({level} interval {units.size_span(low, high)}), from {start} {source} to {end} {target}"
        f"{verdict}."
    )


def part_sentence(gap: Gap, part: Finding) -> str:
    """Say what a part is, how large, and which share of the change, unless shares mislead."""
    label = f"{gap.parts[part.part].label} ({part_words(gap, part.part)})"
    doubt = "" if part.significant else f"; {NOT_SIGNIFICANT}"
    return f"{label}: {number(write.units_of(gap), part, level=True)}{_share(gap, part)}{doubt}."


def _share(gap: Gap, part: Finding) -> str:
    share = part.facts.get("share")
    if share is None:
        return ""
    noun = "drop" if gap.total.value < 0 else "rise"
    return f", {write.percent(share.value, share.standard_error)} of the {noun}"


def main_sentence(gap: Gap, change: Finding, parts: Sequence[Finding]) -> str:
    """Say which part is the largest, and which further parts are significant.

    Args:
        gap: the result.
        change: the finding on the change.
        parts: the findings on the parts.
    """
    units = write.units_of(gap)
    sized = {part.part: f"{_name(gap, part)} {number(units, part)}" for part in parts}
    significant = [part for part in parts if part.significant]
    if not parts or not gap.total.standard_error:
        return ""
    sizes = joined([sized[part.part] for part in significant], len(parts))
    if not change.significant:
        if not significant:
            return "None of its parts is distinguishable from 0 either."
        return f"Its parts may cancel. Distinguishable from 0: {sizes}."
    if not significant:
        return "Its parts are not known well enough to say where it comes from."
    first, *smaller = sorted(parts, key=lambda part: part.facts["rank"])
    if not first.facts["named"]:
        return f"The largest part, {sized[first.part]}, is {NOT_SIGNIFICANT}. Significant: {sizes}."
    ties = [part for part in smaller if part.part in first.facts["tied_with"]]
    if ties:
        *texts, last = (sized[part.part] for part in (first, *ties))
        text = f"Which part is largest is open: {', '.join(texts)} or {last}"
    else:
        name = part_term(gap, first.part) or _name(gap, first)
        size = f"{number(units, first)}{_share(gap, first)}"
        text = f"The largest part is {name} ({_meaning(gap, first.part)}): {size}"
    also = [part for part in smaller if part.significant and part not in ties]
    same_way = [_name(gap, part) for part in also if part.value * first.value > 0]
    against = [part for part in also if part.value * first.value < 0]
    text += f"; also significant: {joined(same_way, len(same_way))}" if same_way else ""
    sizes = joined([sized[part.part] for part in against], len(parts))
    return f"{text}; the other way: {sizes}." if against else f"{text}."


def _name(gap: Gap, part: Finding) -> str:
    return _small(gap.parts[part.part].label)


# -- points of variables ---------------------------------------------------------------------------


def points_sentences(gap: Gap, points: Sequence[Finding]) -> list[str]:
    """Name the significant variables of a part, near ties, and the rest together."""
    units = write.units_of(gap)
    terms = [f for f in points if f.facts.get("named")]
    remainder = next((f for f in points if f.kind == "points_rest"), None)
    sentences = []
    if terms:
        sizes = [f"{f.variable} {number(units, f, unit=f is terms[0])}" for f in terms]
        sentences.append(f"Of these: {joined(sizes)}.")
        same_sign = [f for f in terms[1:] if f.value * terms[0].value > 0]
        ties = [f.variable for f in same_sign if f.facts["tied"]]
        if ties:
            names = joined([terms[0].variable, *ties])
            sentences.append(f"{names} are near ties: which is largest is open.")
    if remainder is not None:
        sentences.append(_rest_sentence(units, remainder, bool(terms)))
    return sentences


def _rest_sentence(units: Units, remainder: Finding, some_named: bool) -> str:
    n = remainder.facts["n"]
    n_significant = remainder.facts["n_significant"]
    if not some_named:
        if n == 1:
            return f"It has one variable, {remainder.variable}."
        return f"None of its {n} variables is distinguishable from 0 on its own."
    if n == 1:
        doubt = "" if remainder.significant else f"; {NOT_SIGNIFICANT}"
        return f"The other variable, {remainder.variable}: {number(units, remainder)}{doubt}."
    verb = "is" if n_significant == 1 else "are"
    significant = f"{n_significant} of them {verb}" if n_significant else "none of them is"
    return (
        f"The other {n} variables together: {number(units, remainder)}; {significant} significant."
    )


def variables_sentence(gap: Gap, points: Sequence[Finding]) -> str:
    """Name the largest significant variables of all parts, for the headline."""
    units = write.units_of(gap)
    terms = sorted((f for f in points if f.facts.get("headline")), key=lambda f: -abs(f.value))
    if not terms:
        return ""
    if len(terms) == 1:
        part = gap.parts[terms[0].part].label.lower()
        return f"Within {part}, {terms[0].variable} contributes most: {number(units, terms[0])}."
    sizes = [f"{f.variable} {number(units, f, unit=f is terms[0])}" for f in terms]
    return f"Of the variables, these contribute most: {joined(sizes)}."


# -- affected groups -------------------------------------------------------------------------------


def group_words(finding: Finding) -> str:
    """Name the rows of a group: age is above 25 and sex is Female (38% of rows)."""
    rows = f"{finding.variable} is {finding.group}"
    if finding.kind == "rule":
        first, *further = finding.facts["conditions"]
        rows = f"{first.variable} {_predicate(first)}"
        for condition in further:
            again = condition.variable == first.variable
            rows += f" and {'' if again else f'{condition.variable} '}{_predicate(condition)}"
    return f"{rows} ({write.rows_share(finding.facts['target_share'])} of rows)"


def _predicate(condition: Condition) -> str:
    text = condition.without_name()
    return text if text.startswith("is ") else f"is {text}"


def group_sentence(gap: Gap, group: Finding) -> str:
    """Say what a group or a rule contributes to a part, and how the metric changes within."""
    units = write.units_of(gap)
    ends = group.interval or (group.value, group.value)
    part = gap.parts[group.part].label.lower()
    text = (
        f"Rows where {group_words(group)}: {units.change(group.value)} of the {part} part "
        f"({write.level_name(group.level)} interval {units.span(*ends)})"
    )
    change = mean_change(gap, group)
    confirmed = " Confirmed with all rules looked at together." if group.kind == "rule" else ""
    return f"{text}{'; ' if change else ''}{change}.{confirmed}"


def mean_change(gap: Gap, group: Finding, level: bool = False) -> str:
    """Say how the metric changes within a group.

    Accuracy falls by 16.6 points there (5.6 to 27.5). Rows of a metric that is no mean over rows
    are compared with the average row.

    Args:
        gap: the result.
        group: finding on a group or a rule.
        level: name the level.
    """
    times = group.facts.get("times_average", 0.0)
    if times > 1:
        return f"a row there counts {times:.1f} times the average row"
    change = group.facts["change"]
    interval = group.facts["change_interval"]
    if change is None or interval is None:
        return ""
    units = write.units_of(gap)
    span = units.size_span(*interval) if interval.excludes(0.0) else units.span(*interval)
    label = f"{write.level_name(group.level)} interval " if level else ""
    verb = "falls" if change.value < 0 else "rises"
    return f"{metric_name(gap.about)} {verb} by {units.size(change.value)} there ({label}{span})"


def no_group_sentence(finding: Finding) -> str:
    """Say that no group or no rule stands out."""
    n_groups = finding.facts["n_groups"]
    n_rules = finding.facts["n_rules_tested"]
    if finding.kind == "no_excess":
        return "No group is affected by more than its share of the rows."
    if finding.kind == "no_group":
        return (
            f"No group of rows stands out: of {n_groups} groups none is distinguishable from 0 "
            "when all are looked at together."
        )
    if n_rules == 1:
        return "The only rule that was tested is not confirmed."
    return f"None of {n_rules:,} rules that were tested is confirmed."
