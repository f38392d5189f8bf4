"""What agrees with the paper's case studies and what does not, in sentences made from numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from experiments.case_kept import LEVEL, Beside, ranking
from experiments.markdown import number
from whygap.results import Detailed, Gap

__all__ = ["INSURANCE", "NULL", "READMISSION", "Paper", "verdict"]

NEARLY_ALL = 0.8


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


def verdict(gap: Gap, beside: Beside, paper: Paper | None) -> list[str]:
    """One sentence per finding, each beginning with whether it agrees."""
    if paper is None or paper.accuracy is None:
        return _null(gap)
    words = [_drop(gap, paper.accuracy, paper.where)]
    if paper.largest:
        words.append(_largest(gap, paper.largest))
    if paper.leaders:
        words.append(_leader(gap.outcome, paper))
    if paper.largest == "covariate":
        words.append(_stands_out(gap.covariate))
    if paper.flags_all:
        words += _flags(beside)
    if paper.revises:
        words += _revises(beside)
    return words + _recalibration(gap.outcome)


def _null(gap: Gap) -> list[str]:
    low, high = gap.aggregate.gap.interval(LEVEL)
    ends = f"{gap.aggregate.gap.value:+.3f}, {low:+.3f} to {high:+.3f}"
    if low <= 0 <= high:
        words = [f"**As expected**: a null, no gap to speak of ({ends})."]
    else:
        words = [f"**Not as expected**: meant as a null, but the gap is {ends}."]
    for part, detail in gap.details().items():
        if detail.defined:
            words.append(
                f"**Not as expected**: the {part} shift was told from 0 even so (it may cancel in "
                f"the gap); its largest share is {ranking(detail)[0]}'s."
            )
        else:
            words.append(f"**As expected**: no {part} shift to share out; no shares are shown.")
    return words


def _drop(gap: Gap, accuracy: tuple[float, float], where: str) -> str:
    here, there = gap.aggregate.mean_000.value, gap.aggregate.mean_111.value
    change = gap.aggregate.gap
    low, high = change.interval(LEVEL)
    told = accuracy[1] - accuracy[0]
    ends = (
        f"accuracy goes from {number(here, 2)} to {number(there, 2)} ({change.value:+.2f}, "
        f"{low:+.2f} to {high:+.2f}); the paper ({where}) has {number(accuracy[0], 2)} to "
        f"{number(accuracy[1], 2)} ({told:+.2f})."
    )
    if low <= told <= high:
        return f"**Agrees**: {ends}"
    if high < 0:
        size = "smaller" if change.value > told else "larger"
        return f"**Partly**: a drop, but a {size} one: {ends}"
    return f"**Differs**: {ends}"


def _largest(gap: Gap, expected: str) -> str:
    low, high = gap.aggregate.gap.interval(LEVEL)
    if low <= 0 <= high:
        return "The gap itself cannot be told from 0, so no part of it is called the largest."
    parts = gap.aggregate.parts()
    first = max(parts, key=lambda name: abs(parts[name].value))
    ends = ", ".join(f"{name} {estimate.value:+.3f}" for name, estimate in parts.items())
    if first != expected:
        return f"**Differs**: the {first} part is the largest ({ends}); the paper's is {expected}."
    low, high = parts[first].interval(LEVEL)
    if low <= 0 <= high:
        return (
            f"**Partly**: the {expected} part is the largest, as in the paper, but its interval "
            f"({low:+.3f} to {high:+.3f}) contains 0 ({ends})."
        )
    return f"**Agrees**: the {expected} part is the largest, as in the paper ({ends})."


def _leader(detail: Detailed | None, paper: Paper) -> str:
    """Whether the variable the paper names is first, and alone there."""
    if detail is None or not detail.defined:
        return f"**Cannot be compared**: {paper.leader} is the paper's first; here no shares."
    order = ranking(detail)
    there = [name for name in order if name in paper.leaders]
    tied = detail.top_group(LEVEL)
    if not there:
        return f"**Cannot be compared**: {paper.leader} is not among these columns."
    best = there[0]
    if order[0] == best and all(name in paper.leaders for name in tied):
        return f"**Agrees**: {paper.leader} ({best}) has the largest outcome share, by far."
    if best in tied:
        also = "the largest outcome share" if order[0] == best else f"rank {order.index(best) + 1}"
        return (
            f"**Partly**: {paper.leader} ({best}) has {also}, but {len(tied)} of {len(order)} "
            "variables cannot be told apart from the largest; in the paper it is first by far."
        )
    rank = detail.ranking(LEVEL)[best]
    return (
        f"**Differs**: {order[0]} has the largest outcome share; {paper.leader} ({best}), "
        f"the paper's first by far, has rank {order.index(best) + 1} "
        f"(95%: {rank.best} to {rank.worst})."
    )


def _stands_out(detail: Detailed | None) -> str:
    if detail is None or not detail.defined:
        return (
            "**Differs**: two diagnoses stand out in the paper's covariate shift; here how it "
            "varies between strata of W cannot be told from 0, so no variable is singled out."
        )
    order, tied = ranking(detail), detail.top_group(LEVEL)
    names = ", ".join(order[:2])
    if len(tied) <= 2:
        return f"**Agrees**: few variables stand out in the covariate shift, here {names}."
    return (
        f"**Differs**: two diagnoses stand out in the paper's covariate shift; here {names} have "
        f"the largest shares, but {len(tied)} of {len(order)} cannot be told apart from the "
        "largest."
    )


def _flags(beside: Beside) -> list[str]:
    found = next((r for r in beside.rivals if r.flagged is not None), None)
    if found is None or found.flagged is None:
        return []
    count, total = found.flagged, len(found.order)
    agrees = "**Agrees**" if count >= NEARLY_ALL * total else "**Partly**"
    return [
        (
            f"{agrees}: MeanChange flags {count} of {total} variables (p < 0.05); in the paper "
            "nearly every one."
        )
    ]


def _revises(beside: Beside) -> list[str]:
    if not beside.differences:
        return []
    better = sum(d.auc.low > 0 for d in beside.differences)
    worse = sum(d.auc.high < 0 for d in beside.differences)
    total = len(beside.differences)
    agrees = "**Differs**" if worse > better else "**Agrees**" if not worse else "**Partly**"
    return [
        (
            f"{agrees}: revisions by our ranking are clearly better than by RandomForestAcc's at "
            f"{better} and clearly worse at {worse} of {total} sizes; in the paper better at 3 and "
            "never clearly worse."
        )
    ]


def _recalibration(detail: Detailed | None) -> list[str]:
    if detail is None or not detail.defined or detail.base is None:
        return []
    low, high = detail.base.interval(LEVEL)
    return [
        (
            f"Not in the paper: a recalibration of the source risk alone explains "
            f"{number(detail.base.value, 2)} of the outcome shift ({number(low, 2)} to "
            f"{number(high, 2)})."
        )
    ]
