"""Truths of the correlated world.

Write t for the model's logit and (x, x') for the two columns of the product. The mean metric at a
row depends on (t, x, x') alone, and with X_S from the target and the rest following as in the
source all columns are jointly normal: Psi(S) is an integral over three numbers. In the target one
more normal number d, what the changed coefficients add to the logit, is averaged over exactly.
These integrals are good to 1e-8 (tests/experiments/worlds/test_correlated.py).

Gains of sets of columns are in `correlated_gains`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import special

from experiments.worlds import correlated_gains, quadrature
from experiments.worlds.answers import (
    Above,
    BudgetTruth,
    GroupTruth,
    PointsTruth,
    RecoverableTruth,
    points_from,
)
from experiments.worlds.correlated import (
    BASELINE,
    LAWS,
    NAMES,
    RISKS,
    CorrelatedWorld,
    Law,
    root,
    scalars,
)
from experiments.worlds.quadrature import LogitLoss
from experiments.worlds.world import Corners, Subset, SubsetTruth
from whygap.domains import Array, ByDomain, Domain
from whygap.tables.design import Player

__all__ = ["CorrelatedAnswers", "corners", "covariate_truth", "transported"]

FAR = 7.0  # standard deviations; 3e-12 lies beyond
PLAYERS = tuple(Player(name, (j,)) for j, name in enumerate(NAMES))


def transported(columns: Sequence[int]) -> Law:
    """X_S from the target, the rest given X_S as in the source."""
    s = sorted(columns)
    r = [j for j in range(len(NAMES)) if j not in s]
    old, new = LAWS
    follow = np.linalg.solve(old.cov[np.ix_(s, s)], old.cov[np.ix_(s, r)]).T
    mean, cov = np.empty_like(new.mean), np.empty_like(new.cov)
    mean[s], mean[r] = new.mean[s], old.mean[r] + follow @ (new.mean[s] - old.mean[s])
    moved = new.cov[np.ix_(s, s)]
    cov[np.ix_(s, s)] = moved
    cov[np.ix_(r, s)] = follow @ moved
    cov[np.ix_(s, r)] = cov[np.ix_(r, s)].T
    left = old.cov[np.ix_(r, r)] - follow @ old.cov[np.ix_(s, r)]
    cov[np.ix_(r, r)] = left + follow @ moved @ follow.T
    return Law(mean, cov)


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """Nodes of (t, x, x') with weights, and the mean there of a power of the domain's risk.

    The mean is over d, the part of the domain's logit that (t, x, x') leave open.
    """

    t: Array
    weights: Array
    p: Array


def nodes_of(law: Law, domain: Domain, above: float = -np.inf, power: int = 1) -> Nodes:
    """Quadrature over (t, x, x') with t above a cut; panels in t part at the model's jump, 0."""
    at_mean, cov = scalars(law, domain)
    sd_t = float(np.sqrt(cov[0, 0]))
    t, weight_t = _panels(at_mean[0], sd_t, above)
    along = cov[0, 1:3] / cov[0, 0]
    z, weight_z = quadrature.normal_rule(0.7, 6.3)
    grid = np.stack([axis.ravel() for axis in np.meshgrid(z, z, indexing="ij")])
    spread = root(cov[1:3, 1:3] - np.outer(along, cov[0, 1:3])) @ grid
    centre = at_mean[1:3, None] + along[:, None] * (t - at_mean[0])
    x, other = centre[:, :, None] + spread[:, None, :]
    onto = np.linalg.pinv(cov[:3, :3], rcond=1e-11, hermitian=True) @ cov[:3, 3]
    left = max(float(cov[3, 3] - onto @ cov[:3, 3]), 0.0)
    d = at_mean[3] + onto[0] * (t - at_mean[0])[:, None]
    d = d + onto[1] * (x - at_mean[1]) + onto[2] * (other - at_mean[2])
    logit = t[:, None] + RISKS[domain].product * x * other + d
    sd = float(np.sqrt(left)) if left > 1e-12 else 0.0
    p = quadrature.smoothed_power(sd, power, 0.0)(logit)
    weights = weight_t[:, None] * np.outer(weight_z, weight_z).ravel()
    return Nodes(np.repeat(t, grid.shape[1]), weights.ravel(), p.ravel())


def _panels(mean: float, sd: float, above: float) -> tuple[Array, Array]:
    """Gauss-Legendre nodes and weights of N(mean, sd^2) above a cut, parted at 0."""
    low, high = max(mean - FAR * sd, above), mean + FAR * sd
    ends = [low, *([0.0] if low < 0 < high else []), high]
    x, w = np.polynomial.legendre.leggauss(24)
    nodes, weights = [], []
    for left, right in itertools.pairwise(ends):
        nodes.append(left + (right - left) * (x + 1) / 2)
        weights.append(w * max(right - left, 0.0) / 2)
    t = np.concatenate(nodes)
    density = np.exp(-(((t - mean) / sd) ** 2) / 2) / (sd * np.sqrt(2 * np.pi))
    return t, np.concatenate(weights) * density


def mean_loss(world: CorrelatedWorld, law: Law, domain: Domain) -> float:
    """The mean metric of rows from this law with this domain's risk."""
    nodes = nodes_of(law, domain)
    intercept, slope = LogitLoss(world.metric).coefficients(nodes.t)
    return float(nodes.weights @ (intercept + slope * nodes.p))


def outcome_change(world: CorrelatedWorld, law: Law, above: float = -np.inf) -> float:
    """The mean of mu_1 - mu_0 over rows from this law, where the model's logit is above a cut."""
    before, after = (nodes_of(law, domain, above) for domain in ("source", "target"))
    slope = LogitLoss(world.metric).coefficients(before.t)[1]
    return float(before.weights @ (slope * (after.p - before.p)))


@lru_cache(maxsize=8)
def corners(world: CorrelatedWorld) -> Corners:
    """True corner means."""
    everything = tuple(range(len(NAMES)))
    starts = ((), BASELINE, everything)
    return Corners(
        *(mean_loss(world, transported(columns), "source") for columns in starts),
        mean_111=mean_loss(world, LAWS.target, "target"),
    )


@lru_cache(maxsize=2048)
def covariate_truth(world: CorrelatedWorld, subset: Subset) -> SubsetTruth:
    """True v_Z(s)."""
    chosen = tuple(BASELINE[-1] + 1 + player for player in subset)
    mu_00_w, mu_s0_w, mu_10_w = (
        _mean_given_w(world, columns) for columns in ((), chosen, tuple(range(2, len(NAMES))))
    )
    weights = _w_rule()[1]
    return SubsetTruth(
        numerator=float(weights @ (mu_s0_w - mu_10_w) ** 2),
        denominator=float(weights @ (mu_10_w - mu_00_w) ** 2),
    )


@lru_cache(maxsize=2048)
def _mean_given_w(world: CorrelatedWorld, columns: Subset) -> Array:
    """E[l | W] at the nodes of W, with W and these columns from the target."""
    law = transported((*BASELINE, *columns))
    first, second = BASELINE
    rows = _w_rule()[0]
    laws = (law.given(first, w[0]).given(second, w[1]) for w in rows)
    return np.array([mean_loss(world, given, "source") for given in laws])


@lru_cache(maxsize=1)
def _w_rule() -> tuple[Array, Array]:
    """Nodes and weights of W in the target: twelve Gauss-Hermite nodes in each direction."""
    x, w = np.polynomial.hermite_e.hermegauss(12)
    grid = np.stack([axis.ravel() for axis in np.meshgrid(x, x, indexing="ij")])
    law = LAWS.target
    spread = np.linalg.cholesky(law.cov[np.ix_(BASELINE, BASELINE)]) @ grid
    return law.mean[list(BASELINE)] + spread.T, np.outer(w, w).ravel() / (2 * np.pi)


@dataclass(frozen=True, slots=True)
class CorrelatedAnswers:
    """Points, groups and budgets of the correlated world."""

    world: CorrelatedWorld

    def transported_mean(self, columns: Sequence[int]) -> float:
        """Psi(S)."""
        return mean_loss(self.world, transported(columns), "source")

    def points(self) -> PointsTruth:
        """Shapley points of both games; 1,024 subsets, a few seconds."""
        return _points(self.world)

    def group(self, group: Above) -> GroupTruth:
        """What the rows above a cut contribute to the outcome part."""
        law = LAWS.target
        if group.column is None:
            cut = float(special.logit(group.cut))
            at_mean, cov = scalars(law, "target")
            share = special.ndtr((at_mean[0] - cut) / np.sqrt(cov[0, 0]))
            return GroupTruth(outcome_change(self.world, law, cut), float(share))
        mean, sd = law.mean[group.column], float(np.sqrt(law.cov[group.column, group.column]))
        z, w = _upper_tail((group.cut - mean) / sd)
        changes = [
            outcome_change(self.world, law.given(group.column, mean + sd * node)) for node in z
        ]
        return GroupTruth(
            float(w @ np.array(changes)), float(special.ndtr((mean - group.cut) / sd))
        )

    def gain(self, domain: Domain, columns: Sequence[int]) -> float:
        """What the score and these columns win in one domain."""
        return correlated_gains.gain(domain, columns)

    def recoverable(self) -> RecoverableTruth:
        """The three budgets, from the kept gains."""
        budgets = correlated_gains.kept().zip(
            ByDomain("source", "target"),
            lambda kept, domain: BudgetTruth(
                kept.recalibration, kept.variables, irreducible(domain)
            ),
        )
        nodes = nodes_of(LAWS.target, "source")
        return RecoverableTruth(
            here=budgets.target,
            on_target_mix=float(nodes.weights @ (special.expit(nodes.t) - nodes.p) ** 2),
            irreducible_on_target_mix=float(nodes.weights @ (nodes.p * (1 - nodes.p))),
            at_home=budgets.source,
        )


@lru_cache(maxsize=8)
def _points(world: CorrelatedWorld) -> PointsTruth:
    first = len(BASELINE)
    psi = CorrelatedAnswers(world).transported_mean
    return points_from(psi, PLAYERS[:first], PLAYERS[first:])


def _upper_tail(cut: float) -> tuple[Array, Array]:
    """Nodes and weights of a standard normal above a cut."""
    low = max(cut, -FAR)
    x, w = np.polynomial.legendre.leggauss(32)
    z = low + (FAR - low) * (x + 1) / 2
    return z, w * (FAR - low) / 2 * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)


def irreducible(domain: Domain) -> float:
    """E_d[p_d (1 - p_d)]."""
    first, second = (nodes_of(LAWS[domain], domain, power=power) for power in (1, 2))
    return float(first.weights @ (first.p - second.p))
