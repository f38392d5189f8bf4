"""What looks wrong with a design before anything is fitted: columns, rows and predictions."""

from whygap.data_checks.hints import FEW_VALUES, auc_of_counts, with_hints
from whygap.data_checks.predictions import Measure, look_at

__all__ = ["FEW_VALUES", "Measure", "auc_of_counts", "look_at", "with_hints"]
