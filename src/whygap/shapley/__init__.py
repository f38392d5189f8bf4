"""Shapley values from the values of subsets, with inference; knows nothing of shifts."""

from whygap.shapley.inference import (
    adjusted_p_values,
    max_t_quantile,
    rank_intervals,
    simultaneous_intervals,
)
from whygap.shapley.solve import linear_weights, sampling_factor
from whygap.shapley.subsets import SubsetPlan

__all__ = [
    "SubsetPlan",
    "adjusted_p_values",
    "linear_weights",
    "max_t_quantile",
    "rank_intervals",
    "sampling_factor",
    "simultaneous_intervals",
]
