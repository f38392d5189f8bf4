"""Whose variables repair the model better: ours or RandomForestAcc's (the paper's AUC table)?

The comparisons, their settings and what is kept of them are those of the insurance case study
(`experiments.casestudy`): whichever study runs first leaves its results to the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from experiments.case_kept import Beside, Difference, Measured, kept, ranking
from experiments.cases import data_folder
from experiments.casestudy import CASES, Place, case_settings
from experiments.markdown import number, table
from experiments.provenance import provenance
from experiments.simulation import study_folder
from whygap.results import Detailed, Gap
from whygap.storage.files import write_whole

__all__ = ["revision_tables", "run"]

MOVES = ("NE to WV", "NE to NM")
RIVAL = "random_forest_acc"
LEVEL = 0.95


def run(
    output: Path,
    data: Path | None = None,
    quick: bool = False,
    jobs: int = 1,
    report: Callable[[str], None] = lambda _: None,
) -> Path:
    """Compute what is missing, write the page; returns its path."""
    folder = study_folder(output, "revisions", quick)
    text = revision_tables(output, data, quick=quick, jobs=jobs, report=report, heading="##")
    command = "whygap study revisions --data DIR" + (" --quick" if quick else "")
    parts = [_INTRODUCTION, text, provenance(command)]
    return write_whole(folder / "revisions.md", "\n\n".join(parts))


def revision_tables(
    output: Path,
    data: Path | None,
    *,
    quick: bool = False,
    jobs: int = 1,
    report: Callable[[str], None] = lambda _: None,
    heading: str = "###",
) -> str:
    """One table per comparison, each with what it shows in words."""
    place = Place(data_folder(data), output / "artefacts", quick)
    name = "casestudy_insurance" + ("-quick" if quick else "")
    sections = []
    for comparison in CASES["insurance"].comparisons:
        if comparison.name in MOVES:
            report(f"revisions: {comparison.name}")
            kept_in = place.artefacts / name / comparison.slug
            found = kept(comparison.study(place), case_settings(quick, jobs), kept_in, report)
            sections.append(f"{heading} {comparison.name}\n\n{section(*found)}")
    return "\n\n".join(sections)


def section(gap: Gap, beside: Beside) -> str:
    """The table of one comparison and what it shows."""
    ours = ranking(gap.outcome)
    if gap.outcome is None or not ours:
        reason = "" if gap.outcome is None else gap.outcome.reason
        return f"Our outcome shares are undefined, so there is no order to revise by. {reason}"
    theirs = next(r.order for r in beside.rivals if r.method == RIVAL)
    lines = [
        [str(d.k), _cell(d.auc), f"{ours[d.k - 1]} / {theirs[d.k - 1]}"] for d in beside.differences
    ]
    head = ["k", "AUC, ours minus RandomForestAcc's (95% interval)", "added: ours / theirs"]
    return "\n\n".join([table(head, lines), f"{in_words(beside.differences)} {_told(gap.outcome)}"])


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


def _told(outcome: Detailed) -> str:
    """How far the shares rank at all: how many of them can be told from 0."""
    ends = {name: outcome.shares[name].interval(LEVEL) for name in ranking(outcome)}
    above = [name for name, (low, _) in ends.items() if low > 0]
    base = outcome.base
    start = ""
    if base is not None:
        start = (
            f"Recalibration alone explains {_cell(_measured(base.value, *base.interval(LEVEL)))}"
        )
        start += " of the outcome shift; "
    names = f" ({', '.join(above)})" if above else ""
    return f"{start}{len(above)} of {len(ends)} shares can be told from 0 from above{names}."


def _measured(value: float, low: float, high: float) -> Measured:
    return Measured(float(value), float(low), float(high))


def _cell(found: Measured) -> str:
    return f"{number(found.value, 4)} ({number(found.low, 4)} to {number(found.high, 4)})"


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(str(k) for k in numbers)


_INTRODUCTION = """# Whose variables repair the model better

Public insurance coverage, Nebraska to another state, 2018: 3,000 and 6,000 rows, a network trained
on other Nebraska rows; baseline sex, age, race. The model is revised on the target with the top k
variables of our outcome shares and of RandomForestAcc (Y on Q, W, Z_s, five folds); both are scored
on the same held-out rows, so that the differences are paired."""
