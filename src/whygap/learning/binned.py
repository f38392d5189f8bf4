"""Tables of raw columns, binned once for all training sets of a column set.

Finding bins and putting values into them costs as much as a few dozen trees. So the rows that any
model of a column set may be trained on are binned together, and each training set takes its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from whygap.domains import Array, Domain, IntArray
from whygap.learning.blocks import Blocks, BlockSet
from whygap.learning.trees import Binned

if TYPE_CHECKING:
    from whygap.learning.features import Features

__all__ = ["BinnedTables"]


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    columns: tuple[int, ...]
    binned: Binned


@dataclass(frozen=True, slots=True, eq=False)
class _Extra:
    values: Array
    binned: Binned


@dataclass(slots=True, eq=False)
class BinnedTables:
    """Of each domain, and of both together, the table that was asked for last.

    And of each training set the extra column: the same one comes with many column sets.
    """

    last: dict[tuple[Domain, ...], _Table] = field(default_factory=dict)
    beside: dict[tuple[tuple[Domain, ...], BlockSet], _Extra] = field(default_factory=dict)

    def __reduce__(self) -> tuple[type[BinnedTables], tuple[()]]:
        """Every process bins its own."""
        return BinnedTables, ()

    def rows(
        self,
        features: Features,
        domains: tuple[Domain, ...],
        blocks: BlockSet,
        columns: Sequence[int],
        beside: Array | None = None,
    ) -> Any:
        """The rows of some blocks as trees are trained on them, an extra column beside."""
        found, columns = self.last.get(domains), tuple(columns)
        if found is None or found.columns != columns:
            table = np.vstack([features.raw_table(domain, columns) for domain in domains])
            found = _Table(columns, Binned(table, features.categorical(columns)))
            self.last[domains] = found
        extra = None if beside is None else self._beside((domains, blocks), beside)
        return found.binned.take(_places(features.blocks, domains, blocks), extra)

    def _beside(self, key: tuple[tuple[Domain, ...], BlockSet], values: Array) -> Binned:
        found = self.beside.get(key)
        if found is None or not np.array_equal(found.values, values):
            found = _Extra(values, Binned(values.reshape(len(values), -1)))
            self.beside[key] = found
        return found.binned


def _places(blocks: Blocks, domains: Sequence[Domain], some: BlockSet) -> IntArray:
    """Where rows of some blocks are among all that models may be trained on."""
    every = frozenset(range(blocks.count))
    sizes = [s.stop - s.start for d in domains for s in blocks.training_rows(d, every)]
    taken = [block in some for _ in domains for block in range(blocks.count)]
    return np.flatnonzero(np.repeat(taken, sizes))
