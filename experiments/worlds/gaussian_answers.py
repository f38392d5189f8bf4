"""Points, where and recoverable in the Gaussian world, by quadrature in one or two dimensions.

Write t for the source logit and u for the target logit. Columns are independent, so with X_S from
the target and the rest from the source t is normal, and only its mean depends on S. Given t and
some columns, u is normal, so E_1[Y | f, X_s] is a smoothed logistic function of one number v, the
mean of u given (t, X_s), and (t, v) are jointly normal. Errors are below 1e-7 (see the tests).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from experiments.worlds import quadrature
from experiments.worlds.answers import (
    Above,
    BudgetTruth,
    GroupTruth,
    PointsTruth,
    RecoverableTruth,
    budget_from,
    points_from,
)
from experiments.worlds.gaussian import GaussianWorld
from experiments.worlds.gaussian_truth import mean_t, rest_of
from whygap.domains import Array, Domain
from whygap.tables.design import Player

__all__ = ["GaussianAnswers"]

FAR = 8.5  # standard deviations; nothing lies beyond


@dataclass(frozen=True, slots=True)
class GaussianAnswers:
    """The answers of one Gaussian world; column 0 is W, the others are the players."""

    world: GaussianWorld

    @property
    def players(self) -> tuple[Player, ...]:
        """All columns, W first, each on its own."""
        return tuple(Player(name, (j,)) for j, name in enumerate(self.world.names))

    # -- points ----------------------------------------------------------------------------------

    def transported_mean(self, columns: Sequence[int]) -> float:
        """Psi(S): the mean of t is that of a mixed row."""
        centre, sd = mean_t(self.world, columns), rest_of(self.world, "source", ()).sd_t
        return float(self.world.loss.smoothed_mean(np.array([centre]), sd)[0])

    def points(self) -> PointsTruth:
        """Shapley points of both games."""
        return points_from(self.transported_mean, self.players[:1], self.players[1:])

    # -- where -----------------------------------------------------------------------------------

    def group(self, group: Above) -> GroupTruth:
        """What the rows above a cut contribute to the outcome part."""
        if group.column is None:
            return self._score_group(float(special.logit(group.cut)))
        mean, sd = self.world.means.target[group.column], self.world.sd
        x, weights = _upper_tail(mean, sd, group.cut)
        return GroupTruth(
            contribution=float(weights @ self._change_given(group.column, x)),
            target_share=float(special.ndtr((mean - group.cut) / sd)),
        )

    def _change_given(self, column: int, x: Array) -> Array:
        """E_1[mu_1 - mu_0 | X_j = x]."""
        rest = rest_of(self.world, "target", (column,))
        known = self.world.logits.map(lambda logit: logit[column] * x[:, None])
        rule = quadrature.panels(np.zeros(0), self.world.loss.jump)
        weights = rule.normal_weights(known.source[:, 0] + rest.mean_t, rest.sd_t)
        p_1 = rest.risk(rule.nodes, known.source, known.target)
        slope = self.world.loss.coefficients(rule.nodes)[1]
        change = slope * (p_1 - self.world.loss.link(rule.nodes))
        return np.asarray((weights * change).sum(axis=1))

    def _score_group(self, cut: float) -> GroupTruth:
        """The rows whose source logit is above the cut."""
        all_of_it = rest_of(self.world, "target", ())
        sd = all_of_it.sd_t
        rule = quadrature.panels(np.array([cut]), self.world.loss.jump)
        weights = rule.normal_weights(np.array([all_of_it.mean_t]), sd)[0]
        slope = self.world.loss.coefficients(rule.nodes)[1]
        change = slope * (all_of_it.risk(rule.nodes) - self.world.loss.link(rule.nodes))
        return GroupTruth(
            contribution=float(weights @ (change * (rule.cell == 1))),
            target_share=float(special.ndtr((all_of_it.mean_t - cut) / sd)),
        )

    # -- recoverable -----------------------------------------------------------------------------

    def gain(self, domain: Domain, columns: Sequence[int]) -> float:
        """E_d[(m_s - f)^2], which is E_d[(Y - f)^2] - E_d[(Y - m_s)^2]."""
        t, v, weights, left_sd = self._score_and_mean(domain, columns)
        smooth = quadrature.smoothed_power(left_sd, 1, self.world.effect_sd)
        return float(weights @ (smooth(v) - self.world.loss.prediction(t)) ** 2)

    def _score_and_mean(
        self, domain: Domain, columns: Sequence[int]
    ) -> tuple[Array, Array, Array, float]:
        """Nodes of (t, v), v = E_d[logit risk | t, X_s], and the standard deviation left.

        v is the projection of the domain's logit risk on t and the columns: cov(v, t) is that of
        the logit itself, var(v) what they explain of it.
        """
        world, variance = self.world, self.world.sd**2
        c, r = np.array(world.logits.source), np.array(world.logits[domain])
        mean, others = np.array(world.means[domain]), [j for j in range(len(c)) if j not in columns]
        left = float(r[others] @ r[others])
        if others:
            left -= float(r[others] @ c[others]) ** 2 / float(c[others] @ c[others])
        left = left if left > 1e-12 * float(r @ r) else 0.0
        sd_t, along = world.sd * np.sqrt(c @ c), float(c @ r) / float(c @ c)
        apart = float(np.sqrt(max(variance * (r @ r - left) - (along * sd_t) ** 2, 0.0)))
        nodes, weights = quadrature.normal_rule(0.2)
        first, second = (axis.ravel() for axis in np.meshgrid(nodes, nodes, indexing="ij"))
        t = c @ mean + sd_t * first
        v = r @ mean + along * sd_t * first + apart * second
        return t, v, np.outer(weights, weights).ravel(), float(np.sqrt(variance * left))

    def irreducible(self, domain: Domain) -> float:
        """E_d[p_d (1 - p_d)]."""
        mean = float(np.array(self.world.logits[domain]) @ np.array(self.world.means[domain]))
        sd = self.world.sd * float(np.linalg.norm(self.world.logits[domain]))
        first, second = (
            quadrature.smoothed_power(sd, power, self.world.effect_sd)(np.array(mean))
            for power in (1, 2)
        )
        return float(first - second)

    def budget(self, domain: Domain) -> BudgetTruth:
        """What can be won in one domain."""
        best = self.irreducible(domain)
        return budget_from(lambda columns: self.gain(domain, columns), self.players, best)

    def recoverable(self) -> RecoverableTruth:
        """The three budgets; without a random effect the model is the source risk itself."""
        t, _, weights, _ = self._score_and_mean("target", ())
        p_0 = self.world.loss.link(t)
        return RecoverableTruth(
            here=self.budget("target"),
            on_target_mix=float(weights @ (self.world.loss.prediction(t) - p_0) ** 2),
            irreducible_on_target_mix=float(weights @ (p_0 * (1 - p_0))),
            at_home=self.budget("source"),
        )


def _upper_tail(mean: float, sd: float, cut: float) -> tuple[Array, Array]:
    """Gauss-Legendre nodes and weights of N(mean, sd^2) above the cut."""
    low, high = max((cut - mean) / sd, -FAR), FAR
    x, w = np.polynomial.legendre.leggauss(100)
    z = low + (high - low) * (x + 1) / 2
    weights = w * (high - low) / 2 * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    return mean + sd * z, weights
