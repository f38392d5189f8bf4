"""Blocks: each domain is cut once; a fit is named by the blocks it was trained on.

First-order uses are trained on all blocks but the row's own. Quadratic uses are trained on twins:
two disjoint halves of the other blocks. With five blocks the ten pairs serve all five evaluated
blocks, so three halvings cost as many fits as one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from whygap.domains import ByDomain, Domain, IntArray
from whygap.errors import FitError

BlockSet = frozenset[int]


@dataclass(frozen=True, eq=False)
class Blocks:
    """Rows of both domains, ordered by block.

    Attributes:
        count: number of blocks.
        evaluated: the blocks whose rows are averaged over (all, or one for a single split).
        order: per domain, row numbers sorted by block: row i of the sorted data is row order[i].
        bounds: per domain, block k occupies sorted rows bounds[k]:bounds[k+1].
        trained: per domain and block, how many of the block's rows models may be trained on: its
            first ones. None is all of them.
    """

    count: int
    evaluated: tuple[int, ...]
    order: ByDomain[IntArray]
    bounds: ByDomain[IntArray]
    trained: ByDomain[IntArray] | None = None

    def rows(self, domain: Domain, block: int) -> slice:
        """Sorted rows of one block."""
        bounds = self.bounds[domain]
        return slice(int(bounds[block]), int(bounds[block + 1]))

    def training_rows(self, domain: Domain, block: int) -> slice:
        """Sorted rows of one block that models may be trained on."""
        rows = self.rows(domain, block)
        if self.trained is None:
            return rows
        return slice(rows.start, rows.start + int(self.trained[domain][block]))

    def complement(self, block: int) -> BlockSet:
        """All other blocks."""
        return frozenset(range(self.count)) - {block}

    def complements(self) -> tuple[BlockSet, ...]:
        """One training set per evaluated block."""
        return tuple(self.complement(k) for k in self.evaluated)

    def halvings(self, block: int, count: int) -> tuple[tuple[BlockSet, BlockSet], ...]:
        """Ways to split the other blocks into two disjoint halves, in a fixed order."""
        others = sorted(self.complement(block))
        half = len(others) // 2
        if half == 0:
            raise FitError("Twins need at least 3 blocks", got=self.count, hint="Use folds=5.")
        pairs = []
        for chosen in combinations(others[1:], half - 1):
            first = frozenset((others[0], *chosen))
            rest = [b for b in others if b not in first]
            pairs.append((first, frozenset(rest[:half])))
        return tuple(pairs[:count])

    def halves(self, count: int) -> tuple[BlockSet, ...]:
        """Every half used by some evaluated block, once."""
        used = {h for k in self.evaluated for pair in self.halvings(k, count) for h in pair}
        return tuple(sorted(used, key=sorted))

    def evaluated_rows(self) -> ByDomain[IntArray]:
        """Original row numbers that are averaged over, ascending."""
        return self._first().map(np.sort)

    @cached_property
    def back(self) -> ByDomain[IntArray]:
        """Positions, among the block-sorted rows, of the evaluated rows in their original order."""
        return self._first().map(np.argsort)

    @cached_property
    def of_evaluated_rows(self) -> ByDomain[IntArray]:
        """Block number of every evaluated row, in the original order."""
        return self.bounds.zip(
            self.back, lambda bounds, back: np.searchsorted(bounds, back, side="right") - 1
        )

    def _first(self) -> ByDomain[IntArray]:
        """Evaluated blocks come first, so their rows are the first of the block order."""
        stops = self.bounds.map(lambda bounds: int(bounds[len(self.evaluated)]))
        return self.order.zip(stops, lambda order, stop: order[:stop])
