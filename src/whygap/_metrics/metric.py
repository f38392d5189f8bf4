"""What a metric is: per-row terms u, and a function g of their means (METHOD: T = g(E u))."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from whygap._metrics.pairs import pair_influence, pair_means
from whygap.domains import Array
from whygap.errors import ColumnError, SettingsError, first_line, require_known

__all__ = ["TASKS", "Metric", "Task"]

Task = Literal["binary", "multiclass", "regression"]
TASKS: tuple[Task, ...] = ("binary", "multiclass", "regression")
Wants = Literal["label", "probability", "classes", "value", "any"]


def _first_mean(means: Array) -> float:
    """Return the mean of the first term: the function g of a metric that is a mean over rows."""
    return float(means[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A score of predictions: per-row terms, and a function of their means.

    Attributes:
        terms: callable(prediction, outcome) -> (K, rows), or (rows,) where K = 1. The outcome is
            0 and 1, codes 0..C-1, or real values.
        of: the means of the K terms -> the metric; left out, the mean of the one term.
        name: the name in code.
        words: the name in sentences; left out, `name`.
        tasks: the kinds of outcome the metric is for.
        wants: what `terms` is given: "label" (0 and 1 cut at the threshold, or codes of classes),
            "probability" (of a 1), "classes" (rows, C: a probability per class), "value" (real),
            or "any" (what the study has, classes' probabilities before labels).
        higher_is_better: decides "fell" and "got worse" in words; None when not known.
        is_share: the metric is a share of rows, shown in percent and points.
        pairs: the metric compares pairs of rows. `terms` are then C indicators of classes and C
            scores (C is 1 for a binary outcome), and `of` takes (rho_1..rho_C, kappa_1..kappa_C),
            with rho = E y, kappa = E[y R(f)] and R(t) the mid-rank of t.
        sentence: the meaning, in a sentence.
        aliases: further names, shown in lists.
        sklearn: scikit-learn's names of the metric: of its function, and of its scorer.
        needs: what `terms` takes by name: "threshold", "quantile", "classes" (how many), "centre"
            (of the outcome).
    """

    terms: Callable[..., Any]
    of: Callable[[Array], Any] = _first_mean
    name: str = "metric"
    words: str = ""
    tasks: tuple[Task, ...] = TASKS
    wants: Wants = "any"
    higher_is_better: bool | None = None
    is_share: bool = False
    pairs: bool = False
    sentence: str = ""
    aliases: tuple[str, ...] = ()
    sklearn: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.tasks or not set(self.tasks) <= set(TASKS):
            message = "tasks= of a Metric must be some of " + ", ".join(TASKS)
            raise SettingsError(message, got=repr(self.tasks), hint='For one: tasks=("binary",).')
        message = f"There is no wants='{self.wants}'"
        require_known(self.wants, get_args(Wants), message, "They", SettingsError)

    @property
    def is_mean(self) -> bool:
        """Return whether the metric is a mean over rows: a single term, whose mean is the value."""
        return self.of is _first_mean

    def bind(self, **values: Any) -> Metric:
        """Fill in what the terms need: threshold, quantile, classes or centre."""
        needed = {name: values[name] for name in self.needs if values.get(name) is not None}
        missing = tuple(name for name in self.needs if name not in needed)
        return replace(self, terms=partial(self.terms, **needed), needs=missing) if needed else self

    def per_row(self, prediction: Array, outcome: Array) -> Array:
        """Compute the terms at every row, (K, rows); refuse all but a finite number per row."""
        try:
            with np.errstate(all="ignore"):
                terms = np.asarray(self.terms(prediction, outcome), dtype=float)
        except Exception as err:  # the user's own metric may fail in any way
            raise SettingsError(
                f"The metric '{self.name}' failed",
                got=first_line(err, with_type=True),
                hint="It is called with predictions and outcomes, two arrays.",
            ) from err
        values = terms[None, :] if terms.ndim == 1 else terms
        if values.ndim != 2 or values.shape[1] != len(prediction):
            raise SettingsError(
                f"The metric '{self.name}' must return one value per row",
                got=f"shape {terms.shape} for {len(prediction)} rows",
            )
        if self.is_mean and len(values) != 1:
            raise SettingsError(
                f"The metric '{self.name}' returns {len(values)} terms per row",
                hint="Say what is made of their means: whygap.Metric(terms=..., of=...).",
            )
        for row in np.flatnonzero(~np.isfinite(values).all(axis=0)):
            self._refuse(values[:, row], np.atleast_1d(prediction[row]), float(outcome[row]))
        return values

    def _refuse(self, terms: Array, prediction: Array, outcome: float) -> None:
        hint = f"The outcome is {outcome:g} there."
        if self.name == "log_loss":
            hint = "For log loss, probabilities must lie strictly between 0 and 1."
        scores = " ".join(f"{value:g}" for value in prediction)
        raise ColumnError(
            f"The metric '{self.name}' is not finite at some predictions",
            got=f"{terms[~np.isfinite(terms)][0]} at prediction {scores}",
            hint=hint,
        )

    def term_coefficients(self, prediction: Array, threshold: float) -> tuple[Array, Array]:
        """Split the terms of a 0/1 outcome, u_k(x, y) = a_k(x) + b_k(x) y, (K, rows) each."""
        metric = self.bind(threshold=threshold, classes=2)
        scores = (prediction >= threshold).astype(float) if self.wants == "label" else prediction
        at_zero = metric.per_row(scores, np.zeros(len(scores)))
        return at_zero, metric.per_row(scores, np.ones(len(scores))) - at_zero

    def coefficients(self, prediction: Array, threshold: float) -> tuple[Array, Array]:
        """Return the `term_coefficients` of a metric that is a mean: l = a(x) + b(x) y, (rows,)."""
        intercept, slope = self.term_coefficients(prediction, threshold)
        return intercept[0], slope[0]

    def value(self, terms: Array, weights: Array | None = None) -> float:
        """Compute the metric from the terms of some rows, (K, rows), and weights, (rows,)."""
        means = self.means(terms, weights)
        try:
            with np.errstate(all="ignore"):
                return float(self.of(means))
        except Exception as err:  # the user's own metric may fail in any way
            raise SettingsError(
                f"The metric '{self.name}' failed on the means of its terms",
                got=first_line(err, with_type=True),
                hint=f"of= is called with an array of {len(means)} means and gives one number.",
            ) from err

    def means(self, terms: Array, weights: Array | None = None) -> Array:
        """Compute the means that `of` takes, (K,), from terms (K, rows) and weights (rows,)."""
        return pair_means(terms, weights) if self.pairs else np.average(terms, 1, weights)

    def influence(self, terms: Array, weights: Array | None = None) -> Array:
        """Compute the first-order influence of every row on the metric, centred, (rows,)."""
        means = self.means(terms, weights)
        rows = pair_influence(terms, weights) if self.pairs else terms - means[:, None]
        return np.asarray(self.gradient(means) @ rows)

    def gradient(self, means: Array) -> Array:
        """Differentiate `of` at K means by differences, (K,); nan where `of` has no value."""
        point = np.asarray(means, dtype=float)
        if self.is_mean:
            return np.ones(1)
        with np.errstate(all="ignore"):
            if not np.isfinite(self.of(point)):
                return np.full(len(point), np.nan)
            return np.array([_slope(self.of, point, k) for k in range(len(point))])


def _slope(function: Callable[[Array], Any], point: Array, k: int) -> float:
    """Differentiate by central differences of falling widths, extrapolated to width 0 (Ridders).

    Widths go from 1/100 to 1/100,000 of the mean: the widest have the least rounding, the narrowest
    stay inside where the mean is near the edge of what is possible. Of all extrapolated slopes the
    one that moved least against its two predecessors is taken, rounding counted.
    """
    # A mean of 0 has no size of its own: rare events are about 1/1000 of their table.
    size = max(abs(float(point[k])), 1e-3 * min(float(np.abs(point).max()), 1.0)) or 1.0
    rounding = np.finfo(float).eps * abs(float(function(point)))
    slope = np.nan
    error = np.inf
    previous: list[float] = []
    for width in 0.01 * size / 4.0 ** np.arange(6):
        step = np.zeros(len(point))
        step[k] = width
        row = [float(function(point + step) - function(point - step)) / (2 * width)]
        for order, coarser in enumerate(previous, start=1):
            row.append(row[-1] + (row[-1] - coarser) / (16.0**order - 1))
            doubt = max(abs(row[-1] - row[-2]), abs(row[-1] - coarser)) + rounding / width
            if doubt < error:
                slope = row[-1]
                error = doubt
        previous = row
    return slope
