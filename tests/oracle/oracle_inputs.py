"""Inputs of the equations made from a world's true nuisances, with any of them perturbed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from neighbours import mixed

from experiments.worlds import finite
from experiments.worlds.atoms import Atoms
from experiments.worlds.exact import at_rows, h_of, pi_w, pi_wz, pi_wzs, table_of
from whygap.domains import Array, ByDomain
from whygap.equations import corners, covariate_value, outcome_value
from whygap.equations.corners import AggregateValues
from whygap.equations.covariate_value import CovariateValues
from whygap.equations.outcome_value import OutcomeValues, Reduced
from whygap.estimate import Estimate, Sample

METRICS = ("zero_one", "brier", "log_loss", "random")
BINS = 4  # few, so that groups of one bin hold several cells


def doubled(values: Array) -> Array:
    """One fit as its own twin: (1, 2, rows)."""
    return np.broadcast_to(values, (1, 2, len(values)))


@dataclass(frozen=True)
class Oracle:
    """Equations on the weighted table of a finite world, nuisances true or perturbed.

    `shifts` maps a nuisance's name to what is added to it (one entry per atom). Names ending in
    `_A` or `_B` shift one twin only; plain names shift both.
    """

    world: Atoms
    shifts: dict[str, Array] = field(default_factory=dict)
    sample: Sample | None = None

    def rows(self, name: str, true: Array, twin: str = "") -> ByDomain[Array]:
        moved = true
        for key in {name, name + twin}:
            moved = moved + self.shifts.get(key, 0.0)
        return at_rows(moved)

    def aggregate(self) -> dict[str, Estimate]:
        n, design = self.world.nuisances, table_of(self.world)
        values = AggregateValues(
            sample=self.sample or design.sample(),
            loss=design.loss,
            mu_00_w=self.rows("mu_00_w", n.mu_00_w),
            mu_0_wz=self.rows("mu_0_wz", n.mu_0_wz),
            pi_w=self.rows("pi_w", pi_w(self.world)).source,
            pi_wz=self.rows("pi_wz", pi_wz(self.world)).source,
        )
        names = ("000", "100", "110", "111")
        return {name: getattr(corners, f"mean_{name}")(values) for name in names}

    def twins(self, name: str, true: Array) -> ByDomain[Array]:
        """Twins (1, 2, rows) at the rows of both domains."""
        a, b = (self.rows(name, true, twin) for twin in ("_A", "_B"))
        return a.zip(b, lambda one, two: np.array([[one, two]]))

    def covariate_numerator(self, subset: Sequence[int], sample: Sample | None = None) -> Estimate:
        n, design, s = self.world.nuisances, table_of(self.world), tuple(subset)
        return covariate_value.numerator(
            CovariateValues(
                sample=sample or design.sample(),
                loss=design.loss.source,
                pi_wz=self.rows("pi_wz", pi_wz(self.world)).source,
                pi_wzs=self.rows("pi_wzs", pi_wzs(self.world, s)).source,
                mu_0_wz=self.twins("mu_0_wz", n.mu_0_wz),
                mu_10_w=self.twins("mu_10_w", n.mu_10_w),
                mu_00_wzs=self.twins("mu_00_wzs", n.mu_00_wzs(s)),
                mu_s0_w=self.twins("mu_s0_w", n.mu_s0_w(s)),
            )
        )

    def covariate_value(self, subset: Sequence[int]) -> Estimate:
        sample = table_of(self.world).sample()
        top, bottom = (self.covariate_numerator(s, sample) for s in (subset, ()))
        return 1 - top / bottom

    def outcome_values(self, sample: Sample | None = None) -> OutcomeValues:
        design = table_of(self.world)
        return OutcomeValues(
            sample=sample or design.sample(),
            outcome=design.outcome,
            slope=design.slope,
            pi_wz=self.rows("pi_wz", pi_wz(self.world)).source,
            p_0=self.twins("p_0", self.world.risk.source),
            p_1=self.twins("p_1", self.world.risk.target),
        )

    def outcome_denominator(self) -> Estimate:
        return outcome_value.denominator(self.outcome_values())

    def outcome_numerator(
        self, subset: Sequence[int], bins: int | None = BINS, sample: Sample | None = None
    ) -> Estimate:
        n, s = self.world.nuisances, tuple(subset)
        m, h = self.twins("m", n.m(s, bins)), self.twins("h", h_of(self.world, s, bins))
        reduced = Reduced(m.target, h.target, risk=None)
        return outcome_value.numerator(self.outcome_values(sample), reduced)

    def outcome_value(self, subset: Sequence[int], bins: int | None = BINS) -> Estimate:
        sample = table_of(self.world).sample()
        top = self.outcome_numerator(subset, bins, sample)
        return 1 - top / outcome_value.denominator(self.outcome_values(sample))


def mean_influence(estimate: Estimate, world: Atoms, direction: Atoms, domain: str) -> float:
    """Mean of an estimate's influence function under another world's distribution."""
    other = getattr(table_of(direction).weights, domain)
    weights = getattr(table_of(world).sample().weights, domain)
    per_row = getattr(estimate.influence, domain) / weights
    return float(other @ per_row)


def numerical_derivative(
    functional: Callable[[Atoms], float], world: Atoms, direction: Atoms, domain: str
) -> float:
    """Fourth-order central difference of a functional along a mixture, at 0."""
    step = 1e-3

    def at(epsilon: float) -> float:
        return functional(mixed(world, direction, domain, epsilon))

    near, far = at(step) - at(-step), at(2 * step) - at(-2 * step)
    return (8 * near - far) / (12 * step)


def worlds(metric: str, seed: int = 3) -> Atoms:
    return finite.random_world(seed, w_levels=3, z_levels=(2, 3, 2), metric=metric)


def group_noise(world: Atoms, codes: Array, rng: np.random.Generator) -> Array:
    """A random function of the groups, one entry per atom."""
    return rng.normal(size=int(codes.max()) + 1)[codes]
