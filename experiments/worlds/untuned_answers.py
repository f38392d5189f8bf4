"""Points, groups and budgets of the untuned world, on a lattice that knows the model's score.

E[Y | f, X_s] needs atoms that share a score. The model's logit is t = c(W, Z1) + Z2 - Z3 / 2 with
c a multiple of .1, so a lattice with step h in t, 2h in Z3 and a whole number of steps in .1 has
Z2 on a lattice too, the same one for every (W, Z1): any set of columns, with or without the score,
groups its points as it groups rows. Sums over it are trapezoid rules of smooth functions (budgets
are good to 1e-8); the model's jump, t = 0, lies between two points, which leaves an error of order
h^2 (1e-5 for accuracy), and so do the cuts of groups (4e-5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import special

from experiments.worlds.answers import Above, GroupTruth, PointsTruth, RecoverableTruth
from experiments.worlds.atoms import Atoms
from experiments.worlds.atoms_answers import AtomsAnswers
from experiments.worlds.untuned import COLUMNS, UntunedWorld
from whygap._metrics import metric_of
from whygap.domains import Array, Domain
from whygap.tables.design import Player

__all__ = ["UntunedAnswers", "lattice_atoms"]

STEPS = 2  # of the score's lattice in .1; finer ones move no truth by 5e-5 (see the tests)
REACH = 6.0  # Z2 and Z3 run from -REACH to REACH, five standard deviations from any mean


@dataclass(frozen=True)
class UntunedAnswers:
    """The answers of the untuned world, or of a null world."""

    world: UntunedWorld
    steps: int = STEPS

    @property
    def on_lattice(self) -> AtomsAnswers:
        """The world of the lattice's points."""
        return AtomsAnswers(lattice_atoms(self.world, self.steps))

    def transported_mean(self, columns: Sequence[int]) -> float:
        """Psi(S)."""
        return self.on_lattice.transported_mean(columns)

    def points(self) -> PointsTruth:
        """Shapley points of both games."""
        return self.on_lattice.points()

    def group(self, group: Above) -> GroupTruth:
        """What a group contributes; cells that a cut goes through count in part."""
        atoms, h = self.on_lattice.atoms, 0.1 / self.steps
        if group.column is None:
            away = special.logit(atoms.prediction) - special.logit(group.cut)
            return self.on_lattice.masked(_part_above(away, h))
        if COLUMNS[group.column].name not in ("Z2", "Z3"):
            return self.on_lattice.group(group)
        width = h if COLUMNS[group.column].name == "Z2" else 2 * h
        away = atoms.features[:, group.column] - group.cut
        return self.on_lattice.masked(_part_above(away, width))

    def gain(self, domain: Domain, columns: Sequence[int]) -> float:
        """What the score and these columns win in one domain."""
        return self.on_lattice.gain(domain, columns)

    def recoverable(self) -> RecoverableTruth:
        """The three budgets."""
        return self.on_lattice.recoverable()


def _part_above(away: Array, width: float) -> Array:
    """How much of a cell around a point lies above a cut."""
    return np.clip(away / width + 0.5, 0.0, 1.0)


@lru_cache(maxsize=8)
def lattice_atoms(world: UntunedWorld, steps: int = STEPS) -> Atoms:
    """The world on the lattice; whole numbers carry the coordinates, so that equal is equal."""
    h, reach = 0.1 / steps, round(REACH * 10) * steps
    w, z1, k2, k3 = (
        axis.ravel()
        for axis in np.meshgrid(
            [0, 1],
            np.arange(4),
            np.arange(-reach, reach),
            np.arange(-reach, reach, 2),
            indexing="ij",
        )
    )
    x = np.column_stack([w, z1, (k2 + 0.5) * h, k3 * h]).astype(float)
    logit_steps = np.round(special.logit(world.model(x)) / h - 0.5).astype(np.int64)
    prediction = special.expit((logit_steps + 0.5) * h)
    intercept, slope = metric_of(world.metric).coefficients(prediction, 0.5)
    density = world.conditions.map(lambda domain: domain.density(x))
    return Atoms(
        features=x,
        columns=COLUMNS,
        baseline=(0,),
        groups=tuple(Player(name, (j + 1,)) for j, name in enumerate(world.players)),
        mass=density.map(lambda mass: mass / mass.sum()),
        risk=world.conditions.map(lambda domain: domain.risk(x)),
        prediction=prediction,
        intercept=intercept,
        slope=slope,
    )
