"""The nuisances of the Gaussian world at any rows (the notation is that of its truths)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.worlds import quadrature
from experiments.worlds.gaussian import GaussianWorld
from experiments.worlds.gaussian_truth import bin_means, columns_of, mean_given_w, rest_of
from experiments.worlds.world import Subset
from whygap.domains import DOMAINS, Array, Domain, IntArray

__all__ = ["GaussianNuisances"]


@dataclass(frozen=True, slots=True)
class GaussianNuisances:
    """The true nuisances of one Gaussian world, by name (docs/paper_map.md).

    Every function takes rows (W, Z1, ..., Zp) and returns one value per row; a subset is a tuple
    of player numbers (0-based).
    """

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
        columns = columns_of(subset)
        rest = rest_of(self.world, "source", columns)
        return self.world.loss.smoothed_mean(
            self._part("source", x, columns) + rest.mean_t, rest.sd_t
        )

    def mu_s0_w(self, x: Array, subset: Subset) -> Array:
        """E_1[mu_00_wzs | W]: Z_s from the target, the rest from the source."""
        return mean_given_w(self.world, x[:, 0], columns_of(subset)[1:])

    def pi_w(self, x: Array) -> Array:
        """Density ratio of W."""
        return self._ratio(x, (0,))

    def pi_wz(self, x: Array) -> Array:
        """Density ratio of (W, Z)."""
        return self._ratio(x, tuple(range(x.shape[1])))

    def pi_wzs(self, x: Array, subset: Subset) -> Array:
        """Density ratio of (W, Z_s)."""
        return self._ratio(x, columns_of(subset))

    def m(self, x: Array, subset: Subset, bins: int = 20) -> Array:
        """p_1(Y=1 | W, Z_s, q_bin), in the row's own bin."""
        return self._at_bin(x, self.bin_table(x, subset, bins), bins)

    def h(self, x: Array, subset: Subset, bins: int = 20) -> Array:
        """E_1[b^2 (Y - m) | W, Z_s, q_bin], in the row's own bin."""
        return self._at_bin(x, self.bin_table(x, subset, bins, residual=True), bins)

    def bin_index(self, x: Array, bins: int) -> IntArray:
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
        if len(subset) == len(self.world.players):
            return self.world.risk("target", x)
        columns = columns_of(subset)
        rest = rest_of(self.world, "target", columns)
        base_t, base_u = (self._part(d, x, columns) for d in DOMAINS)
        return rest.risk(self.world.logit("source", x), base_t, base_u)

    def _at_bin(self, x: Array, table: Array, bins: int) -> Array:
        return np.asarray(table[np.arange(len(x)), self.bin_index(x, bins)])

    def _bin_block(
        self, x: Array, subset: Subset, rule: quadrature.Panels, *, residual: bool
    ) -> Array:
        columns = columns_of(subset)
        rest = rest_of(self.world, "target", columns)
        base_t, base_u = (self._part(d, x, columns)[:, None] for d in DOMAINS)
        weights = rule.normal_weights(base_t[:, 0] + rest.mean_t, rest.sd_t)
        risk = rest.risk(rule.nodes, base_t, base_u)
        m = bin_means(rule, weights, risk)
        if not residual:
            return m
        squared_slope = self.world.loss.coefficients(rule.nodes)[1] ** 2
        return bin_means(rule, weights, squared_slope * (risk - m[:, rule.cell]))

    def _part(self, domain: Domain, x: Array, columns: Subset) -> Array:
        """What some columns add to a domain's logit."""
        return np.asarray(x[:, columns] @ np.array(self.world.logits[domain])[list(columns)])

    def _loss(self, x: Array, risk: Array) -> Array:
        intercept, slope = self.world.loss.coefficients(self.world.logit("source", x))
        return intercept + slope * risk

    def _ratio(self, x: Array, columns: Subset) -> Array:
        means = self.world.means.map(lambda mean: np.array([mean[j] for j in columns]))
        part, v = x[:, columns], self.world.sd**2
        far = means.map(lambda mean: ((part - mean) ** 2).sum(axis=1))
        return np.asarray(np.exp((far.source - far.target) / (2 * v)))
