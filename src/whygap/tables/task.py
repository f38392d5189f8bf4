"""What kind of outcome it is: what the caller said of it, and what the columns show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from whygap._metrics import TASKS, Metric, Task, metric_of, tasks_of
from whygap.domains import ByDomain
from whygap.errors import ColumnError, SettingsError, require_known
from whygap.notes import Fact, Note
from whygap.tables.answers import Said
from whygap.tables.columns import RawColumn, present
from whygap.tables.design import OUTCOMES
from whygap.tables.outcome import distinct_levels, repr_level

__all__ = ["Asked", "decide_task", "task_notes"]

FEW = 10  # whole numbers of so few values may be codes of classes; more are counts or amounts
DEFAULT_THRESHOLD = 0.5  # a threshold other than this was meant


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """How the caller wants rows scored; `checked` says what is wrong before any row is read."""

    metric: Any
    task: Task | Literal["auto"] = "auto"
    threshold: float = DEFAULT_THRESHOLD
    quantile: float | None = None
    positive: Any = None
    source_risk: str | None = None

    @property
    def name(self) -> str:
        """What the metric is called."""
        if isinstance(self.metric, str):
            return self.metric
        return str(getattr(self.metric, "name", getattr(self.metric, "__name__", "metric")))

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The kinds of outcome the metric is for."""
        if isinstance(self.metric, str):
            return tasks_of(self.metric)
        return self.metric.tasks if isinstance(self.metric, Metric) else TASKS

    def checked(self) -> Asked:
        """Itself, if metric, task, threshold and quantile fit each other."""
        known, what = ("auto", *TASKS), f"There is no task '{self.task}'"
        require_known(str(self.task), known, what, "Tasks", SettingsError)
        require_number("threshold", self.threshold, 0 <= as_number(self.threshold) <= 1, "0 to 1")
        metric_of(self.metric, self.tasks[0] if self.tasks else "binary")
        if self.task != "auto":
            self.require_fit(self.task)
        elif self.tasks and "binary" not in self.tasks and len(self.tasks) == 1:
            self.require_fit(self.tasks[0])
        self.require_parameters()
        return self

    def require_parameters(self) -> None:
        """A quantile where it is needed, and only there; a threshold that has odds."""
        if self.name == "pinball":
            inside = self.quantile is not None and 0 < as_number(self.quantile) < 1
            hint = "For the median: quantile=0.5."
            require_number("quantile", self.quantile, inside, "0 to 1, both excluded", hint)
        elif self.quantile is not None:
            raise SettingsError(
                f"The metric '{self.name}' takes no quantile",
                got=repr(self.quantile),
                hint="Leave quantile= out, or use metric='pinball'.",
            )
        if self.name == "net_benefit" and self.threshold in (0, 1):
            raise SettingsError(
                "The threshold of net benefit must lie between 0 and 1",
                got=repr(self.threshold),
                hint="A false alarm counts threshold / (1 - threshold) of a true one.",
            )

    def require_fit(self, task: Task) -> None:
        """Refuse a metric of another task, and what only a two-valued outcome has."""
        metric_of(self.metric, task)
        if task == "binary":
            return
        for name, given, why in (
            ("threshold", self.threshold != DEFAULT_THRESHOLD, "It cuts probabilities of a 1."),
            ("positive", self.positive is not None, "It says which of two values counts as 1."),
            ("source_risk", self.source_risk is not None, "It is the known chance of a 1."),
        ):
            if given:
                raise SettingsError(
                    f"{name}= is for an outcome with two values",
                    got=f"{getattr(self, name)!r} and an outcome of {OUTCOMES[task]}",
                    hint=f"{why} Leave it out, or say task='binary'.",
                )


def as_number(value: Any) -> float:
    """The number, NaN for what is none."""
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return float(value) if number else float("nan")


def require_number(name: str, value: Any, inside: bool, span: str, hint: str = "") -> None:
    if not inside:
        got = "none" if value is None else repr(value)
        raise SettingsError(f"The {name} must be a number from {span}", got=got, hint=hint)


def decide_task(name: str, outcome: ByDomain[RawColumn], said: Said, asked: Asked) -> Task:
    """The task asked for, else the one that the metric or the columns leave no doubt about."""
    task = seen_task(name, outcome, said, asked) if asked.task == "auto" else asked.task
    asked.require_fit(task)
    return task


def seen_task(name: str, outcome: ByDomain[RawColumn], said: Said, asked: Asked) -> Task:
    levels = {level for column in outcome for level in distinct_levels(column)}
    if len(asked.tasks) == 1 and (asked.tasks[0] != "binary" or len(levels) <= 2):
        return asked.tasks[0]
    if len(levels) <= 2 or asked.positive is not None or asked.source_risk is not None:
        return "binary"
    if any(column.kind not in ("number", "boolean", "missing") for column in outcome):
        return "multiclass"
    if said.of_classes or said.is_text:
        return "multiclass"
    values = np.unique(np.concatenate([present(column.values) for column in outcome]))
    whole = bool(np.all(values == np.round(values)))
    labels = said.only_among(values)
    if whole and labels and len(values) <= FEW:
        return "multiclass"
    if not labels and not (whole and len(values) <= FEW and said.within_one):
        return "regression"
    raise ColumnError(
        f"It is not clear what the outcome '{name}' is: classes or amounts",
        got=f"{len(values)} distinct values from {values[0]:g} to {values[-1]:g}, and predictions "
        + ("that are among them" if labels else "from 0 to 1"),
        hint="Say it: task='multiclass' or task='regression'.",
    )


def task_notes(name: str, task: Task, outcome: ByDomain[RawColumn]) -> tuple[Note, ...]:
    """What the outcome was taken for, where nobody said it."""
    if task == "binary":
        return ()
    levels = sorted({level for column in outcome for level in distinct_levels(column)})
    if task != "multiclass":
        return (Note("amounts", "info", {"column": name, "n_distinct": len(levels)}),)
    shown = ", ".join(repr_level(level) for level in levels[:4])
    more = ", ..." if len(levels) > 4 else ""
    facts: dict[str, Fact] = {"column": name, "n_classes": len(levels), "values": shown + more}
    return (Note("classes", "info", facts),)
