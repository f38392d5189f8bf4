"""Truths of the Gaussian world by quadrature.

Write t for the source logit and u for the target logit. Given (W, Z_s) the pair (t, u) is normal
with a known mean and covariance, and given t, u is normal too. So E[p_1 | W, Z_s, t] is a smoothed
logistic function of one number, bins of q are intervals of t, and only (t, u) of the columns in s
have to be integrated over.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from experiments.worlds import quadrature
from experiments.worlds.world import Corners, SubsetTruth
from whygap.domains import Array, Domain, Subset

if TYPE_CHECKING:
    from experiments.worlds.gaussian import GaussianWorld


@dataclass(frozen=True, slots=True)
class Rest:
    """Mean and covariance that the columns outside (W, Z_s) give to (t, u)."""

    mean_t: float
    mean_u: float
    var_t: float
    var_u: float
    cov: float
    effect_sd: float

    @property
    def sd_t(self) -> float:
        """Standard deviation of t."""
        return float(np.sqrt(self.var_t))

    @property
    def slope(self) -> float:
        """Regression of u on t."""
        return self.cov / self.var_t

    @property
    def sd_u_given_t(self) -> float:
        """Standard deviation of u given t; exactly 0 when one column is left."""
        left = self.var_u - self.cov * self.slope
        return float(np.sqrt(left)) if left > 1e-12 * self.var_u else 0.0  # but for rounding

    def risk(
        self, t: Array, base_t: Array | float = 0.0, base_u: Array | float = 0.0, power: int = 1
    ) -> Array:
        """E_1[p_1^power | t], where the known columns give `base_t` and `base_u`."""
        mean_u = base_u + self.mean_u + self.slope * (t - base_t - self.mean_t)
        return quadrature.smoothed_power(self.sd_u_given_t, power, self.effect_sd)(mean_u)


def rest_of(world: GaussianWorld, domain: Domain, columns: Collection[int]) -> Rest:
    """What the columns *not* listed contribute."""
    others = [j for j in range(len(world.means.source)) if j not in columns]
    mean, t, u = (
        np.array(full)[others]
        for full in (world.means[domain], world.logits.source, world.logits.target)
    )
    var_t, var_u, cov = (world.sd**2 * float(a @ b) for a, b in ((t, t), (u, u), (t, u)))
    return Rest(float(mean @ t), float(mean @ u), var_t, var_u, cov, world.effect_sd)


def mean_t(world: GaussianWorld, from_target: Collection[int]) -> float:
    """E[t] with these columns from the target and the others from the source."""
    return sum(
        c * world.means["target" if j in from_target else "source"][j]
        for j, c in enumerate(world.logits.source)
    )


def mean_given_w(world: GaussianWorld, w: Array, from_target: Collection[int]) -> Array:
    """mu_s0_w: E[l | W] with these columns of Z from the target and the rest from the source."""
    c = world.logits.source[0]
    centre = mean_t(world, from_target) + c * (w - world.means.source[0])
    return world.loss.smoothed_mean(centre, rest_of(world, "source", (0,)).sd_t)


def corners(world: GaussianWorld) -> Corners:
    """True corner means."""
    everything = rest_of(world, "target", ())
    shifted = [(), (0,), range(len(world.names))]
    centres = np.array([mean_t(world, columns) for columns in shifted])
    mean_000, mean_100, mean_110 = world.loss.smoothed_mean(centres, everything.sd_t)
    rule = quadrature.panels(np.zeros(0), world.loss.jump)
    intercept, slope = world.loss.coefficients(rule.nodes)
    weights = rule.normal_weights(np.array([everything.mean_t]), everything.sd_t)[0]
    mean_111 = weights @ (intercept + slope * everything.risk(rule.nodes))
    return Corners(float(mean_000), float(mean_100), float(mean_110), float(mean_111))


def covariate_truth(world: GaussianWorld, subset: Subset) -> SubsetTruth:
    """True v_Z(s): given W, t is normal; only its mean depends on which Z are shifted."""
    nodes, weights = quadrature.normal_rule()
    w = world.means.target[0] + world.sd * nodes
    mu_s0_w, mu_10_w, mu_00_w = (
        mean_given_w(world, w, columns)
        for columns in ([p + 1 for p in subset], range(1, len(world.names)), ())
    )
    return SubsetTruth(
        numerator=float(weights @ (mu_s0_w - mu_10_w) ** 2),
        denominator=float(weights @ (mu_10_w - mu_00_w) ** 2),
    )


@lru_cache(maxsize=512)
def outcome_truth(world: GaussianWorld, subset: Subset, bins: int | None) -> SubsetTruth:
    """True v_Y(s): E_1[b^2 (p_1 - m(G))^2] over what the columns of s give to (t, u)."""
    denominator = _outcome_denominator(world)
    if len(subset) == len(world.players):
        return SubsetTruth(0.0, denominator)
    rule = quadrature.panels(np.zeros(0) if bins is None else world.edges(bins), world.loss.jump)
    rest = rest_of(world, "target", columns_of(subset))
    base_t, base_u, mass = _known_grid(world, columns_of(subset))
    weights = rule.normal_weights(base_t + rest.mean_t, rest.sd_t)
    first, second = (
        rest.risk(rule.nodes, base_t[:, None], base_u[:, None], power) for power in (1, 2)
    )
    m = first if bins is None else bin_means(rule, weights, first)[:, rule.cell]
    squared_slope = world.loss.coefficients(rule.nodes)[1] ** 2
    spread = weights * squared_slope * (second - 2 * m * first + m**2)
    return SubsetTruth(float(mass @ spread.sum(axis=1)), denominator)


def _outcome_denominator(world: GaussianWorld) -> float:
    rest = rest_of(world, "target", ())
    rule = quadrature.panels(np.zeros(0), world.loss.jump)
    weights = rule.normal_weights(np.array([rest.mean_t]), rest.sd_t)[0]
    first, second = (rest.risk(rule.nodes, power=power) for power in (1, 2))
    q = world.loss.link(rule.nodes)
    slope = world.loss.coefficients(rule.nodes)[1]
    return float(weights @ (slope**2 * (second - 2 * q * first + q**2)))


def _known_grid(world: GaussianWorld, columns: Subset) -> tuple[Array, Array, Array]:
    """(t, u) that the known columns give, on a grid, and target probabilities."""
    x, t, u = (
        np.array(full)[list(columns)]
        for full in (world.means.target, world.logits.source, world.logits.target)
    )
    nodes, weights = quadrature.normal_rule(0.3, 7.5)
    sd_t, along = world.sd * np.sqrt(t @ t), (t @ u) / (t @ t)
    left = world.sd**2 * (u @ u) - along**2 * sd_t**2
    apart, mass = (nodes, weights) if left > 1e-12 else (np.zeros(1), np.ones(1))
    first, second = (axis.ravel() for axis in np.meshgrid(nodes, apart, indexing="ij"))
    base_u = x @ u + along * sd_t * first + np.sqrt(max(left, 0.0)) * second
    return x @ t + sd_t * first, base_u, np.outer(weights, mass).ravel()


def bin_means(rule: quadrature.Panels, weights: Array, values: Array) -> Array:
    """(rows, cells): the weighted mean of `values` over the nodes of each cell; 0 out of reach."""
    member = (rule.cell[:, None] == np.arange(rule.cell.max() + 1)).astype(float)
    total = weights @ member
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (weights * values) @ member / total
    return np.where(total > 1e-290, means, 0.0)


def columns_of(subset: Subset) -> Subset:
    """Column numbers of W and of these players."""
    return (0, *(p + 1 for p in subset))
