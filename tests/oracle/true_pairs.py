"""The V-statistic form on a finite world with its true nuisances, perturbed or not."""

from dataclasses import dataclass, field

import numpy as np

from whygap.domains import Array
from whygap.equations import v_statistic
from whygap.equations.v_statistic import PlainValues
from whygap.estimate import Estimate
from whygap.nuisances.recombined import Lenders, Mixed, Recombination, stream_pairs
from whygap.simulate import Atoms
from whygap.simulate.atoms import risk_bin
from whygap.simulate.world import Subset
from whygap.tables.design import Design


@dataclass(frozen=True)
class TruePairs:
    """Truths as functions of atoms; `shifts` maps a nuisance's name to what is added to it."""

    world: Atoms
    bins: int
    shifts: dict[str, Array] = field(default_factory=dict)

    def shifted(self, name: str, true: Array) -> Array:
        return true + self.shifts.get(name, 0.0)

    def locate(self, features: Array) -> Array:
        """Which atom each row is; the levels of a full grid are its coordinates."""
        sizes = tuple(int(c.max()) + 1 for c in self.world.features.T)
        return np.ravel_multi_index(tuple(features.T.astype(int)), sizes)

    def swapped(self, subset: Subset) -> tuple[int, ...]:
        known = self.world.subset_columns(subset)
        return tuple(c for c in range(self.world.features.shape[1]) if c not in known)

    def m(self, subset: Subset) -> Array:
        return self.shifted("m", self.world.nuisances.m(subset, self.bins))

    def ratio(self, subset: Subset) -> Array:
        """p_1(z_-s | G) / p_1(z_-s) at every atom."""
        mass = self.world.mass.target
        groups = self.world.nuisances.groups(subset, self.bins)
        rest = self.world.codes(self.swapped(subset))
        group_mass = np.bincount(groups, weights=mass)[groups]
        rest_mass = np.bincount(rest, weights=mass)[rest]
        return self.shifted("pi", mass / (group_mass * rest_mass))

    def recombination(self, subset: Subset) -> Recombination:
        world, ratio = self.world, self.ratio(subset)
        p_1 = self.shifted("p_1", world.risk.target)
        bins = risk_bin(world.risk.source, self.bins)

        def at(per_atom: Array):
            return lambda mixed: per_atom[self.locate(mixed.raw)]

        def pi(mixed: Mixed, number: Array) -> Array:
            assert (at(bins)(mixed) == number).all()
            return at(ratio)(mixed)

        def metric(raw: Array) -> tuple[Array, Array]:
            where = self.locate(raw)
            return world.intercept[where], world.slope[where]

        return Recombination(at(bins), at(p_1), pi, metric, floats=64)

    def averages(
        self, design: Design, subset: Subset, *, own: bool, self_normalised: bool = False
    ) -> Array:
        """Inner averages of eq. (4) at target rows; `own`: rows lend to themselves, as printed."""
        where = self.locate(design.features.target)
        count = len(where)
        block = Lenders(
            np.arange(count),
            risk_bin(self.world.risk.source, self.bins)[where],
            np.ones(count) if design.weights is None else design.weights.target,
            None if own else np.arange(count),
        )
        stream = stream_pairs(
            design.features.target,
            block,
            self.swapped(subset),
            self.recombination(subset),
            np.random.default_rng(0),
        )
        return v_statistic.pair_averages(
            stream,
            design.outcome.target,
            self.m(subset)[where],
            self_normalised=self_normalised,
        )

    def values(self, design: Design) -> PlainValues:
        world, n = self.world, self.world.nuisances
        where = design.features.map(self.locate)
        return PlainValues(
            design.sample(),
            design.outcome,
            design.intercept,
            design.slope,
            where.map(lambda i: self.shifted("p_0", world.risk.source)[i]),
            where.map(lambda i: self.shifted("p_1", world.risk.target)[i]),
            self.shifted("pi_wz", n.pi_wz)[where.source],
        )

    def numerator(self, design: Design, subset: Subset, *, own: bool) -> Estimate:
        where = self.locate(design.features.target)
        averages = self.averages(design, subset, own=own)
        return v_statistic.numerator(self.values(design), self.m(subset)[where], averages)
