"""Sentences on details: recoverable error, shares, overlap, trust, and what to do next."""

import math
from collections.abc import Sequence

from whygap.render import units as write
from whygap.render.sentences import NOT_SIGNIFICANT, amount
from whygap.render.units import in_domain, joined, percent, percent_span
from whygap.results import Finding, Gap, RatioRecord

MAX_SHARES = 4  # shares in one sentence
ASSOCIATION = (
    "These are associations in two tables of rows. They say where the change shows up, not what "
    "caused it."
)


# -- recoverable error -----------------------------------------------------------------------------


def recoverable_sentences(gap: Gap, terms: Sequence[Finding]) -> list[str]:
    """Say how much squared error target labels could win back, and through what."""
    by_term = {f.facts["term"]: f for f in terms if not f.variable}
    sizes = {name: amount(gap, term) for name, term in by_term.items()}
    squared_error = by_term["total"].facts["squared_error"]
    sentences = [
        (
            f"The squared error of the predictions {in_domain(gap.about, 'target')} is "
            f"{write.squared_error_units(gap).bare(squared_error)}. Irreducible, whatever the "
            f"model on these variables: {sizes['irreducible']}."
        ),
        _with_target_labels(gap, terms, by_term),
    ]
    if "reweighted" in by_term:
        sentences.append(
            "Recoverable by reweighting or retraining on source labels, had outcomes stayed the "
            f"source's: {sizes['reweighted']}{_unless_a_gain(by_term['reweighted'])}."
        )
    doubt = "" if by_term["added"].significant else f", {NOT_SIGNIFICANT}"
    already = f"Recoverable in the source already: {sizes['source']}"
    return [*sentences, f"{already}; the target adds {sizes['added']}{doubt}."]


def _with_target_labels(gap: Gap, terms: Sequence[Finding], by_term: dict[str, Finding]) -> str:
    total = by_term["total"]
    scale = by_term.get("recalibration")
    text = f"Recoverable with labels from the target: {amount(gap, total)}"
    if not (total.significant and total.value > 0):
        return f"{text}{_unless_a_gain(total)}."
    text += f", {_of_error(total)} of it"
    ways = [f"{f.variable} {amount(gap, f)}" for f in terms if f.facts.get("named")]
    if scale is not None and scale.significant:
        ways.insert(0, f"recalibrating the score {amount(gap, scale)}")
    if not ways:
        return f"{text}, through no single variable significantly."
    leader = next((f.variable for f in terms if f.facts.get("leads")), "")
    leader_words = f" Of the variables, {leader} wins back most." if leader else ""
    return f"{text}: {joined(ways)}.{leader_words}"


def _unless_a_gain(term: Finding) -> str:
    if not term.significant:
        return f"; {NOT_SIGNIFICANT}"
    return "" if term.value > 0 else "; nothing to gain"


def _of_error(finding: Finding) -> str:
    """Write a recoverable amount as a percentage of the squared error in the target."""
    share = finding.facts["of_error"]
    return write.rows_share(share) if math.isfinite(share) else "an unknown part"


# -- the paper's shares ----------------------------------------------------------------------------


def share_sentences(gap: Gap, shares: Sequence[Finding]) -> list[str]:
    """Say which variables have the largest Shapley shares, or why shares are undefined.

    Args:
        gap: the result.
        shares: the findings on the shares of a part.
    """
    if shares and shares[0].kind == "share_undefined":
        return _undefined(gap, shares[0])
    sentences = []
    terms = [f for f in shares if f.kind == "share"]
    if terms and not terms[0].facts["part_significant"] and terms[0].part in gap.parts:
        sentences.append(
            f"The {terms[0].part} part as a whole is {NOT_SIGNIFICANT}, yet not 0 everywhere: it "
            "may raise the metric for some rows and lower it for others."
        )
    for base in (f for f in shares if f.kind == "share_base"):
        columns = joined(gap.about.baseline)
        within = f" within strata of {columns}" if columns else ""
        sentences.append(
            "Recalibrating the re-estimated source risk (not the model)"
            f"{within} would explain {_share(base, level=True)}."
        )
    return [*sentences, *_largest(terms)]


def _share(finding: Finding, level: bool = False) -> str:
    error = finding.estimate.standard_error if finding.estimate else 1.0
    span = percent_span(*(finding.interval or (finding.value, finding.value)), error)
    label = f" of it ({write.level_name(finding.level)} interval " if level else " ("
    return f"{percent(finding.value, error)}{label}{span})"


def _largest(terms: Sequence[Finding]) -> list[str]:
    if not terms:
        return []
    sizes = [f"{f.variable} {_share(f)}" for f in terms[:MAX_SHARES]]
    level = f"{write.level_name(terms[0].level)} intervals"
    if len(terms) == 1:
        return [f"There is one variable, {level}: {sizes[0]}."]
    subject = "The shares" if len(terms) <= MAX_SHARES else "The largest shares"
    sentences = [f"{subject}, {level}: {joined(sizes, MAX_SHARES)}."]
    first = [f.variable for f in terms if f.facts["tied"]]
    if len(first) == 1:
        sentences.append(f"'{first[0]}' stands out: its share is larger than every other.")
    elif len(first) <= MAX_SHARES and len(first) < len(terms):
        sentences.append(f"{joined(first)} lead; which of them is largest is open.")
    else:
        subject = "any of them" if len(first) == len(terms) else f"{len(first)} of {len(terms)}"
        sentences.append(f"No single variable stands out: {subject} may have the largest share.")
    return sentences


def _undefined(gap: Gap, finding: Finding) -> list[str]:
    """Say why shares are undefined, without denying that the whole part may be significant."""
    facts = finding.facts
    name = finding.part
    if not facts["measured"]:
        return [facts["reason"]]  # whatever the data: nothing was measured
    if not facts["part_significant"]:
        text = (
            f"The shares of the {name} part are undefined, and the part as a whole is "
            f"{NOT_SIGNIFICANT} either: there may be nothing to explain."
        )
    else:
        baseline = joined(gap.about.baseline)
        strata = f"from stratum to stratum of {baseline}" if baseline else "precisely enough"
        across = strata if name == "covariate" else "from row to row"
        text = (
            f"The {name} part as a whole is significant, but these rows are too few to follow its "
            f"effect {across}. That effect is what shares divide up, so they are undefined."
        )
    needed = facts["rows_needed"]
    if needed is None:
        return [text, *filter(None, [facts["reason"]])]
    times = needed[0] / gap.about.rows.source
    often = f"{times:.1f}" if times < 10 else write.rounded_count(times)
    source, target = map(write.rounded_count, needed)
    settle = (
        f"If the effect is as large as estimated, about {often} times the rows ({source} source "
        f"and {target} target rows) would settle the question at the "
        f"{write.level_name(finding.level)} level."
    )
    return [text, *filter(None, [facts["reason"]]), settle]


# -- overlap and trust -----------------------------------------------------------------------------


def overlap_sentence(ratio: RatioRecord) -> str:
    """Say how far the tables overlap on some columns."""
    share = ratio.kept_share
    text = (
        f"To look like the target in {ratio.columns}, source rows are weighted: "
        f"{write.count(ratio.rows)} rows then count as {write.count(ratio.effective_size)} "
        f"({percent(share, 1.0 if share >= 0.02 or not share else 0.001)}). "
        f"The heaviest row counts {write.weight(ratio.largest_weight)} times; they average "
        f"{ratio.mean_weight:.2f} (it should be 1). "
    )
    if ratio.clipped_share > 0:
        text += f"{percent(ratio.clipped_share, 0.001)} of the weights were cut off. "
    if ratio.without_counterpart >= 0.005:  # what is not written as 0%
        text += f"{ratio.without_counterpart:.0%} of the target rows have no counterpart. "
    return text + (
        f"A classifier tells the two domains apart with an AUC of {ratio.domain_auc:.2f} "
        "(0.5: not at all; 1: always)."
    )


def trust_sentences(gap: Gap, statements: Sequence[Finding]) -> list[str]:
    """Say how many rows were used, how the predictions do, warnings, and what numbers are not."""
    sentences = []
    for finding in statements:
        if finding.kind == "trust":
            sentences += _rows_used(gap, finding)
        elif finding.kind == "prediction":
            measures = [
                f"{m.name} {m.text(m.value.source)} and {m.text(m.value.target)}"
                for m in finding.facts["measures"]
            ]
            sentences.append(f"Predictions, in source and target: {', '.join(measures)}.")
        elif finding.kind == "warning":
            sentences.append(str(finding.facts["note"]))
    return [*sentences, ASSOCIATION]


def _rows_used(gap: Gap, finding: Finding) -> list[str]:
    source, target = finding.facts["rows"]
    share_source, share_target = finding.facts["kept_share"]
    heavy_source, heavy_target = finding.facts["effective_rows"]
    sentences = [f"Rows used: {write.count(source)} source and {write.count(target)} target."]
    if heavy_source < source - 0.5 or heavy_target < target - 0.5:
        sentences.append(
            f"With their weights they count as {write.count(heavy_source)} source and "
            f"{write.count(heavy_target)} target rows of equal weight."
        )
    if min(share_source, share_target) < 1 and gap.comparable:
        sentences.append(
            f"Only the common support is compared: {100 * share_source:.0f}% of source and "
            f"{100 * share_target:.0f}% of target rows."
        )
    return sentences


# -- advice ----------------------------------------------------------------------------------------

# (action, reason) -> sentence; {amount} is what could be won back, {names} are columns
ADVICE = {
    ("resolve_problems", ""): (
        "First see to what is named as a problem, then ask again: as they stand, the numbers are "
        "no ground to change the model."
    ),
    ("resolve_problems", "not_comparable"): (
        "First see to what sets the two tables apart, then compare them again."
    ),
    ("recalibrate", ""): (
        "Recalibrate the model's score on outcomes from the target first: that alone could win "
        "back {amount}."
    ),
    ("revise", ""): "Revise the model on {names} with outcomes from the target.",
    ("revise", "no_single_variable"): (
        "Refit the model on outcomes from the target: they could win back {amount}, through no "
        "single variable significantly."
    ),
    ("collect_labels", ""): (
        "Collect more labelled rows of the target before changing the model: what labels could "
        "win back, {amount}, is not known well enough."
    ),
    ("collect_labels", "target_only"): (
        "Collect labels for target rows that have no counterpart in the source: the model has "
        "seen nothing like them."
    ),
    ("leave", "no_gain"): (
        "Leave the model as it is: labels from the target could not significantly improve it."
    ),
    ("leave", "outcome_differs"): (
        "Outcomes differ for rows alike in every variable, yet labels from the target could not "
        "significantly win anything back. Leave the model as it is, and look for a variable that "
        "tells such rows apart."
    ),
    ("leave", "harder_rows"): (
        "The target's rows are simply harder: labels from there could not significantly win "
        "anything back, so there is nothing to repair in the model."
    ),
    ("leave", "better"): "The model does better in the target: there is nothing to repair.",
    ("reweight", ""): (
        "Reweight the training rows to the target's mix, or retrain on more source rows like it: "
        "that could win back {amount}."
    ),
    ("ask_recoverable", "outcome_differs"): (
        "The outcome itself behaves differently in the target: only outcomes from there can "
        "repair that, reweighting the old rows cannot; detail='recoverable' says what could be "
        "won back, and how."
    ),
    ("ask_recoverable", "mix_differs"): (
        "The target has another mix of {names}, on which the model does worse. Rows may simply be "
        "harder there: detail='recoverable' says what could be won back, and how."
    ),
    ("more_rows", ""): (
        "To tell the change from 0, collect more rows: it is known to within {half_width} "
        "({level} interval)."
    ),
    ("more_rows", "nothing_significant"): (
        "Nothing that costs the model is significant enough to act on: collect more rows before "
        "changing it."
    ),
}


def advice_sentence(gap: Gap, step: Finding) -> str:
    """Say what to do next."""
    facts = step.facts
    words = {"level": write.level_name(step.level), "names": joined(facts["variables"], 6)}
    if step.interval is not None:
        half_width = (step.interval.high - step.interval.low) / 2
        words["half_width"] = write.units_of(gap).size(half_width)
    if "of_error" in facts:
        size = amount(gap, step, brackets=False)
        words["amount"] = f"{_of_error(step)} of the squared error ({size})"
    return ADVICE[facts["action"], facts["reason"]].format(**words)
