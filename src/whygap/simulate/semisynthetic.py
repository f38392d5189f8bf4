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
from typing import Any

import numpy as np

from whygap.domains import ByDomain
from whygap.learning.standalone import boosted_probability
from whygap.simulate.atoms import Atoms
from whygap.tables.design import Design


@dataclass(frozen=True, slots=True)
class Fit:
    """How the world's functions are fitted."""

    leaves: int = 12
    rate: float = 0.06
    least_rows: int = 30
    risk_rounds: int = 120
    domain_rounds: int = 60
    clip: float = 0.05

    def parameters(self, seed: int) -> dict[str, Any]:
        """LightGBM's parameters."""
        return {
            "objective": "binary",
            "num_leaves": self.leaves,
            "learning_rate": self.rate,
            "min_data_in_leaf": self.least_rows,
            "num_threads": 1,
            "deterministic": True,
            "force_row_wise": True,
            "seed": seed,
            "verbosity": -1,
        }


def from_design(design: Design, *, fit: Fit | None = None, seed: int = 0) -> Atoms:
    """The semi-synthetic world of a study's encoded tables (`study.design`)."""
    fit = fit or Fit()
    used = design.baseline + design.covariates
    pooled = np.concatenate(list(design.features))
    categories = [k for k, c in enumerate(used) if design.columns[c].kind == "category"]
    parameters = fit.parameters(seed)
    x, x_by_domain = pooled[:, used], design.features.map(lambda f: f[:, used])
    risk = x_by_domain.zip(
        design.outcome,
        lambda rows, y: boosted_probability(rows, y, categories, parameters, fit.risk_rounds)(x),
    )
    in_target = np.repeat([0.0, 1.0], [design.rows.source, design.rows.target])
    domain = boosted_probability(x, in_target, categories, parameters, fit.domain_rounds)(x)
    e = np.clip(domain, fit.clip, 1 - fit.clip)
    weight = np.ones(len(e)) if design.weights is None else np.concatenate(list(design.weights))
    mass = ByDomain((1 - e) * weight, e * weight)
    return Atoms(
        features=pooled,
        columns=design.columns,
        baseline=design.baseline,
        groups=design.players,
        mass=mass.map(lambda m: m / m.sum()),
        risk=risk,
        prediction=np.concatenate(list(design.prediction)),
        intercept=np.concatenate(list(design.intercept)),
        slope=np.concatenate(list(design.slope)),
    )
