"""What is missing from an analysis that was cut short, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whygap.results import Recoverable, Sampling
from whygap.running.game import INTERRUPTED

__all__ = ["CUT_SHORT", "IN_WORDS", "interrupted_text", "unfinished", "was_interrupted"]

CUT_SHORT = "You interrupted the analysis"


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


def interrupted_text(missing: Sequence[str]) -> str:
    """The note on it."""
    if not missing:
        return f"{CUT_SHORT}: the last answer rests on the subsets finished until then."
    *most, last = missing
    return f"{CUT_SHORT}: it has no {', '.join(most)}{' and ' if most else ''}{last}."


IN_WORDS = {
    "points": "points of the variables",
    "affected": "groups",
    "recoverable": "budgets",
    "covariate": "shares of the covariate part",
    "outcome": "shares of the outcome part",
}
