"""Two rivals for the covariate part: MeanChange (did it move?), WuShift (what would a move do?)."""

from __future__ import annotations

import numpy as np
from scipy import stats

from experiments.rivals.importances import Importances, Method, random_stream
from whygap.domains import Array, ByDomain, Subset
from whygap.estimate import Estimate
from whygap.learning.standalone import fit_mean
from whygap.settings import Settings
from whygap.shapley import SubsetPlan, linear_weights
from whygap.tables.design import Column, Design, Player

MEAN_CHANGE = Method(
    name="mean_change",
    part="covariate",
    unit="1 - p-value",
    assumptions="A variable whose mean differs between the domains matters for the gap.",
    misleads="With many rows nearly every variable has moved, used by the model or not; changes of "
    "spread or dependence are not seen.",
)
WU_SHIFT = Method(
    name="wu_shift",
    part="covariate",
    unit="change of the metric",
    assumptions="Each hypothetical shift (Z_s given W as in the target, the rest following as in "
    "the source) is taken as if it had happened.",
    misleads="A variable that only follows another one is credited with a shift of its own; "
    "effects that cancel across the strata of W vanish.",
)
SUBSETS = 128  # fitted at most, or as many as the players need: all up to seven players


def mean_change(design: Design, settings: Settings) -> Importances:
    """One minus the p-value of "no mean (no level's share) changed", jointly per player."""
    del settings  # a test has no random part and no interval
    return MEAN_CHANGE.importances(
        {player.name: 1.0 - _joint_p_value(design, player) for player in design.players}
    )


def _joint_p_value(design: Design, player: Player) -> float:
    """A Wald test on influence values."""
    changes = [change for j in player.columns for change in _changes(design, j)]
    influences = [change.influence for change in changes if change.influence is not None]
    covariance = np.array([[a.covariance(b) for b in influences] for a in influences])
    values = np.array([change.value for change in changes])
    rank = int(np.linalg.matrix_rank(covariance, hermitian=True)) if changes else 0
    if rank == 0:
        return 0.0 if np.any(values != 0) else 1.0
    inverse = np.linalg.pinv(covariance, hermitian=True, rcond=1e-10)
    return float(stats.chi2.sf(values @ inverse @ values, rank))


def _changes(design: Design, position: int) -> list[Estimate]:
    """Target mean minus source mean, over the rows that are not missing, of each contrast."""
    sample, values = design.sample(), design.features.map(lambda x: x[:, position])
    contrasts = _contrasts(design.columns[position], values)
    linear = [contrast.zip(sample.weights, _linearised) for contrast in contrasts]
    return [Estimate.from_contributions(sample, source=-a, target=b) for a, b in linear]


def _contrasts(column: Column, values: ByDomain[Array]) -> list[ByDomain[Array]]:
    """What is averaged: the numbers, or one indicator per level but the first."""
    if column.kind != "category":
        return [values]
    pooled = np.concatenate(list(values))
    levels = np.unique(pooled[~np.isnan(pooled)])[1:]
    return [
        values.map(lambda v, k=level: np.where(np.isnan(v), np.nan, v == k))  # type: ignore[misc]
        for level in levels
    ]


def _linearised(values: Array, weights: Array) -> Array:
    """Contributions whose weighted mean is the mean over the rows that are there."""
    there = ~np.isnan(values)
    if not there.any():
        return np.zeros(len(values))
    filled = np.where(there, values, 0.0)
    mean = float(np.average(filled, weights=weights * there))
    return mean + there * (filled - mean) / float(np.mean(weights * there))


def wu_shift(design: Design, settings: Settings) -> Importances:
    """Shapley shares of the change of *overall* performance; they sum to the covariate part.

    The value of a subset s (Wu et al. 2021) is the change of the mean loss when Z_s given W moves
    to the target and the rest follows as in the source,
    `E_1[E_0[loss | W, Z_s]] - E_1[E_0[loss | W]]`.
    """
    seed = int(random_stream(settings, "wu_shift").integers(2**31))
    names = [player.name for player in design.players]
    subsets = SubsetPlan(len(names), settings.seed).take(SUBSETS)
    changes = np.array([subset_change(design, subset, seed) for subset in subsets])
    shares = linear_weights(subsets, len(names)) @ changes
    return WU_SHIFT.importances(dict(zip(names, shares, strict=True)))


def subset_change(design: Design, subset: Subset, seed: int) -> float:
    """Overall mean loss with Z_s shifted, from models of the loss fitted on source rows.

    The part without any shift of Z, `E_1[E_0[loss | W]]`, is common to all subsets and cancels.
    """
    columns = list(design.subset_columns(subset))
    weights = design.sample().weights
    rows = design.features.source[:, columns]
    mean = fit_mean(rows, design.loss.source, weights.source, seed=seed)
    return float(np.average(mean(design.features.target[:, columns]), weights=weights.target))
