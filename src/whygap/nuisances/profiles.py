"""Each covariate's own story: its distribution in both domains and the outcome gap along it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whygap.domains import DOMAINS, Array, ByDomain
from whygap.estimate import Estimate
from whygap.nuisances.cross_fit import CrossFit
from whygap.results import Profile
from whygap.tables.design import Column

__all__ = ["profiles"]

_MOST_BINS = 8  # of levels: as many as a reader takes in
_LEAST_ROWS = 20  # of the target in a bin: the mean of fewer says nothing


def profiles(crossfit: CrossFit) -> tuple[Profile, ...]:
    """One per column of W and Z."""
    features = crossfit.evaluated(crossfit.design.features)
    residual = crossfit.aggregate.loss.zip(crossfit.aggregate.mu_0_wz, np.subtract)
    return tuple(
        _profile(crossfit, column, ByDomain(*(x[:, j] for x in features)), residual)
        for j, column in enumerate(crossfit.design.columns)
        if j in crossfit.all_columns()
    )


def _profile(
    crossfit: CrossFit, column: Column, values: ByDomain[Array], residual: ByDomain[Array]
) -> Profile:
    labels, codes = _bins(column, values)
    gaps = [
        _bin_gap(crossfit, ByDomain(*((c == b).astype(float) for c in codes)), residual)
        for b in range(len(labels))
    ]
    weights = crossfit.sample.weights
    shares = ByDomain(
        *(
            tuple(float(np.mean((codes[d] == b) * weights[d])) for b in range(len(labels)))
            for d in DOMAINS
        )
    )
    return Profile(
        column.name,
        tuple(labels),
        shares.source,
        shares.target,
        tuple(g.value if g else float("nan") for g in gaps),
        tuple(g.standard_error if g else float("nan") for g in gaps),
    )


def _bin_gap(
    crossfit: CrossFit, inside: ByDomain[Array], residual: ByDomain[Array]
) -> Estimate | None:
    """The outcome part of the gap among target rows of one bin; None with too few rows."""
    if inside.target.sum() < _LEAST_ROWS:
        return None
    top = Estimate.from_contributions(
        crossfit.sample,
        source=-inside.source * residual.source * crossfit.aggregate.pi_wz,
        target=inside.target * residual.target,
    )
    bottom = Estimate.from_contributions(
        crossfit.sample,
        source=np.zeros(len(inside.source)),
        target=inside.target,
    )
    return top / bottom


def _bins(column: Column, values: ByDomain[Array]) -> tuple[list[str], ByDomain[Array]]:
    """Bin labels and the bin number of every row (the last bin is 'missing' where needed)."""
    both = np.concatenate(list(values))
    seen = both[~np.isnan(both)]
    distinct = np.unique(seen)
    if not len(seen):  # all that was seen lay outside the region of shared support
        return ["missing"], values.map(np.zeros_like)
    if column.kind == "category" or len(distinct) <= _MOST_BINS:
        labels, codes = _level_bins(column, seen, distinct, values)
    else:
        labels, codes = _quantile_bins(seen, values)
    if np.isnan(both).any():
        labels = [*labels, "missing"]
        codes = codes.zip(values, lambda c, v: np.where(np.isnan(v), len(labels) - 1, c))
    return labels, codes


def _level_bins(
    column: Column, seen: Array, distinct: Array, values: ByDomain[Array]
) -> tuple[list[str], ByDomain[Array]]:
    counts = np.array([np.sum(seen == v) for v in distinct])
    frequent = np.sort(distinct[np.argsort(-counts, kind="stable")][:_MOST_BINS])
    labels = [_level_name(column, v) for v in frequent]
    other = len(distinct) > len(frequent)

    def code(v: Array) -> Array:
        place = np.clip(np.searchsorted(frequent, v), 0, len(frequent) - 1)
        return np.where(frequent[place] == v, place, len(frequent)).astype(float)

    return [*labels, "other"] if other else labels, values.map(code)


def _level_name(column: Column, value: float) -> str:
    return column.levels[int(value)] if column.levels else f"{value:g}"


def _quantile_bins(seen: Array, values: ByDomain[Array]) -> tuple[list[str], ByDomain[Array]]:
    edges = np.unique(np.quantile(seen, np.linspace(0, 1, 7)))
    labels = [_range_name(edges, k) for k in range(len(edges) - 1)]

    def code(v: Array) -> Array:
        place = np.searchsorted(edges, v, side="right") - 1
        return np.clip(place, 0, len(edges) - 2).astype(float)

    return labels, values.map(code)


def _range_name(edges: Sequence[float] | Array, k: int) -> str:
    return f"{edges[k]:.4g} to {edges[k + 1]:.4g}"
