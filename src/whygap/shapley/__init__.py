"""Shapley values from the values of subsets, with inference; knows nothing of shifts."""

from whygap.shapley.inference import max_t_quantile
from whygap.shapley.solve import linear_weights, sampling_factor
from whygap.shapley.subsets import SubsetPlan

__all__ = ["SubsetPlan", "linear_weights", "max_t_quantile", "sampling_factor"]
