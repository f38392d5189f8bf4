"""Targets explained one after the other or side by side; what comes back is text."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import joblib
from joblib.externals.loky.process_executor import TerminatedWorkerError

from whygap._explain import explain_with, was_interrupted
from whygap._watch.learners import Learners
from whygap._watch.plan import Target
from whygap.errors import FitError, InputError, WhygapError, WhygapWarning
from whygap.learning.menu import Menu
from whygap.learning.source_fits import SourceFits
from whygap.progress import Silent
from whygap.results import files
from whygap.running.shipping import Parcel, opened
from whygap.settings import DetailName, Settings
from whygap.study import Study

__all__ = ["Answer", "Work", "answers"]


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """What all targets have in common."""

    base: str  # digest of it
    study: Study  # its source is in memory, its target is replaced
    detail: tuple[DetailName, ...]
    settings: Settings
    redact: int | None = None  # levels of fewer rows are not named in what is kept
    learners: Learners | None = None  # None: nobody has chosen yet
    fits: SourceFits = field(default_factory=SourceFits)  # on source rows, of targets before


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """One target's result as text, or why there is none; and the learners it has chosen."""

    target: Target
    text: str = ""
    problem: str = ""
    learners: Learners | None = None
    seconds: float = 0.0


def answers(work: Work, targets: Sequence[Target], jobs: int) -> Iterator[Answer]:
    """Every target's answer, as they come: in this process, or in several."""
    if min(jobs, len(targets)) <= 1:
        yield from (answer(work, target) for target in targets)
        return
    parcel = Parcel(work)
    tasks = (joblib.delayed(_answer_at)(parcel.path, target) for target in targets)
    try:
        yield from joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks)
    except TerminatedWorkerError as error:
        raise WhygapError(
            "A worker process was lost",
            got=f"{jobs} jobs",
            hint="Most often the memory is full: use fewer. What is done is kept; run it again.",
        ) from error


def _answer_at(path: Path, target: Target) -> Answer:
    return answer(opened(path), target)


def answer(work: Work, target: Target) -> Answer:
    """One target explained; a table that cannot be used is an answer, too."""
    clock = time.perf_counter()
    try:
        study = work.study.with_target(target.table, target.name)
        design = study.read(Silent())
        chosen, settings = work.learners, work.settings
        own = chosen is None or chosen.content == target.content
        menu = Menu(settings, source_fits=work.fits)
        if chosen is not None and not own:
            menu = chosen.menu(settings, design, work.fits)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", WhygapWarning)  # the result says the same
            gap = explain_with(study, work.detail, work.settings, menu)
    except (InputError, FitError) as error:
        return Answer(target, problem=_why(error, work.redact), seconds=time.perf_counter() - clock)
    if was_interrupted(gap):
        raise KeyboardInterrupt
    shown = gap if work.redact is None else gap.redacted(work.redact)
    found = Learners.chosen(work.base, target.content, design, menu) if own else None
    return Answer(target, timeless(shown), "", found, time.perf_counter() - clock)


def _why(error: WhygapError, redact: int | None) -> str:
    """The reason in words; redacted, its kind alone: an error may quote values of rows."""
    if redact is None:
        return str(error)
    kind = type(error).__name__
    return f"Its table cannot be explained ({kind}); without redact the reason is told."


def timeless(gap: Any) -> str:
    """The result's text without the hour and without how long it took."""
    return files.to_text(replace(gap, about=replace(gap.about, seconds={}, created="")))
