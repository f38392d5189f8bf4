"""All metrics by name, scikit-learn's names for them, and the user's own."""

from typing import Any

from whygap._metrics.entries import METRICS
from whygap._metrics.metric import TASKS, Metric, Task
from whygap.errors import SettingsError, did_you_mean, require_known


def metrics(task: Task | None = None) -> dict[str, str]:
    """List the metrics: name -> a sentence on the meaning.

    Args:
        task: "binary", "multiclass" or "regression"; left out, metrics of all kinds of outcome.
    """
    if task is not None:
        require_known(task, TASKS, f"There is no task '{task}'", "Tasks", SettingsError)
    sentences: dict[str, str] = {}
    for metric in METRICS:
        if task is None or task in metric.tasks:
            sentences.setdefault(metric.name, metric.sentence)
    return sentences


def tasks_of(name: str) -> tuple[Task, ...]:
    """Return the kinds of outcome that a named metric is for."""
    canonical = canonical_name(name)
    return tuple(task for metric in METRICS if metric.name == canonical for task in metric.tasks)


def canonical_name(metric: Any) -> Any:
    """Return our name of a metric that is named in any letters, or as scikit-learn does.

    Args:
        metric: a name, a function or scorer of scikit-learn, or anything else, which is returned.
    """
    own_names = {name: m.name for m in METRICS for name in (m.name, *m.aliases, *m.sklearn)}
    if isinstance(metric, str):
        return own_names.get(metric.lower().removeprefix("neg_"), metric)
    function = getattr(metric, "_score_func", metric)  # what make_scorer wraps
    if not str(getattr(function, "__module__", "")).startswith("sklearn."):
        return metric
    name = getattr(function, "__name__", type(function).__name__)
    if name not in own_names:
        raise SettingsError(
            f"The metric '{name}' of scikit-learn gives one number for all rows",
            hint='Name one of ours (metric="accuracy"), or give a callable(prediction, outcome) '
            "with one value per row.",
        )
    return own_names[name]


def sign_note(metric: Any) -> str:
    """Explain the sign of a loss named as scikit-learn's scorer ("neg_log_loss"), or return "".

    Args:
        metric: what the user gave.
    """
    name = canonical_name(metric)
    negative = str(metric).lower().startswith("neg_") or getattr(metric, "_sign", 1) < 0
    if not negative or not tasks_of(str(name)):
        return ""
    return (
        f"scikit-learn's scorer is minus the loss; here '{name}' has the sign of the loss itself: "
        "lower is better, and a positive gap is a loss that grew."
    )


def metric_named(name: str, task: Task = "binary") -> Metric:
    """Return a built-in metric by our name, an alias or scikit-learn's name, in any letters."""
    canonical = canonical_name(name)
    if not tasks_of(name):
        listed = dict.fromkeys(n for metric in METRICS for n in (metric.name, *metric.aliases))
        choices = f"Metrics are: {', '.join(listed)}, or a callable."
        hint = did_you_mean(name.lower(), listed) or choices
        raise SettingsError(f"There is no metric '{name}'", hint=hint)
    for metric in METRICS:
        if metric.name == canonical and task in metric.tasks:
            return metric
    raise SettingsError(
        f"The metric '{canonical}' is not for a {task} outcome",
        hint=f"Metrics for it are: {', '.join(metrics(task))}, or a callable.",
    )


def metric_of(metric: Any, task: Task = "binary") -> Metric:
    """Return a built-in metric by name, a `Metric`, or the user's callable wrapped as a metric."""
    if isinstance(metric, str):
        return metric_named(metric, task)
    if isinstance(metric, Metric) and task in metric.tasks:
        return metric
    if isinstance(metric, Metric):
        message = f"The metric '{metric.name}' is not for a {task} outcome"
        raise SettingsError(message, got=f"tasks={metric.tasks}")
    if not callable(metric):
        message = "The metric must be a name or a callable(prediction, outcome)"
        raise SettingsError(message, got=type(metric).__name__)
    return Metric(name=getattr(metric, "__name__", "metric"), terms=metric)
