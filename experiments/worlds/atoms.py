"""Finitely many atoms: every expectation is an exact weighted sum.

Finite worlds, semi-synthetic worlds (the atoms are the rows of a real table) and worlds on a
quadrature grid share this one engine. Nothing here uses `whygap.equations`: the truths are written
from the definitions, so that the equations can be tested against them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from experiments.worlds.world import Corners, SubsetTruth, drawn_outcomes
from whygap.domains import Array, ByDomain, Domain, IntArray, Subset
from whygap.tables.design import Column, Design, Player

__all__ = ["Atoms", "risk_bin"]


def risk_bin(risk: Array, bins: int) -> Array:
    """The paper's rounding: floor(qB + 1/2) / B."""
    return np.floor(risk * bins + 0.5) / bins


@dataclass(frozen=True, eq=False)
class Atoms:
    """A world of atoms x = (w, z), with probabilities and risks in both domains."""

    features: Array  # (atoms, columns); codes for categories
    columns: tuple[Column, ...]  # one per column of `features`
    baseline: tuple[int, ...]  # positions of the W columns
    groups: tuple[Player, ...]
    mass: ByDomain[Array]  # p_d(x), positive, summing to 1 in each domain
    risk: ByDomain[Array]  # p_d(Y=1 | x)
    prediction: Array  # f(x)
    intercept: Array  # a(x) of the metric a + b y
    slope: Array  # b(x)

    @property
    def players(self) -> tuple[str, ...]:
        """Names of the players."""
        return tuple(player.name for player in self.groups)

    def draw(self, rows: ByDomain[int], rng: np.random.Generator) -> Design:
        """Independent rows of both domains."""
        atoms = rows.zip(self.mass, lambda n, mass: rng.choice(len(mass), size=n, p=mass))
        risks = atoms.zip(self.risk, lambda index, risk: risk[index])
        return self.design(atoms, drawn_outcomes(risks, rng))

    def design(self, atoms: ByDomain[IntArray], outcome: ByDomain[Array]) -> Design:
        """Rows at these atoms with these outcomes."""
        return Design.affine(
            features=atoms.map(lambda i: self.features[i]),
            columns=self.columns,
            baseline=self.baseline,
            players=self.groups,
            outcome=outcome,
            prediction=atoms.map(lambda i: self.prediction[i]),
            intercept=atoms.map(lambda i: self.intercept[i]),
            slope=atoms.map(lambda i: self.slope[i]),
        )

    @cached_property
    def _column_codes(self) -> list[IntArray]:
        return [np.unique(column, return_inverse=True)[1] for column in self.features.T]

    def codes(self, columns: Sequence[int], *extra: Array) -> IntArray:
        """Number the groups of atoms that agree on these columns (and extra arrays)."""
        code = np.zeros(len(self.prediction), dtype=np.int64)
        parts = [self._column_codes[c] for c in columns]
        parts += [np.unique(e, return_inverse=True)[1] for e in extra]
        for part in parts:
            paired = code * (int(part.max()) + 1) + part
            code = np.unique(paired, return_inverse=True)[1].astype(np.int64)
        return code

    def subset_columns(self, subset: Subset) -> tuple[int, ...]:
        """Positions of the columns of W and of these players."""
        return self.baseline + tuple(c for p in subset for c in self.groups[p].columns)

    def mean(self, domain: Domain, per_atom: Array) -> float:
        """E_d of a function of atoms."""
        return float(self.mass[domain] @ per_atom)

    def conditional(self, domain: Domain, per_atom: Array, codes: IntArray) -> Array:
        """E_d[function | group], at every atom."""
        mass = self.mass[domain]
        total = np.bincount(codes, weights=mass)
        return (np.bincount(codes, weights=mass * per_atom) / total)[codes]

    @cached_property
    def nuisances(self) -> Nuisances:
        """The true nuisances, as functions of atoms."""
        return Nuisances(self)

    def corners(self) -> Corners:
        """True corner means, each a sum over atoms of p_a(w) p_b(z | w) times the mean loss."""
        n = self.nuisances
        return Corners(
            mean_000=self.mean("source", n.mu_0_wz),
            mean_100=self.mean("target", n.mu_00_w),
            mean_110=self.mean("target", n.mu_0_wz),
            mean_111=self.mean("target", n.mu_1_wz),
        )

    def covariate_truth(self, subset: Subset) -> SubsetTruth:
        """True v_Z(s)."""
        n = self.nuisances
        return SubsetTruth(
            numerator=self.mean("target", (n.mu_s0_w(subset) - n.mu_10_w) ** 2),
            denominator=self.mean("target", (n.mu_10_w - n.mu_00_w) ** 2),
        )

    def outcome_truth(self, subset: Subset, bins: int | None = 20) -> SubsetTruth:
        """True v_Y(s), binned, or smooth with `bins=None`."""
        n = self.nuisances
        mu_s_wz = self.intercept + self.slope * n.m(subset, bins)
        return SubsetTruth(
            numerator=self.mean("target", (n.mu_1_wz - mu_s_wz) ** 2),
            denominator=self.mean("target", (n.mu_1_wz - n.mu_0_wz) ** 2),
        )


@dataclass(frozen=True, eq=False)
class Nuisances:
    """True nuisances of a world of atoms, each an array with one entry per atom."""

    atoms: Atoms

    @cached_property
    def mu_0_wz(self) -> Array:
        """E_0[l | W, Z]."""
        return self.atoms.intercept + self.atoms.slope * self.atoms.risk.source

    @cached_property
    def mu_1_wz(self) -> Array:
        """E_1[l | W, Z]."""
        return self.atoms.intercept + self.atoms.slope * self.atoms.risk.target

    @cached_property
    def mu_00_w(self) -> Array:
        """E_0[l | W]."""
        return self.mu_00_wzs(())

    @cached_property
    def mu_10_w(self) -> Array:
        """E_1[mu_0_wz | W]."""
        return self.atoms.conditional("target", self.mu_0_wz, self.atoms.codes(self.atoms.baseline))

    def mu_00_wzs(self, subset: Subset) -> Array:
        """E_0[l | W, Z_s]."""
        codes = self.atoms.codes(self.atoms.subset_columns(subset))
        return self.atoms.conditional("source", self.mu_0_wz, codes)

    def mu_s0_w(self, subset: Subset) -> Array:
        """E_1[mu_00_wzs | W]."""
        codes = self.atoms.codes(self.atoms.baseline)
        return self.atoms.conditional("target", self.mu_00_wzs(subset), codes)

    def groups(self, subset: Subset, bins: int | None = 20) -> IntArray:
        """Numbers of the groups G = (W, Z_s, q_bin); `bins=None`: (W, Z_s, q)."""
        q = self.atoms.risk.source
        position = np.round(q, 12) if bins is None else risk_bin(q, bins)
        return self.atoms.codes(self.atoms.subset_columns(subset), position)

    def m(self, subset: Subset, bins: int | None = 20) -> Array:
        """p_1(Y=1 | G)."""
        return self.atoms.conditional("target", self.atoms.risk.target, self.groups(subset, bins))
