"""Four covariates with a known causal graph; only mechanisms of covariates shift.

`independent`: no edge between covariates. Then a covariate's mechanism is its distribution, and
moving the mechanisms of some covariates is moving these covariates: points, which know of no graph,
and attributions to mechanisms, which need it, ask for the same numbers. `chain`: x1 -> x2 -> x3,
and the two differ: points give x2 what it tells of x1, too. Each has its own truth here.

All covariates are normal and the risk is the same in both domains. Truths are means over many rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from scipy import special

from experiments.worlds.world import drawn_outcomes, model_design, shares
from whygap.domains import Array, ByDomain, Domain
from whygap.tables.design import Column, Design, Player

__all__ = ["NAMES", "Graph", "GraphWorld"]

Graph = Literal["independent", "chain"]
NAMES = ("x1", "x2", "x3", "x4")
FOLLOWS = {"independent": (0.0, 0.0, 0.0, 0.0), "chain": (0.0, 0.7, 0.6, 0.0)}  # slope on the last
MEANS = ByDomain((0.0, 0.0, 0.0, 0.0), (0.7, -0.5, 0.4, 0.0))  # intercepts of the mechanisms
SPREADS = ByDomain((1.0, 1.0, 1.0, 1.0), (1.0, 1.0, 1.3, 1.0))
MANY = 400_000  # rows of a truth: good to 2e-4, a thirtieth of an estimate's error


@dataclass(frozen=True, slots=True)
class GraphWorld:
    """The world of one graph, scored by accuracy."""

    graph: Graph

    def risk(self, x: Array) -> Array:
        """p(Y=1 | x), the same in both domains."""
        logit = 1.2 * x[:, 0] - 0.8 * x[:, 1] + 0.6 * x[:, 2] + 0.5 * x[:, 0] * x[:, 1]
        return np.asarray(special.expit(logit))

    def model(self, x: Array) -> Array:
        """The main effects."""
        return np.asarray(special.expit(1.2 * x[:, 0] - 0.8 * x[:, 1] + 0.6 * x[:, 2]))

    def features(self, domains: Sequence[Domain], noise: Array) -> Array:
        """Covariates whose mechanisms come from these domains, one each, from standard noise."""
        x = np.empty_like(noise)
        for k, domain in enumerate(domains):
            follows = FOLLOWS[self.graph][k] * x[:, k - 1] if k else 0.0
            x[:, k] = MEANS[domain][k] + SPREADS[domain][k] * noise[:, k] + follows
        return x

    def draw(self, rows: ByDomain[int], rng: np.random.Generator) -> Design:
        """Independent rows of both domains; W is empty."""
        x = ByDomain(
            self.features(["source"] * 4, rng.standard_normal((rows.source, 4))),
            self.features(["target"] * 4, rng.standard_normal((rows.target, 4))),
        )
        columns = tuple(Column(name, "numeric") for name in NAMES)
        outcome = drawn_outcomes(x.map(self.risk), rng)
        design = model_design(x, outcome, columns, self.model, "accuracy")
        return _without_baseline(design)

    def mechanisms(self) -> dict[str, float]:
        """Shapley attributions of the change in accuracy to the covariates' mechanisms."""
        return _shapley(lambda moved: _mean_of_mechanisms(self, moved))

    def points(self) -> dict[str, float]:
        """Shapley points: covariates move, the others follow as in the source."""
        return _shapley(lambda moved: _mean_of_moved(self, moved))


def _without_baseline(design: Design) -> Design:
    from dataclasses import replace

    players = tuple(Player(name, (k,)) for k, name in enumerate(NAMES))
    return replace(design, baseline=(), players=players)


def _shapley(value: Callable[[tuple[int, ...]], float]) -> dict[str, float]:
    return dict(zip(NAMES, shares(value, len(NAMES)), strict=True))


@lru_cache(maxsize=64)
def _mean_of_mechanisms(world: GraphWorld, moved: tuple[int, ...]) -> float:
    domains: list[Domain] = ["target" if k in moved else "source" for k in range(len(NAMES))]
    return _accuracy(world, world.features(domains, _noise()))


@lru_cache(maxsize=64)
def _mean_of_moved(world: GraphWorld, moved: tuple[int, ...]) -> float:
    """Rows of the target in `moved`; the rest drawn given them as in the source (both normal)."""
    chosen, rest = list(moved), [k for k in range(len(NAMES)) if k not in moved]
    x = world.features(["target"] * 4, _noise())
    cov = _source_covariance(world)
    along = np.linalg.solve(cov[np.ix_(chosen, chosen)], cov[np.ix_(chosen, rest)])
    left = cov[np.ix_(rest, rest)] - cov[np.ix_(rest, chosen)] @ along
    fresh = np.random.default_rng(1).standard_normal((len(x), len(rest)))
    x[:, rest] = x[:, chosen] @ along + fresh @ np.linalg.cholesky(left).T  # source means are 0
    return _accuracy(world, x)


def _source_covariance(world: GraphWorld) -> Array:
    """Of x = A noise: A is what the mechanisms do to one unit of each noise."""
    a = world.features(["source"] * 4, np.eye(4))
    return np.asarray(a.T @ a)


def _accuracy(world: GraphWorld, x: Array) -> float:
    p = world.risk(x)
    return float(np.mean(np.where(world.model(x) >= 0.5, p, 1 - p)))


@lru_cache(maxsize=1)
def _noise() -> Array:
    return np.random.default_rng(0).standard_normal((MANY, len(NAMES)))
