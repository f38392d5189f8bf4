"""Truths of the Gaussian world by quadrature.

Write t for the source logit and u for the target logit. Given (W, Z_s) the pair (t, u) is normal
with a known mean and covariance, and given t, u is normal too. So E[p_1 | W, Z_s, t] is a smoothed
logistic function of one number, bins of q are intervals of t, and only (t, u) of the columns in s
have to be integrated over.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from whygap.domains import Array, Domain
from whygap.simulate import quadrature
from whygap.simulate.world import Corners, Subset, SubsetTruth

if TYPE_CHECKING:
    from whygap.simulate.gaussian import GaussianWorld

__all__ = ["Rest", "bin_means", "corners", "covariate_truth", "outcome_truth", "rest_of"]


@dataclass(frozen=True, slots=True)
class Rest:
    """Mean and covariance that the columns outside (W, Z_s) give to (t, u)."""

    mean_t: float
    mean_u: float
    var_t: float
    var_u: float
    cov: float

    @property
    def slope(self) -> float:
        """Regression of u on t."""
        return self.cov / self.var_t

    @property
    def sd_u_given_t(self) -> float:
        """Standard deviation of u given t; exactly 0 when one column is left."""
        left = self.var_u - self.cov * self.slope
        return float(np.sqrt(left)) if left > 1e-12 * self.var_u else 0.0


def rest_of(world: GaussianWorld, domain: Domain, columns: Subset) -> Rest:
    """What the columns *not* listed contribute."""
    others = [j for j in range(len(world.means.source)) if j not in columns]
    mean = np.array([world.means[domain][j] for j in others])
    t = np.array([world.logits.source[j] for j in others])
    u = np.array([world.logits.target[j] for j in others])
    v = world.sd**2
    return Rest(
        float(mean @ t), float(mean @ u), v * float(t @ t), v * float(u @ u), v * float(t @ u)
    )


def corners(world: GaussianWorld) -> Corners:
    """True corner means."""
    nothing = rest_of(world, "source", ())
    everything = rest_of(world, "target", ())
    sd = float(np.sqrt(nothing.var_t))
    w_shift = world.logits.source[0] * (world.means.target[0] - world.means.source[0])
    means = np.array([nothing.mean_t, nothing.mean_t + w_shift, everything.mean_t])
    mean_000, mean_100, mean_110 = world.loss.smoothed_mean(means, sd)
    rule = quadrature.panels(np.zeros(0), world.loss.jump)
    intercept, slope = world.loss.coefficients(rule.nodes)
    risk = _target_risk(world, everything, rule.nodes, 1)
    weights = rule.normal_weights(np.array([everything.mean_t]), sd)[0]
    mean_111 = weights @ (intercept + slope * risk)
    return Corners(float(mean_000), float(mean_100), float(mean_110), float(mean_111))


def _target_risk(world: GaussianWorld, rest: Rest, t: Array, power: int) -> Array:
    """E_1[p_1^power | t] when nothing else is known."""
    mean_u = rest.mean_u + rest.slope * (t - rest.mean_t)
    return quadrature.smoothed_power(rest.sd_u_given_t, power, world.effect_sd)(mean_u)


def covariate_truth(world: GaussianWorld, subset: Subset) -> SubsetTruth:
    """True v_Z(s): given W, t is normal; only its mean depends on which Z are shifted."""
    c, sd = world.logits.source, float(np.sqrt(rest_of(world, "source", (0,)).var_t))
    players = range(1, len(c))
    chosen = {p + 1 for p in subset}
    shift_s = sum(c[j] * world.means["target" if j in chosen else "source"][j] for j in players)
    shift_1 = sum(c[j] * world.means.target[j] for j in players)
    shift_0 = sum(c[j] * world.means.source[j] for j in players)
    nodes, weights = quadrature.normal_rule()
    w = c[0] * (world.means.target[0] + world.sd * nodes)
    mu_s0_w, mu_10_w, mu_00_w = (
        world.loss.smoothed_mean(w + s, sd) for s in (shift_s, shift_1, shift_0)
    )
    return SubsetTruth(
        numerator=float(weights @ (mu_s0_w - mu_10_w) ** 2),
        denominator=float(weights @ (mu_10_w - mu_00_w) ** 2),
    )


@lru_cache(maxsize=512)
def outcome_truth(world: GaussianWorld, subset: Subset, bins: int | None) -> SubsetTruth:
    """True v_Y(s)."""
    denominator = _outcome_denominator(world)
    if len(subset) == len(world.players):
        return SubsetTruth(0.0, denominator)
    cuts = np.zeros(0) if bins is None else world.edges(bins)
    rule = quadrature.panels(cuts, world.loss.jump)
    columns = (0, *(p + 1 for p in subset))
    rest = rest_of(world, "target", columns)
    total = 0.0
    for base_t, base_u, weight in _base_blocks(world, columns):
        spread = _unexplained(world, rest, rule, base_t, base_u, binned=bins is not None)
        total += float(weight @ spread)
    return SubsetTruth(total, denominator)


def _outcome_denominator(world: GaussianWorld) -> float:
    rest = rest_of(world, "target", ())
    rule = quadrature.panels(np.zeros(0), world.loss.jump)
    weights = rule.normal_weights(np.array([rest.mean_t]), float(np.sqrt(rest.var_t)))[0]
    first, second = (_target_risk(world, rest, rule.nodes, power) for power in (1, 2))
    q = world.loss.link(rule.nodes)
    slope = world.loss.coefficients(rule.nodes)[1]
    return float(weights @ (slope**2 * (second - 2 * q * first + q**2)))


def _base_blocks(world: GaussianWorld, columns: Subset) -> list[tuple[Array, Array, Array]]:
    """(t, u) of the known columns on a grid, with target probabilities, in blocks."""
    x = np.array([world.means.target[j] for j in columns])
    t = np.array([world.logits.source[j] for j in columns])
    u = np.array([world.logits.target[j] for j in columns])
    nodes, weights = quadrature.normal_rule(0.3, 7.5)
    sd_t, along = world.sd * np.sqrt(t @ t), (t @ u) / (t @ t)
    left = world.sd**2 * (u @ u) - along**2 * sd_t**2
    sd_u = float(np.sqrt(left)) if left > 1e-12 else 0.0
    nodes_u, weights_u = (nodes, weights) if sd_u else (np.zeros(1), np.ones(1))
    blocks = []
    for node, weight in zip(nodes, weights, strict=True):
        base_t = np.full(len(nodes_u), x @ t + sd_t * node)
        base_u = x @ u + along * sd_t * node + sd_u * nodes_u
        blocks.append((base_t, base_u, weight * weights_u))
    return blocks


def _unexplained(
    world: GaussianWorld,
    rest: Rest,
    rule: quadrature.Panels,
    base_t: Array,
    base_u: Array,
    *,
    binned: bool,
) -> Array:
    """E_1[b^2 (p_1 - m(G))^2 | W, Z_s] at grid points of the known columns."""
    weights = rule.normal_weights(base_t + rest.mean_t, float(np.sqrt(rest.var_t)))
    away = rule.nodes - (base_t + rest.mean_t)[:, None]
    mean_u = (base_u + rest.mean_u)[:, None] + rest.slope * away
    first, second = (
        quadrature.smoothed_power(rest.sd_u_given_t, power, world.effect_sd)(mean_u)
        for power in (1, 2)
    )
    squared_slope = world.loss.coefficients(rule.nodes)[1] ** 2
    if not binned:
        return np.asarray((weights * squared_slope * (second - first**2)).sum(axis=1))
    m = bin_means(rule, weights, first)[:, rule.cell]
    return np.asarray((weights * squared_slope * (second - 2 * m * first + m**2)).sum(axis=1))


def bin_means(rule: quadrature.Panels, weights: Array, values: Array) -> Array:
    """(rows, cells): the weighted mean of `values` over the nodes of each cell."""
    member = (rule.cell[:, None] == np.arange(rule.cell.max() + 1)).astype(float)
    total = weights @ member
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (weights * values) @ member / total
    return np.where(total > 1e-290, means, 0.0)
