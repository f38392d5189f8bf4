"""What to do next: at most a handful of findings of kind "advice", tied to how sure the rest is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from whygap.results.finding import Finding
from whygap.results.overlap import LIMITS

if TYPE_CHECKING:
    from whygap.results.gap import Gap

# Of what labels could win back, from which recalibrating comes first: it does most of the work
MIN_RECALIBRATION_SHARE = 0.5
LITTLE = 0.1  # of the squared error: a tenth less is about 5% less error in the outcome's units


def advice(gap: Gap, statements: Sequence[Finding], level: float) -> tuple[Finding, ...]:
    """Return the next steps, most important first: at most a handful.

    The fact `action` names the step, `reason` why where there are several, `variables` through
    what; the estimate is what the step could gain, or what is not known well enough.

    Args:
        gap: the result.
        statements: findings on the gap.
        level: of findings without an estimate.
    """
    change = next(f for f in statements if f.kind == "change")
    if not gap.comparable or any(f.kind == "problem" for f in statements):
        reason = "" if gap.comparable else "not_comparable"
        first = _step("resolve_problems", level, reason=reason)
        return (first, *([] if gap.comparable else _with_target_labels(statements, level)))
    # Significant parts that make the model worse, or whose direction is not known
    parts = [f for f in statements if f.kind == "part" and f.significant]
    harmful = {f.part: f for f in parts if f.facts["direction"] != "better"}
    if gap.recoverable is not None:
        steps = list(_from_budget(gap, statements, change, harmful, level))
    else:
        steps = list(_from_parts(gap, harmful, level))
    if not change.significant and gap.total.standard_error:
        steps.append(_step("more_rows", level, change))
    if steps:
        return tuple(steps)
    if change.facts["direction"] == "better":
        return (_step("leave", level, reason="better"),)
    return (_step("more_rows", level, reason="nothing_significant"),)


def _step(action: str, level: float, finding: Finding | None = None, **facts: object) -> Finding:
    facts = {"action": action, "reason": "", "variables": ()} | facts
    if finding is None:
        return Finding("advice", level=level, facts=facts)
    if "of_error" in finding.facts:
        facts["of_error"] = finding.facts["of_error"]
    numbers = (finding.estimate, finding.interval, finding.level)
    return Finding("advice", "", "", "", *numbers, facts)


def _gain(statements: Sequence[Finding], term: str) -> Finding | None:
    """Return a term of recoverable error, if a significant gain."""
    terms = [f for f in statements if f.kind == "recoverable" and f.facts["term"] == term]
    return next((f for f in terms if f.significant and f.value > 0), None)


def _with_target_labels(statements: Sequence[Finding], level: float) -> Iterator[Finding]:
    total = _gain(statements, "total")
    if total is None:
        return
    scale = _gain(statements, "recalibration")
    recalibrate = scale is not None and scale.value >= MIN_RECALIBRATION_SHARE * total.value
    if recalibrate:
        yield _step("recalibrate", level, scale)
    terms = [f for f in statements if f.kind == "recoverable" and f.variable]
    gains = tuple(f.variable for f in terms if f.significant and f.value > 0)
    if gains:
        yield _step("revise", level, variables=gains)
    elif not recalibrate:
        yield _step("revise", level, total, reason="no_single_variable")


def _from_budget(
    gap: Gap,
    statements: Sequence[Finding],
    change: Finding,
    harmful: dict[str, Finding],
    level: float,
) -> Iterator[Finding]:
    yield from _with_target_labels(statements, level)
    gain = _gain(statements, "total")
    if gain is None:
        total = next(f for f in statements if f.facts.get("term") == "total")
        upper = total.interval.high if total.interval else 0.0
        if upper > LITTLE * total.facts["squared_error"]:
            yield _step("collect_labels", level, total)
        elif not change.significant or change.facts["direction"] != "worse":
            yield _step("leave", level, total, reason="no_gain")
        else:
            reason = "outcome_differs" if "outcome" in harmful else "harder_rows"
            yield _step("leave", level, total, reason=reason)
    # Reweighting gains only if outcomes stayed the source's, and no more than labels can
    mix = _gain(statements, "reweighted")
    ratios = gap.diagnostics.ratios
    hardly_overlap = any(r.rows and r.kept_share < LIMITS.poor for r in ratios)
    outcome = next((f for f in statements if f.kind == "part" and f.part == "outcome"), None)
    if mix is None or gain is None or mix.value > gain.value:
        return
    if not hardly_overlap and not (outcome is not None and outcome.significant):
        yield _step("reweight", level, mix)


def _from_parts(gap: Gap, harmful: dict[str, Finding], level: float) -> Iterator[Finding]:
    if "outcome" in harmful:
        yield _step("ask_recoverable", level, reason="outcome_differs")
    elif "baseline" in harmful or "covariate" in harmful:
        columns = gap.about.baseline if "baseline" in harmful else ()
        columns += ("the covariates",) if "covariate" in harmful else ()
        yield _step("ask_recoverable", level, reason="mix_differs", variables=columns)
    if "target_only" in harmful:
        yield _step("collect_labels", level, harmful["target_only"], reason="target_only")
