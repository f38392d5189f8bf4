"""Metrics of scikit-learn -> ours of the same meaning."""

from __future__ import annotations

from typing import Any

from whygap.errors import SettingsError

__all__ = ["our_name"]

OURS = {
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


def our_name(metric: Any) -> Any:
    """The name of a metric of scikit-learn's among ours; anything else is handed back.

    Functions of scikit-learn take (outcome, prediction) and give one number for all rows, so the
    ones we do not have cannot be used as they are.
    """
    function = getattr(metric, "_score_func", metric)  # what make_scorer wraps
    if not str(getattr(function, "__module__", "")).startswith("sklearn."):
        return metric
    name = getattr(function, "__name__", type(function).__name__)
    if name not in OURS:
        raise SettingsError(
            f"The metric '{name}' of scikit-learn gives one number for all rows",
            hint='Name one of ours (metric="accuracy"), or give a callable(prediction, outcome) '
            "with one value per row.",
        )
    return OURS[name]
