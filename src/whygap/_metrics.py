"""Metrics, written as `l(x, y) = a(x) + b(x) y` (METHOD: for a binary outcome every metric is)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from whygap.domains import Array
from whygap.errors import ColumnError, SettingsError, did_you_mean

PerRow = Callable[[Array, Array], Array]


@dataclass(frozen=True, slots=True)
class Metric:
    """A per-row score of a prediction."""

    name: str  # what the user calls it
    per_row: PerRow  # (prediction, outcome) -> one value per row
    higher_is_better: bool | None  # decides "fell" and "got worse" in words; None when not known
    is_share: bool = False  # the mean is a share of rows, shown in percent and points
    # "label" (predictions are cut at the threshold first), "probability" or "any"
    wants: str = "any"

    def coefficients(self, prediction: Array, threshold: float) -> tuple[Array, Array]:
        """Intercept a(x) = l(x, 0) and slope b(x) = l(x, 1) - l(x, 0) at every row."""
        shown = (prediction >= threshold).astype(float) if self.wants == "label" else prediction
        at_zero = self._values(shown, np.zeros(len(shown)))
        at_one = self._values(shown, np.ones(len(shown)))
        return at_zero, at_one - at_zero

    def _values(self, prediction: Array, outcome: Array) -> Array:
        values = np.asarray(self.per_row(prediction, outcome), dtype=float)
        if values.shape != prediction.shape:
            raise SettingsError(
                f"The metric '{self.name}' must return one value per row",
                got=f"shape {values.shape} for {len(prediction)} rows",
            )
        if not np.isfinite(values).all():
            bad = int(np.flatnonzero(~np.isfinite(values))[0])
            raise ColumnError(
                f"The metric '{self.name}' is not finite at some predictions",
                got=f"{values[bad]} at prediction {prediction[bad]:g}",
                hint="For log loss, probabilities must lie strictly between 0 and 1.",
            )
        return values


def _accuracy(prediction: Array, outcome: Array) -> Array:
    return np.equal(prediction, outcome).astype(float)


def _zero_one(prediction: Array, outcome: Array) -> Array:
    return np.not_equal(prediction, outcome).astype(float)


def _brier(prediction: Array, outcome: Array) -> Array:
    return (prediction - outcome) ** 2


def _log_loss(prediction: Array, outcome: Array) -> Array:
    with np.errstate(divide="ignore"):
        return -np.log(np.where(outcome == 1, prediction, 1 - prediction))


METRICS = {
    m.name: m
    for m in (
        Metric("accuracy", _accuracy, higher_is_better=True, is_share=True, wants="label"),
        Metric("zero_one", _zero_one, higher_is_better=False, is_share=True, wants="label"),
        Metric("brier", _brier, higher_is_better=False, wants="probability"),
        Metric("log_loss", _log_loss, higher_is_better=False, wants="probability"),
    )
}


def metric_named(name: str) -> Metric:
    """A built-in metric."""
    if name not in METRICS:
        raise SettingsError(
            f"There is no metric '{name}'",
            hint=did_you_mean(name, METRICS)
            or f"Metrics are: {', '.join(METRICS)}, or a callable.",
        )
    return METRICS[name]


def metric_of(metric: str | PerRow | Metric) -> Metric:
    """A built-in metric by name, or the user's callable(prediction, outcome) wrapped."""
    if isinstance(metric, Metric):
        return metric
    if isinstance(metric, str):
        return metric_named(metric)
    if not callable(metric):
        raise SettingsError(
            "The metric must be a name or a callable(prediction, outcome)",
            got=type(metric).__name__,
        )
    return Metric(getattr(metric, "__name__", "metric"), metric, higher_is_better=None)
