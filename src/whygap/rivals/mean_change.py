"""MeanChange: whose distribution moved at all?

Importance is one minus the p-value of "the mean did not change" (of "no level's share changed"
for a category; jointly for a group of columns), by a Wald test on influence values.

Assumes: that a variable which moved is a variable which matters.
Misleads: with many rows everything has moved, so everything is important; a variable the model
ignores can be first; a change of spread or of dependence with unchanged means is missed.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from whygap.domains import Array, ByDomain
from whygap.estimate import Influence, Sample
from whygap.rivals.importances import Importances
from whygap.settings import Settings
from whygap.tables.design import Column, Design, Player

__all__ = ["importance"]

ASSUMPTIONS = "A variable whose mean differs between the domains matters for the gap."
MISLEADS = (
    "With many rows nearly every variable has moved, used by the model or not; changes of spread "
    "or dependence are not seen."
)


def importance(design: Design, settings: Settings) -> Importances:
    """One minus the p-value of equal means, per player."""
    del settings  # a test has no random part and no interval
    sample = design.sample()
    p_values = [_joint_p_value(design, sample, player) for player in design.players]
    return Importances(
        method="mean_change",
        part="covariate",
        names=tuple(player.name for player in design.players),
        values=1.0 - np.array(p_values),
        unit="1 - p-value",
        assumptions=ASSUMPTIONS,
        misleads=MISLEADS,
    )


def _joint_p_value(design: Design, sample: Sample, player: Player) -> float:
    differences: list[float] = []
    influences: list[Influence] = []
    for position in player.columns:
        pair = design.features.map(lambda block, j=position: block[:, j])  # type: ignore[misc]
        for indicator in _contrasts(design.columns[position], pair):
            value, influence = _difference(sample, indicator)
            differences.append(value)
            influences.append(influence)
    return _wald(np.array(differences), influences)


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


def _difference(sample: Sample, values: ByDomain[Array]) -> tuple[float, Influence]:
    """Target mean minus source mean over the rows that are not missing."""
    linear = values.zip(sample.weights, _linearised)
    means = sample.mean(linear)
    signed = ByDomain(-linear.source, linear.target)
    return means.target - means.source, sample.influence(signed)


def _linearised(values: Array, weights: Array) -> Array:
    """Contributions whose weighted mean is the mean over the rows that are there."""
    there = ~np.isnan(values)
    if not there.any():
        return np.zeros(len(values))
    filled = np.where(there, values, 0.0)
    mean = float(weights[there] @ filled[there] / weights[there].sum())
    return mean + there * (filled - mean) / float(np.mean(weights * there))


def _wald(differences: Array, influences: list[Influence]) -> float:
    covariance = np.array([[a.covariance(b) for b in influences] for a in influences])
    covariance = covariance.reshape(len(influences), len(influences))
    rank = int(np.linalg.matrix_rank(covariance, hermitian=True)) if len(influences) else 0
    if rank == 0:
        return 0.0 if np.any(differences != 0) else 1.0
    inverse = np.linalg.pinv(covariance, hermitian=True, rcond=1e-10)
    return float(stats.chi2.sf(differences @ inverse @ differences, rank))
