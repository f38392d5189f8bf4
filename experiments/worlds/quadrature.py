"""One-dimensional rules: normal averages, panels between cuts, smoothed logistic functions.

`LogitLoss` is the metric as a function of the source logit, for worlds whose model that is.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import interpolate, special

from whygap._metrics import Metric, metric_of
from whygap.domains import Array, IntArray

__all__ = ["LogitLoss", "Panels", "normal_rule", "panels", "smoothed_power"]

REACH = 33.0  # logits beyond this carry no mass in any world here
Function = Callable[[Array], Array]


@lru_cache(maxsize=8)
def normal_rule(step: float = 0.25, reach: float = 8.5) -> tuple[Array, Array]:
    """Nodes and weights of the trapezoid rule for a standard normal (spectrally accurate)."""
    nodes = np.arange(-reach, reach + step / 2, step)
    weights = np.exp(-(nodes**2) / 2)
    return nodes, weights / weights.sum()


@lru_cache(maxsize=64)
def smoothed_power(sd: float, power: int, effect_sd: float) -> Function:
    """The function v -> E[link(v + sd N)^power], as a spline; link averages a random effect."""
    link = smoothed_logistic(effect_sd)
    return _smoothed(lambda v: link(v) ** power, sd, 2 * REACH)


@lru_cache(maxsize=8)
def smoothed_logistic(effect_sd: float) -> Function:
    """The function t -> E[expit(t + effect_sd N)]."""
    return _smoothed(special.expit, effect_sd, 3 * REACH)


def _smoothed(function: Function, sd: float, reach: float) -> Function:
    """The function v -> E[function(v + sd N)]."""
    if sd == 0:
        return function
    rule = list(zip(*normal_rule(), strict=True))

    def average(v: Array) -> Array:
        return np.asarray(sum(weight * function(v + sd * node) for node, weight in rule))

    return _tabulated(average, reach)


def _tabulated(function: Function, reach: float = 24.0, step: float = 0.02) -> Function:
    """A smooth function of one number, evaluated once on a grid and splined: errors below 1e-9."""
    grid = np.arange(-reach, reach + step / 2, step)
    spline = interpolate.CubicSpline(grid, function(grid))
    return lambda v: np.asarray(spline(np.clip(v, grid[0], grid[-1])))


@dataclass(frozen=True, slots=True, eq=False)
class Panels:
    """Gauss-Legendre nodes between cuts: `cell` says between which cuts a node lies."""

    nodes: Array
    weights: Array
    cell: IntArray

    def normal_weights(self, mean: Array, sd: float) -> Array:
        """(len(mean), nodes): integration weights under N(mean, sd^2)."""
        z = (self.nodes - np.asarray(mean)[:, None]) / sd
        return np.asarray(np.exp(-(z**2) / 2) * (self.weights / (sd * np.sqrt(2 * np.pi))))


def panels(cuts: Array, extra: float, width: float = 0.75, order: int = 8) -> Panels:
    """Panels on [-REACH, REACH] that respect the cuts and one further jump at `extra`."""
    ends = np.concatenate([[-REACH], cuts, [REACH]])
    x, w = np.polynomial.legendre.leggauss(order)
    nodes, weights, cell = [], [], []
    for number, (low, high) in enumerate(itertools.pairwise(ends)):
        inner = [low, *([extra] if low < extra < high else []), high]
        for left, right in itertools.pairwise(inner):
            pieces = max(1, int(np.ceil((right - left) / width)))
            borders = np.linspace(left, right, pieces + 1)
            half, middle = np.diff(borders) / 2, (borders[:-1] + borders[1:]) / 2
            nodes.append((middle[:, None] + half[:, None] * x).ravel())
            weights.append((half[:, None] * w).ravel())
            cell.append(np.full(nodes[-1].shape, number))
    return Panels(np.concatenate(nodes), np.concatenate(weights), np.concatenate(cell))


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
        """What the model says, never quite 0 or 1: log loss is finite everywhere."""
        return np.asarray(np.clip(special.expit(t), 1e-12, 1 - 1e-12))

    def link(self, t: Array) -> Array:
        """Source risk."""
        return smoothed_logistic(self.effect_sd)(t)

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
        return self.mean(mean_t) if sd_t == 0 else _smoothed_loss(self, sd_t)(mean_t)


@lru_cache(maxsize=64)
def _smoothed_loss(loss: LogitLoss, sd_t: float) -> Function:
    rule = panels(np.zeros(0), loss.jump)
    values = loss.mean(rule.nodes)
    return _tabulated(lambda mean_t: rule.normal_weights(mean_t, sd_t) @ values)
