"""Sentences on what to do next: one per action and reason."""

from __future__ import annotations

from whygap.render import units as write
from whygap.render.detail_sentences import of_error
from whygap.render.sentences import amount
from whygap.render.units import joined
from whygap.results import Finding, Gap

MAX_COLUMNS = 6  # columns in one sentence

# (action, reason) -> sentence; {amount} is what could be won back, {names} are columns
ADVICE = {
    ("compare_again", ""): (
        "First see to what sets the two tables apart, then compare them again."
    ),
    ("see_problem_first", ""): (
        "First see to what is named as a problem, then ask again: as they stand, the numbers are "
        "no ground to change the model."
    ),
    ("recalibrate", ""): (
        "Recalibrate the model's score on outcomes from the target first: that alone could win "
        "back {amount}."
    ),
    ("revise", ""): "Revise the model on {names} with outcomes from the target.",
    ("refit", ""): (
        "Refit the model on outcomes from the target: they could win back {amount}, through no "
        "single variable significantly."
    ),
    ("collect_labels", ""): (
        "Collect more labelled rows of the target before changing the model: what labels could "
        "win back, {amount}, is not known well enough."
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
    ("reweight", ""): (
        "Reweight the training rows to the target's mix, or retrain on more source rows like it: "
        "that could win back {amount}."
    ),
    ("no_reweighting", "not_significant"): (
        "Do not count on reweighting the source rows: it has no significant gain."
    ),
    ("no_reweighting", "outcome_differs"): (
        "Do not count on reweighting the source rows: outcomes differ for rows alike in every "
        "variable, and it cannot show how."
    ),
    ("no_reweighting", "exceeds_labels"): (
        "Do not count on reweighting the source rows: it promises more than labels from the "
        "target could win back, which cannot be."
    ),
    ("no_reweighting", "little_overlap"): (
        "Do not count on reweighting the source rows: too few of them are like the target's."
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
    ("label_target_only", ""): (
        "Collect labels for target rows that have no counterpart in the source: the model has "
        "seen nothing like them."
    ),
    ("more_rows", ""): (
        "To tell the change from 0, collect more rows: it is known to within {half_width} "
        "({level} interval)."
    ),
    ("fewer_variables", ""): "{thin} Try fewer variables.",
    ("fewer_variables", "try_common_support"): ("{thin} Try support='common', or fewer variables."),
    ("nothing_to_repair", ""): ("The model does better in the target: there is nothing to repair."),
    ("nothing_significant", ""): (
        "Nothing that costs the model is significant enough to act on: collect more rows before "
        "changing it."
    ),
}


def advice_sentence(gap: Gap, step: Finding) -> str:
    """Say what to do next."""
    facts, words = step.facts, {"level": write.level_name(step.level)}
    words["names"] = joined(facts["variables"], MAX_COLUMNS)
    if step.interval is not None:
        half_width = (step.interval.high - step.interval.low) / 2
        words["half_width"] = write.units_of(gap).size(half_width)
    if "of_error" in facts:
        size = amount(gap, step, brackets=False)
        words["amount"] = f"{of_error(step)} of the squared error ({size})"
    if "ratio" in facts:
        ratio = facts["ratio"]
        words["thin"] = (
            f"Source and target hardly overlap in {ratio.columns}: {ratio.rows:,} source rows "
            f"count as {ratio.effective_size:,.0f}."
        )
    return ADVICE[facts["action"], facts["reason"]].format(**words)
