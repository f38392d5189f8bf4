"""What is missing from an analysis that was cut short, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whygap.notes import Note
from whygap.results import Points, Recoverable
from whygap.results.joint import Sampling
from whygap.running.game import INTERRUPTED

__all__ = ["IN_WORDS", "interrupted_note", "unfinished", "was_interrupted"]


def was_interrupted(answer: Any) -> bool:
    """Whether a game behind the answer was cut short, or never played."""
    if isinstance(answer, Points):
        samplings: list[Sampling | None] = list(answer.sampling.values())
    elif isinstance(answer, Recoverable):
        samplings = [answer.here.sampling, answer.at_home.sampling]
    else:
        samplings = [getattr(answer, "sampling", None)]
    cut_short = any(s is not None and s.stopped == INTERRUPTED for s in samplings)
    return cut_short or bool(unfinished(answer))


def unfinished(answer: Any) -> list[str]:
    """What an answer lacks."""
    if isinstance(answer, Points) and not answer.covariate:
        return ["points of the covariates"]
    if isinstance(answer, Recoverable) and answer.at_home.variables is None:
        return ["variables of the budget at home"]
    return []


def interrupted_note(missing: Sequence[str]) -> Note:
    """Say what an interrupted analysis lacks; nothing where the last game was cut short."""
    if not missing:
        return Note("interrupted", "warning")
    *first, last = missing
    lacks = f"{', '.join(first)}{' and ' if first else ''}{last}"
    return Note("interrupted", "warning", {"missing": lacks})


IN_WORDS = {
    "points": "points of the variables",
    "where": "groups",
    "recoverable": "budgets",
    "covariate": "shares of the covariate part",
    "outcome": "shares of the outcome part",
}
