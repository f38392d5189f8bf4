"""Recombined rows, streamed: W and Z_s of one target row, Z_-s of another, in bounded pieces.

Every row of a block lends to every row of the same block (the paper's evaluation partition):
neither was seen by the models that are asked about the pair. Up to `MOST_DRAWS` rows a block all
pairs are visited; beyond that each row borrows from `MOST_DRAWS` rows drawn with their weights, as
the paper does (appendix, "Computing U-statistics").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from whygap.domains import Array, IntArray
from whygap.equations.v_statistic import Pairs

__all__ = ["MEMORY_BOUND", "MOST_DRAWS", "Lenders", "Recombination", "stream_pairs"]

MOST_DRAWS = 2000
MEMORY_BOUND = 32 * 2**20
_LEAST_PAIRS = 256


@dataclass(frozen=True, slots=True, eq=False)
class Recombination:
    """What is known about rows that nobody observed, as functions of encoded rows.

    Attributes:
        number: bins of the source risk.
        p_1: target risks.
        pi: phantom ratios, given also the bins.
        metric: intercepts and slopes.
        floats: numbers held in memory per row while these are computed.
    """

    number: Callable[[Array], Array]
    p_1: Callable[[Array], Array]
    pi: Callable[[Array, Array], Array]
    metric: Callable[[Array], tuple[Array, Array]]
    floats: int


@dataclass(frozen=True, slots=True, eq=False)
class Lenders:
    """Target rows of one block: encoded features, bins of their own source risk, weights."""

    raw: Array
    number: Array
    weight: Array

    def __len__(self) -> int:
        return len(self.raw)

    @property
    def chance(self) -> Array:
        """How likely each row is to be borrowed from."""
        return self.weight / float(self.weight.sum())

    @property
    def borrowed(self) -> int:
        """How many rows each row borrows from."""
        return min(len(self), MOST_DRAWS)

    def lend(self, first: int, last: int, rng: np.random.Generator) -> tuple[IntArray, Array]:
        """Lenders, and their weights, of pairs first..last in the order of the kept rows."""
        if self.borrowed == len(self):
            lender = np.arange(first, last) % len(self)
            return lender, self.chance[lender]
        drawn = rng.choice(len(self), size=last - first, p=self.chance)
        return drawn, np.full(last - first, 1.0 / self.borrowed)


def stream_pairs(
    rows: Lenders, swapped: tuple[int, ...], at: Recombination, rng: np.random.Generator
) -> Iterator[Pairs]:
    """Same-bin pairs, in pieces that stay below `MEMORY_BOUND` bytes.

    Args:
        rows: both the rows that are kept and those that lend.
        swapped: positions of the columns Z_-s.
        at: what is known about recombined rows.
        rng: draws the lenders where there are too many.
    """
    step = max(MEMORY_BOUND // (8 * at.floats), _LEAST_PAIRS)
    total = len(rows) * rows.borrowed
    for first in range(0, total, step):
        last = min(first + step, total)
        kept = np.arange(first, last) // rows.borrowed
        lender, weight = rows.lend(first, last, rng)
        raw = recombine(rows.raw, kept, lender, swapped)
        same = np.flatnonzero(at.number(raw) == rows.number[kept])
        if len(same) == 0:
            continue
        raw, kept = raw[same], kept[same]
        intercept, slope = at.metric(raw)
        pi = at.pi(raw, rows.number[kept])
        yield Pairs(kept, weight[same], intercept, slope, at.p_1(raw), pi)


def recombine(raw: Array, kept: IntArray, lender: IntArray, swapped: tuple[int, ...]) -> Array:
    """Rows `kept` with the swapped columns of rows `lender`."""
    rows = raw[kept]
    columns = np.array(swapped, dtype=np.int64)
    rows[:, columns] = raw[np.ix_(lender, columns)]
    return rows
