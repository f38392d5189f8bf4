"""WuShift (Wu et al. 2021): what would a shift of these variables do to overall performance?

The value of a subset s is the change of the *overall* mean loss when Z_s given W moves to the
target and the rest follows as in the source: `E_1[E_0[loss | W, Z_s]] - E_1[E_0[loss | W]]`;
Shapley shares of that game.

Assumes: the hypothetical shift of each subset is the one that took place.
Misleads: it never asks that. A variable that merely follows another one gets the credit of the
shift it would have caused alone, and cancelling effects across W look like no effect.
"""

from __future__ import annotations

import numpy as np

from whygap.rivals.importances import Importances, random_stream
from whygap.rivals.learner import fit_mean
from whygap.settings import Settings
from whygap.shapley import Subset, SubsetPlan, linear_weights
from whygap.tables.design import Design

__all__ = ["importance", "subset_change"]

ASSUMPTIONS = (
    "Each hypothetical shift (Z_s given W as in the target, the rest following as in the source) "
    "is taken as if it had happened."
)
MISLEADS = (
    "A variable that only follows another one is credited with a shift of its own; effects that "
    "cancel across the strata of W vanish."
)
SUBSETS = 128
"""Fitted at most, or as many as that number of players needs; all up to seven players."""


def importance(design: Design, settings: Settings) -> Importances:
    """Shapley shares of the change of overall performance; they sum to the covariate part."""
    rng = random_stream(settings, "wu_shift")
    seed = int(rng.integers(2**31))
    players = len(design.players)
    subsets = SubsetPlan(players, settings.seed).take(SUBSETS)
    changes = np.array([subset_change(design, subset, seed) for subset in subsets])
    return Importances(
        method="wu_shift",
        part="covariate",
        names=tuple(player.name for player in design.players),
        values=np.asarray(linear_weights(subsets, players) @ changes),
        unit="change of the metric",
        assumptions=ASSUMPTIONS,
        misleads=MISLEADS,
    )


def subset_change(design: Design, subset: Subset, seed: int) -> float:
    """Overall mean loss with Z_s shifted, from models of the loss fitted on source rows.

    The part without any shift of Z, `E_1[E_0[loss | W]]`, is common to all subsets and cancels.
    """
    columns = list(design.subset_columns(subset))
    weights = design.sample().weights
    mean = fit_mean(design.features.source[:, columns], design.loss.source, weights.source, seed)
    return float(np.average(mean(design.features.target[:, columns]), weights=weights.target))
