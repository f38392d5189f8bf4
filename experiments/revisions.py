"""Whose variables repair the model better: ours or RandomForestAcc's (the paper's AUC table)?

The comparisons, their settings and what is kept of them are those of the insurance case study
(`experiments.casestudy`): whichever study runs first leaves its results to the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.case_kept import Beside, Difference, ranking
from experiments.casestudy import CASES, Place, analysed
from experiments.pages import LEVEL, interval, table, write_page
from experiments.simulation import Order
from whygap._version import ENGINE
from whygap.results import Gap, Shares

__all__ = ["revision_tables", "run"]

MOVES = ("NE to WV", "NE to NM")
RIVAL = "random_forest_acc"


def run(order: Order) -> Path:
    """Compute what is missing, write the page; returns its path."""
    page = order.folder("revisions") / "revisions.md"
    shown = revision_tables(order, heading="##")
    command = order.command("revisions --data DIR")
    return write_page(page, command, f"Made by engine {ENGINE}.", tables=shown)


def revision_tables(order: Order, heading: str = "###") -> str:
    """One table per comparison, each with what it shows in words."""
    sections = []
    for comparison in CASES["insurance"]:
        if comparison.name in MOVES:
            order.report(f"revisions: {comparison.name}")
            study = comparison.study(Place.of(order))
            found = analysed(study, comparison, "insurance", order)
            sections.append(f"{heading} {comparison.name}\n\n{section(*found)}")
    return "\n\n".join(sections)


def section(gap: Gap, beside: Beside) -> str:
    """The table of one comparison and what it shows."""
    outcome = gap.shares.get("outcome")
    ours = ranking(outcome)
    if outcome is None or not ours:
        reason = "" if outcome is None else outcome.reason
        return f"Our outcome shares are undefined, so there is no order to revise by. {reason}"
    theirs = next(r.order for r in beside.rivals if r.method == RIVAL)
    lines = [
        [d.k, interval(d.auc, 4), f"{ours[d.k - 1]} / {theirs[d.k - 1]}"]
        for d in beside.differences
    ]
    head = ["k", "AUC, ours minus RandomForestAcc's (95% interval)", "added: ours / theirs"]
    return "\n\n".join([table(head, lines), f"{in_words(beside.differences)} {_told(outcome)}"])


def in_words(differences: Sequence[Difference]) -> str:
    """Where one ranking is measurably better."""
    worse = [d.k for d in differences if d.auc.high < 0]
    better = [d.k for d in differences if d.auc.low > 0]
    if not worse and not better:
        return "At no k can the two rankings be told apart."
    parts = []
    if better:
        parts.append(f"ours is measurably better at k = {_listed(better)}")
    if worse:
        parts.append(f"ours is measurably *worse* at k = {_listed(worse)}")
    text = " and ".join(parts)
    rest = len(differences) - len(worse) - len(better)
    tail = "; elsewhere the two cannot be told apart" if rest else ""
    return f"{text[0].upper()}{text[1:]}{tail}."


def _told(outcome: Shares) -> str:
    """How far the shares rank at all: how many of them can be told from 0."""
    ends = {name: outcome.values[name].interval(LEVEL) for name in ranking(outcome)}
    above = [name for name, (low, _) in ends.items() if low > 0]
    base, start = outcome.base, ""
    if base is not None:
        start = f"Recalibrating the source risk explains {interval(base, 4)} of the outcome shift; "
    names = f" ({', '.join(above)})" if above else ""
    return f"{start}{len(above)} of {len(ends)} shares can be told from 0 from above{names}."


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(str(k) for k in numbers)
