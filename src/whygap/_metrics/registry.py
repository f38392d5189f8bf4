"""All metrics by name, scikit-learn's of the same meaning, and the user's own."""

from __future__ import annotations

from typing import Any

from whygap._metrics.means import MEANS
from whygap._metrics.metric import TASKS, Metric, Task
from whygap._metrics.ratios import RATIOS
from whygap.errors import SettingsError, did_you_mean, require_known

__all__ = ["METRICS", "metric_named", "metric_of", "metrics", "names_for", "our_name", "tasks_of"]

METRICS = (*MEANS, *RATIOS)
# Its functions -> our metrics
OF_SCIKIT_LEARN = {
    "accuracy_score": "accuracy",
    "balanced_accuracy_score": "balanced_accuracy",
    "brier_score_loss": "brier",
    "f1_score": "f1",
    "log_loss": "log_loss",
    "matthews_corrcoef": "mcc",
    "mean_absolute_error": "mae",
    "mean_pinball_loss": "pinball",
    "mean_squared_error": "mse",
    "precision_score": "precision",
    "r2_score": "r2",
    "recall_score": "recall",
    "roc_auc_score": "auc",
    "root_mean_squared_error": "rmse",
    "zero_one_loss": "zero_one",
}


def names_for(task: Task) -> tuple[str, ...]:
    """The metrics of one kind of outcome, by name."""
    return tuple(metric.name for metric in METRICS if task in metric.tasks)


def tasks_of(name: str) -> tuple[Task, ...]:
    """The kinds of outcome for which there is a metric of that name."""
    return tuple(task for metric in called(name) for task in metric.tasks)


def called(name: str) -> list[Metric]:
    return [metric for metric in METRICS if name in (metric.name, *metric.aliases)]


def metric_named(name: str, task: Task = "binary") -> Metric:
    """A built-in metric."""
    found = called(name)
    if not found:
        known = dict.fromkeys(n for metric in METRICS for n in (metric.name, *metric.aliases))
        raise SettingsError(
            f"There is no metric '{name}'",
            hint=did_you_mean(name, known) or f"Metrics are: {', '.join(known)}, or a callable.",
        )
    for metric in found:
        if task in metric.tasks:
            return metric
    raise SettingsError(
        f"The metric '{name}' is not for a {task} outcome",
        hint=f"Metrics for it are: {', '.join(names_for(task))}, or a callable.",
    )


def metric_of(metric: Any, task: Task = "binary") -> Metric:
    """A built-in metric by name, or the user's callable(prediction, outcome) wrapped."""
    if isinstance(metric, str):
        return metric_named(metric, task)
    if isinstance(metric, Metric):
        if task not in metric.tasks:
            raise SettingsError(
                f"The metric '{metric.name}' is not for a {task} outcome",
                got=f"tasks={metric.tasks}",
            )
        return metric
    if not callable(metric):
        raise SettingsError(
            "The metric must be a name or a callable(prediction, outcome)",
            got=type(metric).__name__,
        )
    return Metric(name=getattr(metric, "__name__", "metric"), terms=metric)


def our_name(metric: Any) -> Any:
    """The name of a metric of scikit-learn's among ours; anything else is handed back.

    Functions of scikit-learn take (outcome, prediction) and give one number for all rows, so the
    ones we do not have cannot be used as they are.
    """
    function = getattr(metric, "_score_func", metric)  # what make_scorer wraps
    if not str(getattr(function, "__module__", "")).startswith("sklearn."):
        return metric
    name = getattr(function, "__name__", type(function).__name__)
    if name not in OF_SCIKIT_LEARN:
        raise SettingsError(
            f"The metric '{name}' of scikit-learn gives one number for all rows",
            hint='Name one of ours (metric="accuracy"), or give a callable(prediction, outcome) '
            "with one value per row.",
        )
    return OF_SCIKIT_LEARN[name]


class Listing(dict[str, str]):
    """What each metric of some kinds of outcome tells, by name; printed by the kinds."""

    def __init__(self, tasks: tuple[Task, ...]) -> None:
        self.tasks = tasks
        for metric in METRICS:
            if set(tasks) & set(metric.tasks):
                self.setdefault(metric.name, metric.sentence)

    def __repr__(self) -> str:
        return "\n".join(line for task in self.tasks for line in (task, *listed(task)))

    __str__ = __repr__


def listed(task: Task) -> list[str]:
    """A line for each metric of one kind of outcome."""
    shown = [metric for metric in METRICS if task in metric.tasks]
    names = [" ".join([m.name, *(f"({alias})" for alias in m.aliases)]) for m in shown]
    width = max(map(len, names))
    return [f"  {name:{width}}  {m.sentence}" for name, m in zip(names, shown, strict=True)]


def metrics(task: Task | None = None) -> Listing:
    """Every metric with a sentence on what it tells; of one kind of outcome where `task` says."""
    if task is not None:
        require_known(task, TASKS, f"There is no task '{task}'", "Tasks", SettingsError)
    return Listing(TASKS if task is None else (task,))
