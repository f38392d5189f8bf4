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
    """Return the next steps, most important first.

    The fact `action` names the step, `reason` why where there are several, `variables` through
    what; the estimate is what the step could gain, or what is not known well enough.
    """
    return _Advisor(gap, statements, level).steps()


class _Advisor:
    """Reads the findings that steps depend on."""

    def __init__(self, gap: Gap, statements: Sequence[Finding], level: float) -> None:
        self.gap, self.level = gap, level
        self.change = next(f for f in statements if f.kind == "change")
        self.parts = {f.part: f for f in statements if f.kind == "part"}
        terms = [f for f in statements if f.kind == "recoverable"]
        self.budget = {f.facts["term"]: f for f in terms if not f.variable}
        self.gains = tuple(f.variable for f in terms if f.variable and _is_gain(f))
        self.has_problem = any(f.kind == "problem" for f in statements)
        ratios = gap.diagnostics.ratios
        # The first columns on which next to nothing of the source can stand in for the target
        self.thin = next((r for r in ratios if r.rows and r.kept_share < LIMITS.poor), None)

    def step(self, action: str, finding: Finding | None = None, **facts: object) -> Finding:
        facts = {"action": action, "reason": "", "variables": ()} | facts
        if finding is None:
            return Finding("advice", level=self.level, facts=facts)
        if "of_error" in finding.facts:
            facts["of_error"] = finding.facts["of_error"]
        ends = (finding.estimate, finding.interval)
        return Finding("advice", "", "", "", *ends, finding.level, facts)

    def steps(self) -> tuple[Finding, ...]:
        if not self.gap.comparable:
            return (self.step("compare_again"), *self._with_target_labels())
        if self.has_problem:
            return (self.step("see_problem_first"),)
        repairs = self._from_budget() if self.budget else self._from_parts()
        steps = (*repairs, *self._unsettled(), *self._overlap())
        if steps:
            return steps
        better = self.change.facts["direction"] == "better"
        return (self.step("nothing_to_repair" if better else "nothing_significant"),)

    # -- from recoverable error --------------------------------------------------------------------

    def _from_budget(self) -> Iterator[Finding]:
        total, mix = self.budget["total"], self.budget.get("reweighted")
        if _is_gain(total):
            yield from self._with_target_labels()
        else:
            yield self._nothing_to_win(total)
        if mix is None or not (_is_gain(total) or _is_gain(mix)):
            return
        reason = self._against_reweighting(mix, total)
        action = "no_reweighting" if reason else "reweight"
        yield self.step(action, mix, reason=reason)

    def _against_reweighting(self, mix: Finding, total: Finding) -> str:
        """Return why not to rely on reweighting: it gains only if outcomes stayed the source's."""
        outcome = self.parts.get("outcome")
        if not _is_gain(mix):
            return "not_significant"
        if outcome is not None and outcome.significant:
            return "outcome_differs"
        if mix.value > total.value:
            return "exceeds_labels"
        return "little_overlap" if self.thin else ""

    def _with_target_labels(self) -> Iterator[Finding]:
        total, scale = self.budget.get("total"), self.budget.get("recalibration")
        if total is None or not _is_gain(total):
            return
        most = scale is not None and scale.value >= MIN_RECALIBRATION_SHARE * total.value
        recalibrate = scale is not None and most and _is_gain(scale)
        if recalibrate:
            yield self.step("recalibrate", scale)
        if self.gains:
            yield self.step("revise", variables=self.gains)
        elif not recalibrate:
            yield self.step("refit", total)

    def _nothing_to_win(self, total: Finding) -> Finding:
        upper = total.interval.high if total.interval else 0.0
        if upper > LITTLE * total.facts["squared_error"]:
            return self.step("collect_labels", total)
        if not self.change.significant or self.change.facts["direction"] != "worse":
            return self.step("leave", total, reason="no_gain")
        reason = "outcome_differs" if "outcome" in self._harmful() else "harder_rows"
        return self.step("leave", total, reason=reason)

    def _harmful(self) -> list[str]:
        """Return significant parts that make the model worse, or whose direction is not known."""
        return [
            name
            for name, part in self.parts.items()
            if part.significant and part.facts["direction"] != "better"
        ]

    # -- from the parts: where to look, not what to change -----------------------------------------

    def _from_parts(self) -> Iterator[Finding]:
        harmful = self._harmful()
        if "outcome" in harmful:
            yield self.step("ask_recoverable", reason="outcome_differs")
        elif "baseline" in harmful or "covariate" in harmful:
            columns = self.gap.about.baseline if "baseline" in harmful else ()
            columns += ("the covariates",) if "covariate" in harmful else ()
            yield self.step("ask_recoverable", reason="mix_differs", variables=columns)
        if "target_only" in harmful:
            yield self.step("label_target_only", self.parts["target_only"])

    def _unsettled(self) -> Iterator[Finding]:
        change = self.change
        if not change.significant and change.estimate and change.estimate.standard_error:
            yield self.step("more_rows", change)

    def _overlap(self) -> Iterator[Finding]:
        if self.thin is not None:
            asked = self.gap.about.settings.get("support") == "common"
            common = asked or self.gap.has_region
            reason = "" if common else "try_common_support"
            yield self.step("fewer_variables", reason=reason, ratio=self.thin)


def _is_gain(finding: Finding) -> bool:
    return finding.significant and finding.value > 0
