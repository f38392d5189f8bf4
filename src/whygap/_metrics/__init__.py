"""Metrics: per-row terms and a function of their means; a new metric is one entry."""

from whygap._metrics.entries import METRICS
from whygap._metrics.metric import TASKS, Metric, Task
from whygap._metrics.registry import (
    canonical_name,
    metric_named,
    metric_of,
    metrics,
    sign_note,
    tasks_of,
)

__all__ = ["METRICS", "TASKS", "Metric", "Task", "canonical_name", "metric_named"]
__all__ += ["metric_of", "metrics", "sign_note", "tasks_of"]
