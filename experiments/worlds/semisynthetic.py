"""Worlds with known truth made from a real table.

The rows of both domains are pooled and become the atoms of a world. A domain probability e(x) and
the risks p_0(x), p_1(x) are fitted once, by LightGBM, and from then on they *are* the world: source
rows are drawn with weight 1 - e, target rows with weight e, outcomes from the risks, predictions
kept. Every truth is an exact weighted sum over the pool.

Columns with many distinct values make most pool rows the only one with their (W, Z_s): conditional
expectations given them are then those of that row. That is the truth of the finite pool, and it is
what repeated draws from it estimate; it is not the truth of a smooth population behind the table.
The smooth outcome form (`bins=None`) is degenerate for the same reason.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.worlds.atoms import Atoms
from whygap._rehearse.world import fitted_laws
from whygap.tables.design import Design


@dataclass(frozen=True, slots=True)
class Fit:
    """How the world's functions are fitted."""

    leaves: int = 12
    least_rows: int = 30
    risk_rounds: int = 120
    domain_rounds: int = 60
    clip: float = 0.05


def from_design(design: Design, *, fit: Fit | None = None, seed: int = 0) -> Atoms:
    """Make the semi-synthetic world of a study's encoded tables (`study.design`)."""
    fit = fit or Fit()
    rounds = (fit.risk_rounds, fit.domain_rounds)
    mass, risk = fitted_laws(design, rounds, fit.least_rows, fit.clip, seed, fit.leaves)
    return Atoms(
        features=np.concatenate(list(design.features)),
        columns=design.columns,
        baseline=design.baseline,
        groups=design.players,
        mass=mass,
        risk=risk,
        prediction=np.concatenate(list(design.prediction)),
        intercept=np.concatenate(list(design.intercept)),
        slope=np.concatenate(list(design.slope)),
    )
