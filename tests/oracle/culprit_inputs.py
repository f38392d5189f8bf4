"""Inputs of points, where and recoverable from a world's true nuisances, any of them perturbed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from neighbours import random_direction
from oracle_inputs import mean_influence, numerical_derivative

from experiments.worlds import finite
from experiments.worlds.atoms import Atoms
from experiments.worlds.atoms_answers import AtomsAnswers
from experiments.worlds.exact import at_rows, pi_wz, ratio, table_of
from whygap.domains import Array, ByDomain, Domain
from whygap.equations import points, recoverable, where
from whygap.equations.points import TransportedValues
from whygap.equations.recoverable import DomainValues, TargetMixValues
from whygap.equations.where import WhereValues
from whygap.estimate import Estimate, Sample

METRICS = ("accuracy", "brier", "log_loss", "random")
SEEDS = (3, 8)
LEVELS = np.array([0.15, 0.4, 0.7])  # few predictions, so that atoms share one


def culprit_world(metric: str, seed: int) -> Atoms:
    """Columns W, Z1, Z2, Z3 with the first two as W; the model has three scores."""
    world = finite.random_world(seed, w_levels=3, z_levels=(2, 3, 2), metric=metric)
    level = np.random.default_rng(seed).integers(len(LEVELS), size=len(world.prediction))
    return replace(world, baseline=(0, 1), groups=world.groups[1:], prediction=LEVELS[level])


@dataclass(frozen=True)
class CulpritOracle:
    """Equations on the weighted table of a finite world; `shifts` as in `oracle_inputs.Oracle`."""

    world: Atoms
    shifts: dict[str, Array] = field(default_factory=dict)
    sample: Sample | None = None

    @property
    def answers(self) -> AtomsAnswers:
        return AtomsAnswers(self.world)

    def rows(self, name: str, true: Array, twin: str = "") -> ByDomain[Array]:
        moved = true
        for key in {name, name + twin}:
            moved = moved + self.shifts.get(key, 0.0)
        return at_rows(moved)

    def measured(self) -> Sample:
        return self.sample or table_of(self.world).sample()

    def transported_mean(self, columns: Sequence[int]) -> Estimate:
        return points.transported_mean(
            TransportedValues(
                sample=self.measured(),
                loss=table_of(self.world).loss.source,
                mu_s=self.rows("mu_s", self.answers.mu_s(columns)),
                pi_s=self.rows("pi_s", ratio(self.world, columns)).source,
            )
        )

    def where_values(self) -> WhereValues:
        n = self.world.nuisances
        return WhereValues(
            sample=self.measured(),
            loss=table_of(self.world).loss,
            mu_0_wz=self.rows("mu_0_wz", n.mu_0_wz),
            pi_wz=self.rows("pi_wz", pi_wz(self.world)).source,
        )

    def contribution(self, mask: Array) -> Estimate:
        return where.contribution(self.where_values(), at_rows(mask))

    def mean_change(self, mask: Array) -> Estimate:
        return where.mean_change(self.where_values(), at_rows(mask))

    def domain_values(self, domain: Domain) -> DomainValues:
        design = table_of(self.world)
        return DomainValues(
            sample=self.measured(),
            domain=domain,
            outcome=design.outcome[domain],
            prediction=design.prediction[domain],
        )

    def twins(self, name: str, true: Array, domain: Domain) -> Array:
        return np.array([[self.rows(name, true, twin)[domain] for twin in ("_A", "_B")]])

    def gain(self, domain: Domain, columns: Sequence[int]) -> Estimate:
        m_s = self.twins("m_s", self.answers.m_s(domain, columns), domain)
        return recoverable.gain(self.domain_values(domain), m_s)

    def irreducible(self, domain: Domain) -> Estimate:
        risk = self.twins("p", self.world.risk[domain], domain)
        return recoverable.irreducible(self.domain_values(domain), risk)

    def squared_error(self, domain: Domain) -> Estimate:
        return recoverable.squared_error(self.domain_values(domain))

    def target_mix_values(self) -> TargetMixValues:
        design = table_of(self.world)
        p_0 = self.world.risk.source
        return TargetMixValues(
            sample=self.measured(),
            outcome=design.outcome.source,
            prediction=design.prediction,
            pi_wz=self.rows("pi_wz", pi_wz(self.world)).source,
            p_0=ByDomain(self.twins("p_0", p_0, "source"), self.twins("p_0", p_0, "target")),
        )

    def on_target_mix(self) -> Estimate:
        return recoverable.on_target_mix(self.target_mix_values())

    def irreducible_on_target_mix(self) -> Estimate:
        return recoverable.irreducible_on_target_mix(self.target_mix_values())


def slope_at_zero(
    world: Atoms, name: str, noise: Array, estimate: Callable[[CulpritOracle], Estimate]
) -> float:
    """First-order effect of moving one nuisance; exact, since estimates are quadratic in it."""
    up, down = (estimate(CulpritOracle(world, {name: h * noise})).value for h in (0.1, -0.1))
    return (up - down) / 0.2


def check_influence(
    estimate: Estimate, functional: Callable[[Atoms], float], world: Atoms, domain: Domain
) -> None:
    """Mean influence under another distribution = derivative of the functional towards it."""
    for seed in (0, 1):
        direction = random_direction(world, np.random.default_rng(seed))
        expected = numerical_derivative(functional, world, direction, domain)
        found = mean_influence(estimate, world, direction, domain)
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-9)
