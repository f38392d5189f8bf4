"""The metric as a function of the source logit, for worlds whose model is the source logit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import special

from whygap._metrics import Metric, metric_of
from whygap.domains import Array
from whygap.simulate import quadrature

__all__ = ["LogitLoss"]

LOWEST = 1e-12  # predictions stay this far from 0 and 1, so that log loss is finite everywhere


@dataclass(frozen=True, slots=True)
class LogitLoss:
    """Prediction expit(t), risk link(t): what the metric is worth at a source logit t.

    `effect_sd` is the standard deviation of a normal random effect averaged over in the risk.
    """

    metric: str | Metric
    threshold: float = 0.5
    effect_sd: float = 0.0

    @property
    def jump(self) -> float:
        """The logit at which a label changes."""
        return float(special.logit(self.threshold))

    def prediction(self, t: Array) -> Array:
        """What the model says."""
        return np.asarray(np.clip(special.expit(t), LOWEST, 1 - LOWEST))

    def link(self, t: Array) -> Array:
        """Source risk."""
        return quadrature.smoothed_logistic(self.effect_sd)(t)

    def coefficients(self, t: Array) -> tuple[Array, Array]:
        """Intercept a and slope b of the metric."""
        flat = self.prediction(np.ravel(t))
        intercept, slope = metric_of(self.metric).coefficients(flat, self.threshold)
        return intercept.reshape(np.shape(t)), slope.reshape(np.shape(t))

    def mean(self, t: Array) -> Array:
        """Intercept plus slope times link(t): the mean loss at t in the source domain."""
        intercept, slope = self.coefficients(t)
        return intercept + slope * self.link(t)

    def smoothed_mean(self, mean_t: Array, sd_t: float) -> Array:
        """The mean loss for t ~ N(mean_t, sd_t^2), at many means."""
        return self.mean(mean_t) if sd_t == 0 else _smoothed(self, sd_t)(mean_t)


@lru_cache(maxsize=64)
def _smoothed(loss: LogitLoss, sd_t: float) -> Callable[[Array], Array]:
    rule = quadrature.panels(np.zeros(0), loss.jump)
    values = loss.mean(rule.nodes)
    return quadrature.tabulated(lambda mean_t: rule.normal_weights(mean_t, sd_t) @ values)
