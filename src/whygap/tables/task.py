"""What kind of outcome it is: what the caller said of it, and what the columns show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from whygap._metrics import TASKS, Metric, Task, metric_of, tasks_of
from whygap.domains import ByDomain
from whygap.errors import ColumnError, SettingsError
from whygap.notes import Fact, Note
from whygap.tables.columns import RawColumn, present
from whygap.tables.design import OUTCOMES
from whygap.tables.outcome import distinct_levels, shortened
from whygap.tables.predictions import RawPredictions

__all__ = ["ScoringSpec", "task_notes", "task_of"]

MAX_CODES = 10  # distinct whole numbers: so few may be codes of classes; more are amounts
DEFAULT_THRESHOLD = 0.5  # a probability; any other threshold was set by the caller


@dataclass(frozen=True, slots=True, eq=False)
class ScoringSpec:
    """How the caller wants rows scored; `checked` says what is wrong before any row is read."""

    metric: Any
    task: Task | Literal["auto"] = "auto"
    threshold: float = DEFAULT_THRESHOLD
    quantile: float | None = None
    positive: Any = None
    source_risk: str | None = None

    @property
    def name(self) -> str:
        """The name of the metric."""
        if isinstance(self.metric, str):
            return self.metric
        return str(getattr(self.metric, "name", getattr(self.metric, "__name__", "metric")))

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The kinds of outcome the metric is for."""
        if isinstance(self.metric, str):
            return tasks_of(self.metric)
        return self.metric.tasks if isinstance(self.metric, Metric) else TASKS

    def checked(self) -> ScoringSpec:
        """Return the spec, if metric, task, threshold and quantile fit each other."""
        metric_of(self.metric, self.tasks[0] if self.tasks else "binary")
        if self.task != "auto":
            self.require_fit(self.task)
        elif len(self.tasks) == 1:
            self.require_fit(self.tasks[0])
        if self.name == "pinball":
            if self.quantile is None or not 0 < self.quantile < 1:
                text = "The quantile must be a number from 0 to 1, both excluded"
                actual = "none" if self.quantile is None else repr(self.quantile)
                raise SettingsError(text, got=actual, hint="For the median: quantile=0.5.")
        elif self.quantile is not None:
            text = f"The metric '{self.name}' takes no quantile"
            actual = repr(self.quantile)
            raise SettingsError(
                text, got=actual, hint="Leave quantile= out, or use metric='pinball'."
            )
        if self.name == "net_benefit" and self.threshold in (0, 1):
            text = "The threshold of net benefit must lie between 0 and 1"
            hint = "A false alarm counts threshold / (1 - threshold) of a true one."
            raise SettingsError(text, got=repr(self.threshold), hint=hint)
        return self

    def require_fit(self, task: Task) -> None:
        """Refuse a metric of another task, and what only a two-valued outcome has.

        Args:
            task: the kind of outcome that was named or found.
        """
        metric_of(self.metric, task)
        for name, default, why in (
            ("threshold", DEFAULT_THRESHOLD, "It cuts probabilities of a 1."),
            ("positive", None, "It says which of two values counts as 1."),
            ("source_risk", None, "It is the known chance of a 1."),
        ):
            if task != "binary" and getattr(self, name) != default:
                raise SettingsError(
                    f"{name}= is for an outcome with two values",
                    got=f"{getattr(self, name)!r} and an outcome of {OUTCOMES[task]}",
                    hint=f"{why} Leave it out, or say task='binary'.",
                )


def task_of(
    name: str, outcome: ByDomain[RawColumn], raw: RawPredictions, spec: ScoringSpec
) -> Task:
    """Return the task that the metric or the columns leave no doubt about.

    Args:
        name: the outcome's column, for messages.
        outcome: the outcome in each table.
        raw: the predictions as given.
        spec: what the caller said of metric and task.
    """
    levels = distinct_levels(outcome)
    if len(spec.tasks) == 1 and (spec.tasks[0] != "binary" or len(levels) <= 2):
        return spec.tasks[0]
    if len(levels) <= 2 or spec.positive is not None or spec.source_risk is not None:
        return "binary"
    words = any(column.kind not in ("number", "boolean", "missing") for column in outcome)
    if words or raw.of_classes:
        return "multiclass"
    values = np.unique(np.concatenate([present(column.values) for column in outcome]))
    columns = [present(column.values) for column in raw.column or ()]
    numbers = np.concatenate([np.zeros(0), *columns])
    may_be_codes = len(values) <= MAX_CODES and bool(np.all(values == np.round(values)))
    labels = bool(np.isin(numbers, values).all())
    if may_be_codes and labels:
        return "multiclass"
    within_one = len(numbers) and numbers.min() >= 0 and numbers.max() <= 1
    if not labels and not (may_be_codes and within_one):
        return "regression"
    raise ColumnError(
        f"It is not clear what the outcome '{name}' is: classes or amounts",
        got=f"{len(values)} distinct values from {values[0]:g} to {values[-1]:g}, and predictions "
        + ("that are among them" if labels else "from 0 to 1"),
        hint="Say it: task='multiclass' or task='regression'.",
    )


def task_notes(name: str, task: Task, outcome: ByDomain[RawColumn]) -> tuple[Note, ...]:
    """Report what the outcome was taken for, where no task was named.

    Args:
        name: the outcome's column.
        task: the kind of outcome.
        outcome: the outcome in each table.
    """
    levels = distinct_levels(outcome) if task != "binary" else []
    if task == "regression":
        return (Note("amounts", "info", {"column": name, "n_distinct": len(levels)}),)
    facts: dict[str, Fact] = {
        "column": name,
        "n_classes": len(levels),
        "values": shortened(levels),
    }
    return (Note("classes", "info", facts),) if task == "multiclass" else ()
