"""Which rows were measured: weights, independent units, and sums of contributions by unit."""

from __future__ import annotations

import math
import uuid
from dataclasses import dataclass, field, replace

import numpy as np

from whygap.domains import Array, ByDomain, IntArray
from whygap.estimate.influence import Influence


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Weights and units of the rows of both domains.

    Attributes:
        weights: of each row, with mean 1 within a domain, (rows,).
        units: the unit of each row, 0..G-1: a row, or a cluster of rows, (rows,).
        sizes: number of units, G.
        owners: where clusters have rows in both domains: the cluster's number of every unit, (G,);
            influence values are then kept by cluster.
        key: shared by all estimates made from the sample.
    """

    weights: ByDomain[Array]
    units: ByDomain[IntArray]
    sizes: ByDomain[int]
    owners: ByDomain[IntArray] | None = None
    key: str = field(default_factory=lambda: uuid.uuid4().hex)

    @classmethod
    def of(
        cls,
        rows: ByDomain[int],
        weights: ByDomain[Array] | None = None,
        clusters: ByDomain[IntArray] | None = None,
    ) -> Sample:
        """Normalise weights within each domain, (rows,), and number the units.

        Args:
            rows: number of rows.
            weights: equal if left out.
            clusters: number of each row's cluster, the same in both domains.
        """
        raw = weights or rows.map(np.ones)
        units = rows.map(np.arange)
        if clusters is not None:
            units = clusters.map(lambda c: np.unique(c, return_inverse=True)[1].astype(np.int64))
        return cls(
            weights=raw.map(lambda w: w / w.mean()),
            units=units,
            sizes=units.map(lambda u: int(u.max()) + 1 if len(u) else 0),
            owners=None if clusters is None else _owners(clusters),
        )

    def grouped(self, limit: int, rng: np.random.Generator) -> Sample:
        """Merge units into at most `limit` random groups per domain.

        Sums over random groups of equal size have, on average, the variances of sums over units.

        Args:
            limit: groups per domain, at most.
            rng: draws the groups.
        """
        if max(self.sizes) <= limit:
            return self
        if self.owners is not None:
            group = rng.permutation(_count(self.owners)) % limit
            units = self.units.zip(self.owners, lambda unit, owner: group[owner][unit])
            owners = ByDomain(np.arange(limit), np.arange(limit))
            return replace(self, units=units, sizes=owners.map(len), owners=owners)
        groups = self.sizes.map(lambda size: rng.permutation(size) % limit)
        units = groups.zip(self.units, lambda g, unit: g[unit])
        return replace(self, units=units, sizes=self.sizes.map(lambda size: min(size, limit)))

    def mean(self, contributions: ByDomain[Array]) -> ByDomain[float]:
        """Compute the weighted mean of a contribution per row, (rows,), in each domain.

        Args:
            contributions: a number per row of each domain.
        """
        return contributions.zip(self.weights, lambda c, w: float(np.mean(c * w)))

    def influence(self, contributions: ByDomain[Array]) -> Influence:
        """Centre contributions, (rows,), within the domain, then weight and sum by unit.

        Args:
            contributions: a number per row of each domain.
        """
        sums = []
        for domain, values in contributions.items():
            weights = self.weights[domain]
            size = self.sizes[domain]
            centred = weights * (values - np.mean(values * weights))
            total: Array = np.bincount(self.units[domain], centred, size).astype(np.float64)
            sums.append(total * (size / len(centred)))
        if self.owners is None:
            return Influence(*sums)
        count = _count(self.owners)
        merged = np.zeros(count)
        for owner, values in zip(self.owners, sums, strict=True):
            # A cluster with rows in one domain alone keeps the variance it has within that domain.
            size = len(values)
            small = math.sqrt(size / max(size - 1, 1) * (count - 1) / count)
            merged[owner] += values * (count / size * small)
        return Influence(merged, np.zeros(0))

    def effective_size(self) -> ByDomain[float]:
        """Compute Kish's effective number of rows: (sum w)^2 / sum w^2."""
        return self.weights.map(lambda w: float(w.sum() ** 2 / (w**2).sum()))


def _count(owners: ByDomain[IntArray]) -> int:
    return 1 + max(int(owner.max()) for owner in owners)


def _owners(clusters: ByDomain[IntArray]) -> ByDomain[IntArray] | None:
    """Count through the clusters of the two domains; None if no cluster has rows in each."""
    names = clusters.map(np.unique)
    union = np.union1d(*names)
    if len(union) == sum(map(len, names)):
        return None
    return names.map(lambda own: np.searchsorted(union, own))
