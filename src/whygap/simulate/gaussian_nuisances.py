"""True nuisances of the Gaussian world at any rows.

Every function takes rows (W, Z1, ..., Zp) and returns one value per row; a subset is a tuple of
player numbers (0-based).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whygap.domains import Array
from whygap.simulate import gaussian_truth, quadrature
from whygap.simulate.gaussian import GaussianWorld
from whygap.simulate.world import Subset

__all__ = ["GaussianNuisances"]


@dataclass(frozen=True, slots=True)
class GaussianNuisances:
    """The true nuisances of one Gaussian world, by name (docs/paper_map.md)."""

    world: GaussianWorld

    def mu_0_wz(self, x: Array) -> Array:
        """E_0[l | W, Z]."""
        return self._loss(x, self.world.risk("source", x))

    def mu_1_wz(self, x: Array) -> Array:
        """E_1[l | W, Z]."""
        return self._loss(x, self.world.risk("target", x))

    def mu_00_w(self, x: Array) -> Array:
        """E_0[l | W]."""
        return self.mu_00_wzs(x, ())

    def mu_10_w(self, x: Array) -> Array:
        """E_1[mu_0_wz | W]."""
        return self.mu_s0_w(x, tuple(range(len(self.world.players))))

    def mu_00_wzs(self, x: Array, subset: Subset) -> Array:
        """E_0[l | W, Z_s]."""
        columns = _columns(subset)
        rest = gaussian_truth.rest_of(self.world, "source", columns)
        known = x[:, columns] @ np.array([self.world.logits.source[j] for j in columns])
        return self.world.loss.smoothed_mean(
            known + rest.mean_t, float(np.sqrt(max(rest.var_t, 0.0)))
        )

    def mu_s0_w(self, x: Array, subset: Subset) -> Array:
        """E_1[mu_00_wzs | W]: Z_s from the target, the rest from the source."""
        chosen, means, c = _columns(subset), self.world.means, self.world.logits.source
        shift = sum(
            c[j] * means["target" if j in chosen else "source"][j] for j in range(1, len(c))
        )
        sd = float(np.sqrt(gaussian_truth.rest_of(self.world, "source", (0,)).var_t))
        return self.world.loss.smoothed_mean(c[0] * x[:, 0] + shift, sd)

    def pi_w(self, x: Array) -> Array:
        """Density ratio of W."""
        return self._ratio(x, (0,))

    def pi_wz(self, x: Array) -> Array:
        """Density ratio of (W, Z)."""
        return self._ratio(x, tuple(range(x.shape[1])))

    def pi_wzs(self, x: Array, subset: Subset) -> Array:
        """Density ratio of (W, Z_s)."""
        return self._ratio(x, _columns(subset))

    def m(self, x: Array, subset: Subset, bins: int = 20) -> Array:
        """p_1(Y=1 | W, Z_s, q_bin), in the row's own bin."""
        return self._at_bin(x, self.bin_table(x, subset, bins), bins)

    def h(self, x: Array, subset: Subset, bins: int = 20) -> Array:
        """E_1[b^2 (Y - m) | W, Z_s, q_bin], in the row's own bin."""
        return self._at_bin(x, self.bin_table(x, subset, bins, residual=True), bins)

    def bin_index(self, x: Array, bins: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Number 0..B of the row's bin of the source risk."""
        return np.floor(self.world.risk("source", x) * bins + 0.5).astype(np.int64)

    def bin_table(
        self, x: Array, subset: Subset, bins: int = 20, *, residual: bool = False
    ) -> Array:
        """(rows, bins + 1): m, or h if `residual`, in every bin; 0 in bins out of reach."""
        if len(subset) == len(self.world.players):
            known = np.zeros(len(x)) if residual else self.world.risk("target", x)
            return np.repeat(known[:, None], bins + 1, axis=1)
        rule = quadrature.panels(self.world.edges(bins), self.world.loss.jump)
        blocks = np.array_split(np.arange(len(x)), max(1, len(x) // 500))
        return np.concatenate(
            [self._bin_block(x[rows], subset, rule, residual=residual) for rows in blocks]
        )

    def m_smooth(self, x: Array, subset: Subset) -> Array:
        """p_1(Y=1 | W, Z_s, q)."""
        base_t, base_u, rest = self._known(x, subset)
        if rest.var_t == 0:
            return self.world.risk("target", x)
        away = self.world.logit("source", x) - base_t - rest.mean_t
        mean_u = base_u + rest.mean_u + rest.slope * away
        smooth = quadrature.smoothed_power(rest.sd_u_given_t, 1, self.world.effect_sd)
        return smooth(mean_u)

    def _at_bin(self, x: Array, table: Array, bins: int) -> Array:
        return np.asarray(table[np.arange(len(x)), self.bin_index(x, bins)])

    def _bin_block(
        self, x: Array, subset: Subset, rule: quadrature.Panels, *, residual: bool
    ) -> Array:
        base_t, base_u, rest = self._known(x, subset)
        centre = base_t + rest.mean_t
        weights = rule.normal_weights(centre, float(np.sqrt(rest.var_t)))
        mean_u = (base_u + rest.mean_u)[:, None] + rest.slope * (rule.nodes - centre[:, None])
        risk = quadrature.smoothed_power(rest.sd_u_given_t, 1, self.world.effect_sd)(mean_u)
        m = gaussian_truth.bin_means(rule, weights, risk)
        if not residual:
            return m
        squared_slope = self.world.loss.coefficients(rule.nodes)[1] ** 2
        return gaussian_truth.bin_means(rule, weights, squared_slope * (risk - m[:, rule.cell]))

    def _known(self, x: Array, subset: Subset) -> tuple[Array, Array, gaussian_truth.Rest]:
        columns = _columns(subset)
        logits = self.world.logits
        base_t = x[:, columns] @ np.array([logits.source[j] for j in columns])
        base_u = x[:, columns] @ np.array([logits.target[j] for j in columns])
        return base_t, base_u, gaussian_truth.rest_of(self.world, "target", columns)

    def _loss(self, x: Array, risk: Array) -> Array:
        intercept, slope = self.world.loss.coefficients(self.world.logit("source", x))
        return intercept + slope * risk

    def _ratio(self, x: Array, columns: Subset) -> Array:
        means = self.world.means.map(lambda mean: np.array([mean[j] for j in columns]))
        part, v = x[:, columns], self.world.sd**2
        far = means.map(lambda mean: ((part - mean) ** 2).sum(axis=1))
        return np.asarray(np.exp((far.source - far.target) / (2 * v)))


def _columns(subset: Subset) -> Subset:
    return (0, *(p + 1 for p in subset))
