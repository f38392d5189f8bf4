"""Revised models: corrected with a few variables on target rows, and scored on the others."""

from experiments.repair.bench import Bench, Step, auc_differences

__all__ = ["Bench", "Step", "auc_differences"]
