"""What is missing from an analysis that was cut short, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whygap.notes import Note
from whygap.results import Recoverable, Sampling
from whygap.running.game import INTERRUPTED

__all__ = ["IN_WORDS", "interrupted_note", "unfinished", "was_interrupted"]


def was_interrupted(answer: Any) -> bool:
    """Whether a game behind the answer was cut short, or never played."""
    samplings: list[Sampling | None]
    if isinstance(answer, dict):
        samplings = [getattr(part, "sampling", None) for part in answer.values()]
    elif isinstance(answer, Recoverable):
        samplings = [answer.sampling, answer.source.sampling]
    else:
        samplings = [getattr(answer, "sampling", None)]
    cut_short = any(s is not None and s.stopped == INTERRUPTED for s in samplings)
    return cut_short or bool(unfinished(answer))


def unfinished(answer: Any) -> list[str]:
    """What an answer lacks."""
    if isinstance(answer, dict) and list(answer) == ["baseline"]:
        return ["points of the covariates"]
    if isinstance(answer, Recoverable) and answer.source.variables is None:
        return ["variables of the source's budget"]
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
    "affected": "groups",
    "recoverable": "budgets",
    "covariate": "shares of the covariate part",
    "outcome": "shares of the outcome part",
}
