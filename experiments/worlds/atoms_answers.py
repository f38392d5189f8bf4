"""Points, where and recoverable in a world of atoms: exact sums, written from the definitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from experiments.worlds.answers import (
    Above,
    BudgetTruth,
    GroupTruth,
    Mask,
    PointsTruth,
    RecoverableTruth,
    budget_from,
    own_players,
    points_from,
)
from experiments.worlds.atoms import Atoms
from whygap.domains import Array, Domain, IntArray

__all__ = ["AtomsAnswers"]


@dataclass(frozen=True, slots=True)
class AtomsAnswers:
    """The answers of a world of atoms; sums over all subsets, so for few players."""

    atoms: Atoms

    # -- points ----------------------------------------------------------------------------------

    def mu_s(self, columns: Sequence[int]) -> Array:
        """E_0[l | X_S], at every atom."""
        atoms = self.atoms
        return atoms.conditional("source", atoms.nuisances.mu_0_wz, atoms.codes(columns))

    def transported_mean(self, columns: Sequence[int]) -> float:
        """Psi(S) = E_1[E_0[l | X_S]]."""
        return self.atoms.mean("target", self.mu_s(columns))

    def points(self) -> PointsTruth:
        """Shapley points: columns of W, then players of Z."""
        own = own_players(self.atoms.columns, self.atoms.baseline)
        return points_from(self.transported_mean, own, self.atoms.groups)

    # -- where -----------------------------------------------------------------------------------

    def group(self, group: Above) -> GroupTruth:
        """What the atoms of a group contribute to the outcome part."""
        return self.masked(group.mask(self.atoms.features, self.atoms.prediction))

    def masked(self, inside: Mask | Array) -> GroupTruth:
        """The same for any set of atoms, or for a fraction of each."""
        n, part = self.atoms.nuisances, inside.astype(float)
        return GroupTruth(
            contribution=self.atoms.mean("target", part * (n.mu_1_wz - n.mu_0_wz)),
            target_share=self.atoms.mean("target", part),
        )

    # -- recoverable -----------------------------------------------------------------------------

    def score_groups(self, columns: Sequence[int]) -> IntArray:
        """Numbers of the groups (f, X_s): atoms that agree on the prediction and these columns."""
        return self.atoms.codes(columns, self.atoms.prediction)

    def m_s(self, domain: Domain, columns: Sequence[int]) -> Array:
        """E_d[Y | f, X_s], at every atom."""
        return self.atoms.conditional(domain, self.atoms.risk[domain], self.score_groups(columns))

    def squared_error(self, domain: Domain, prediction: Array) -> float:
        """E_d[(Y - prediction)^2]."""
        risk = self.atoms.risk[domain]
        return self.atoms.mean(domain, risk * (1 - prediction) ** 2 + (1 - risk) * prediction**2)

    def gain(self, domain: Domain, columns: Sequence[int]) -> float:
        """E_d[(Y - f)^2] - E_d[(Y - m_s)^2]."""
        before = self.squared_error(domain, self.atoms.prediction)
        return before - self.squared_error(domain, self.m_s(domain, columns))

    def budget(self, domain: Domain) -> BudgetTruth:
        """What can be won in one domain: columns of W on their own, then players of Z."""
        players = own_players(self.atoms.columns, self.atoms.baseline) + self.atoms.groups
        used = tuple(c for player in players for c in player.columns)
        best = self.squared_error(domain, self.m_s(domain, used))
        return budget_from(lambda columns: self.gain(domain, columns), players, best)

    def recoverable(self) -> RecoverableTruth:
        """The three budgets."""
        p_0 = self.atoms.risk.source
        return RecoverableTruth(
            here=self.budget("target"),
            on_target_mix=self.atoms.mean("target", (self.atoms.prediction - p_0) ** 2),
            irreducible_on_target_mix=self.atoms.mean("target", p_0 * (1 - p_0)),
            at_home=self.budget("source"),
        )
