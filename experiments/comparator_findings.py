"""The paper's findings about the comparators (Fig. 4), each checked and stated in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from experiments.comparator_seeds import OURS, Seeds, mean_of
from experiments.pages import Measured, number

__all__ = ["PAPER_ACCURACY", "TITLES", "Finding", "findings"]

Verdict = Literal["yes", "no", "not told"]
IMPORTANT = 0.95  # 1 - p of a test at 5%
ROUNDING = 0.005  # the paper prints two digits
BEST_POSSIBLE = 0.8044
"""Accuracy of the target's true law in world (b), by simulation of ten million rows."""
TITLES = {
    OURS: "whygap",
    "mean_change": "MeanChange",
    "oaxaca_blinder": "Oaxaca-Blinder",
    "wu_shift": "WuShift",
    "parametric_change": "ParametricChange",
    "parametric_acc": "ParametricAcc",
    "random_forest_acc": "RandomForestAcc",
}
PAPER_ACCURACY = {
    OURS: (0.80, 0.80, 0.81),
    "parametric_change": (0.78, 0.80, 0.81),
    "parametric_acc": (0.75, 0.80, 0.80),
    "random_forest_acc": (0.78, 0.80, 0.80),
    "oaxaca_blinder": (0.78, 0.78, 0.80),
}
"""Accuracy after revision with the top 1, 2, 3 variables, as the paper prints it."""
PREFERENCES = {
    "covariate": (("oaxaca_blinder", "Z2"), ("wu_shift", "Z2"), (OURS, "Z1")),
    "outcome": (("parametric_change", "Z2"), (OURS, "Z1")),
}
"""Which variable each method puts first, as the paper reports it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim of the paper, whether the seeds bear it out, and the numbers."""

    claim: str
    verdict: Verdict
    evidence: str

    def __str__(self) -> str:
        return f"{self.claim}: **{self.verdict}**. {self.evidence}"


def findings(seeds: Seeds) -> list[Finding]:
    """Every finding about one scene."""
    part = seeds.scene.part
    found = [_everything_important(seeds)] if part == "covariate" else []
    found += [_prefers(seeds, method, name) for method, name in PREFERENCES[part]]
    return found + (list(_revisions(seeds)) if part == "outcome" else [])


def _everything_important(seeds: Seeds) -> Finding:
    smallest = float(seeds.importances("mean_change").min())
    return Finding(
        "MeanChange calls everything important",
        "yes" if smallest > IMPORTANT else "no",
        f"Its smallest importance in any seed is {number(smallest)} (1 - p, at most 1).",
    )


def _prefers(seeds: Seeds, method: str, name: str) -> Finding:
    """The lead of a variable over all others, with its interval over seeds."""
    lead = seeds.lead(method, name)
    claim = f"{TITLES[method]} puts {name} first"
    if lead is None:
        return Finding(claim, "not told", "It had no answer in any seed.")
    answers = len(seeds.importances(method))
    missing = len(seeds.lines) - answers
    silent = f" It had no answer in {missing} of {len(seeds.lines)} seeds." if missing else ""
    share = seeds.first_places(method)[name]
    return Finding(
        claim,
        _verdict(lead.sign),
        f"{name} is ahead of the rest by {_shown(lead, 4)}; it comes first in {share:.0%} of "
        f"{answers} answers.{silent}",
    )


def _revisions(seeds: Seeds) -> Iterator[Finding]:
    """Is ours at least as good as every rival, and as the paper's own, for every k?"""
    if not len(seeds.accuracy(OURS)):
        yield Finding("Our variables revise at least as well", "not told", "No shares in any seed.")
        return
    pairs = [(mean, m) for m in seeds.scene.rivals for mean in seeds.behind_us(m)]
    least, method = min(pairs, key=lambda pair: pair[0].value)
    yield Finding(
        "Revised with our top 1, 2, 3 variables the model is at least as accurate as with any "
        "comparator's, up to the interval of the difference",
        "yes" if all(mean.high >= 0 for mean, _ in pairs) else "no",
        f"The least favourable difference, to {TITLES[method]}, is {_shown(least, 4)}.",
    )
    ours = [mean_of(column) for column in seeds.accuracy(OURS).T]
    paper = PAPER_ACCURACY[OURS]
    yield Finding(
        f"It is as accurate as the paper's ({', '.join(number(p, 2) for p in paper)})",
        "yes" if all(a.high >= p - ROUNDING for a, p in zip(ours, paper, strict=True)) else "no",
        f"Ours: {', '.join(number(a.value) for a in ours)}, compared up to rounding and our "
        f"intervals. No model can expect more than {number(BEST_POSSIBLE)} in this world.",
    )


def _verdict(sign: int) -> Verdict:
    return "yes" if sign > 0 else "no" if sign < 0 else "not told"


def _shown(mean: Measured, digits: int) -> str:
    value, low, high = (number(x, digits) for x in (mean.value, mean.low, mean.high))
    return f"{value} (95% interval {low} to {high})"
