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

__all__ = ["TASKS", "Metric", "Task", "only_mean", "slopes_of"]

Task = Literal["binary", "multiclass", "regression"]
TASKS: tuple[Task, ...] = ("binary", "multiclass", "regression")
Wants = Literal["label", "probability", "classes", "value", "any"]
WANTS = get_args(Wants)


def only_mean(means: Array) -> float:
    """The value of a metric that is itself a mean over rows: of its one term."""
    return float(means[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A score of predictions: per-row terms, and a function of their means.

    Attributes:
        terms: callable(prediction, outcome) -> (K, rows), or (rows,) where K = 1. The outcome is
            0 and 1, codes 0..C-1, or real values.
        of: the means of the K terms -> the metric; left out, the mean of the one term.
        slopes: the derivatives of `of`, K means -> K slopes; left out, by differences.
        name: what it is called in code.
        words: what it is called in sentences; left out, its name.
        tasks: the kinds of outcome it is for.
        wants: what `terms` is given: "label" (0 and 1 cut at the threshold, or codes of classes),
            "probability" (of a 1), "classes" (rows, C: a probability per class), "value" (real),
            or "any" (whatever there is, classes' probabilities before labels).
        higher_is_better: decides "fell" and "got worse" in words; None when not known.
        is_share: it is a share of rows, shown in percent and points.
        pairs: it compares pairs of rows. `terms` are then C indicators of classes and C scores (C
            is 1 for a binary outcome), and `of` takes (rho_1..rho_C, kappa_1..kappa_C), with
            rho = E y, kappa = E[y R(f)] and R(t) the mid-rank of t.
        sentence: what it tells, in a sentence.
        aliases: other names.
        needs: what `terms` takes by name: "threshold", "quantile", "classes" (how many), "centre"
            (of the outcome).
    """

    terms: Callable[..., Any]
    of: Callable[[Array], Any] = only_mean
    slopes: Callable[[Array], Any] | None = None
    name: str = "metric"
    words: str = ""
    tasks: tuple[Task, ...] = TASKS
    wants: Wants = "any"
    higher_is_better: bool | None = None
    is_share: bool = False
    pairs: bool = False
    sentence: str = ""
    aliases: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, given in (("terms", self.terms), ("of", self.of), ("slopes", self.slopes)):
            if not callable(given) and (name, given) != ("slopes", None):
                got = f"an object of type {type(given).__name__}"
                raise SettingsError(f"{name}= of a Metric must be a callable", got=got)
        if not self.tasks or not set(self.tasks) <= set(TASKS):
            raise SettingsError(
                "tasks= of a Metric must be some of " + ", ".join(TASKS),
                got=repr(self.tasks),
                hint='For one: tasks=("binary",).',
            )
        require_known(self.wants, WANTS, f"There is no wants='{self.wants}'", "They", SettingsError)

    @property
    def is_mean(self) -> bool:
        """Whether it is a mean over rows: one term, and nothing done to its mean."""
        return self.of is only_mean

    def gradient(self, means: Array) -> Array:
        """The derivatives of `of` at K means, (K,)."""
        if self.is_mean:
            return np.ones(1)
        with np.errstate(all="ignore"):
            found = slopes_of(self.of, means) if self.slopes is None else self.slopes(means)
        slopes = np.asarray(found, dtype=float)
        if slopes.shape != means.shape:
            raise SettingsError(
                f"slopes= of the metric '{self.name}' must give one number for each mean",
                got=f"shape {slopes.shape} for {len(means)} means",
            )
        return slopes

    def given(self, **values: Any) -> Metric:
        """The metric with what its terms need; the rest is left alone."""
        needed = {name: values[name] for name in self.needs if values.get(name) is not None}
        if not needed:
            return self
        left = tuple(name for name in self.needs if name not in needed)
        return replace(self, terms=partial(self.terms, **needed), needs=left)

    def per_row(self, prediction: Array, outcome: Array) -> Array:
        """The terms at every row, (K, rows), checked."""
        try:
            with np.errstate(all="ignore"):
                found = np.asarray(self.terms(prediction, outcome), dtype=float)
        except Exception as err:  # one's own metric may fail in any way
            raise SettingsError(
                f"The metric '{self.name}' failed",
                got=first_line(err, with_type=True),
                hint="It is called with predictions and outcomes, two arrays.",
            ) from err
        values = found[None, :] if found.ndim == 1 else found
        if values.ndim != 2 or values.shape[1] != len(prediction):
            raise SettingsError(
                f"The metric '{self.name}' must return one value per row",
                got=f"shape {found.shape} for {len(prediction)} rows",
            )
        if self.is_mean and len(values) != 1:
            raise SettingsError(
                f"The metric '{self.name}' returns {len(values)} terms per row",
                hint="Say what is made of their means: whygap.Metric(terms=..., of=...).",
            )
        self._require_finite(values, prediction, outcome)
        return values

    def _require_finite(self, values: Array, prediction: Array, outcome: Array) -> None:
        bad = np.flatnonzero(~np.isfinite(values).all(axis=0))
        if not len(bad):
            return
        worst = values[:, bad[0]]
        shown = " ".join(f"{value:g}" for value in np.atleast_1d(prediction[bad[0]]))
        hint = f"The outcome is {float(outcome[bad[0]]):g} there."
        if self.name == "log_loss":
            hint = "For log loss, probabilities must lie strictly between 0 and 1."
        raise ColumnError(
            f"The metric '{self.name}' is not finite at some predictions",
            got=f"{worst[~np.isfinite(worst)][0]} at prediction {shown}",
            hint=hint,
        )

    def term_coefficients(self, prediction: Array, threshold: float) -> tuple[Array, Array]:
        """Of a 0/1 outcome: a_k(x) = u_k(x, 0) and b_k(x) = u_k(x, 1) - u_k(x, 0), (K, rows)."""
        metric = self.given(threshold=threshold, classes=2)
        shown = (prediction >= threshold).astype(float) if self.wants == "label" else prediction
        at_zero = metric.per_row(shown, np.zeros(len(shown)))
        return at_zero, metric.per_row(shown, np.ones(len(shown))) - at_zero

    def coefficients(self, prediction: Array, threshold: float) -> tuple[Array, Array]:
        """`term_coefficients` of a metric that is a mean: l = a(x) + b(x) y, (rows,) each."""
        intercept, slope = self.term_coefficients(prediction, threshold)
        return intercept[0], slope[0]

    def value(self, terms: Array, weights: Array | None = None) -> float:
        """The metric of some rows, by their terms (K, rows)."""
        means = self.means(terms, weights)
        try:
            with np.errstate(all="ignore"):
                return float(self.of(means))
        except Exception as err:  # one's own metric may fail in any way
            raise SettingsError(
                f"The metric '{self.name}' failed on the means of its terms",
                got=first_line(err, with_type=True),
                hint=f"of= is called with an array of {len(means)} means and gives one number.",
            ) from err

    def means(self, terms: Array, weights: Array | None = None) -> Array:
        """What `of` is a function of."""
        if self.pairs:
            return pair_means(terms, weights)
        return np.asarray(np.average(terms, 1, weights))

    def influence(self, terms: Array, weights: Array | None = None) -> Array:
        """What each row adds to the metric, centred: its first-order influence, (rows,)."""
        means = self.means(terms, weights)
        each = pair_influence(terms, weights) if self.pairs else terms - means[:, None]
        return np.asarray(self.gradient(means) @ each)


def slopes_of(function: Callable[[Array], Any], means: Array) -> Array:
    """The slopes of a function of K means, by central differences of two widths.

    Richardson's combination leaves an error of the fourth order in the width: at most about 1e-10
    of the slope where the function is smooth.
    """
    point = np.asarray(means, dtype=float)
    slopes = np.empty(len(point))
    for k, value in enumerate(point):
        width = WIDTH * max(abs(float(value)), SMALLEST)
        steps = np.zeros((2, len(point)))
        steps[:, k] = width, 2 * width
        near, far = (
            (float(function(point + step)) - float(function(point - step))) / (2 * step[k])
            for step in steps
        )
        slopes[k] = (4 * near - far) / 3
    return slopes


WIDTH = 1e-3  # eps^(1/5), where rounding and the fourth-order error are about equal
SMALLEST = 1e-3  # a mean of 0 has no size of its own: rare events are about this frequent
