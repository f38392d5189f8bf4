"""Metrics: per-row terms and a function of their means; a new one is one entry."""

from whygap._metrics.metric import TASKS, Metric, Task, only_mean
from whygap._metrics.pairs import mid_ranks, pair_means
from whygap._metrics.registry import (
    METRICS,
    metric_named,
    metric_of,
    metrics,
    names_for,
    our_name,
    tasks_of,
)

__all__ = [
    "METRICS",
    "TASKS",
    "Metric",
    "Task",
    "metric_named",
    "metric_of",
    "metrics",
    "mid_ranks",
    "names_for",
    "only_mean",
    "our_name",
    "pair_means",
    "tasks_of",
]
