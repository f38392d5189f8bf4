"""What agrees with the paper's case studies and what does not, in sentences made from numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from experiments.case_kept import LEVEL, Beside, ranking
from experiments.pages import render
from whygap.results import Gap

__all__ = ["INSURANCE", "NULL", "READMISSION", "Paper", "verdict"]

NEARLY_ALL = 0.8  # share of the variables that counts as nearly every one


@dataclass(frozen=True)
class Paper:
    """What the paper reports of its own comparison.

    Attributes:
        accuracy: in the source and in the target; None where no gap is expected.
        where: its two tables.
        largest: the part that it found largest.
        leaders: columns that mean the variable it found first, by far, in the outcome shift.
        leader: that variable, in words.
        flags_all: whether it reports that MeanChange flags nearly every variable.
        revises: whether it compares revisions with RandomForestAcc's.
    """

    accuracy: tuple[float, float] | None
    where: str = ""
    largest: Literal["baseline", "covariate", "outcome", ""] = ""
    leaders: tuple[str, ...] = ()
    leader: str = ""
    flags_all: bool = False
    revises: bool = False


INSURANCE = Paper(
    accuracy=(0.84, 0.66),
    where="NE to LA, 2018",
    largest="outcome",
    leaders=("PINCP", "POVPIP"),
    leader="income",
    revises=True,
)
READMISSION = Paper(
    accuracy=(0.70, 0.53), where="a private hospital", largest="covariate", flags_all=True
)
NULL = Paper(accuracy=None)


def verdict(gap: Gap, beside: Beside, paper: Paper) -> list[str]:
    """One sentence per finding, each beginning with whether it agrees."""
    parts = gap.aggregate.parts()
    text = render(
        "case_verdict.md",
        gap=gap,
        beside=beside,
        paper=paper,
        parts=parts,
        largest=max(parts, key=lambda name: abs(parts[name].value)),
        sizes=", ".join(f"{name} {estimate.value:+.3f}" for name, estimate in parts.items()),
        better=sum(d.auc.low > 0 for d in beside.differences),
        worse=sum(d.auc.high < 0 for d in beside.differences),
        ranking=ranking,
        level=LEVEL,
        nearly_all=NEARLY_ALL,
    )
    return [line for line in text.splitlines() if line]
