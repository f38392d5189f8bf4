"""Recombined rows, streamed: W and Z_s of one target row, Z_-s of another, in bounded pieces.

Every row of a block lends to every row of the same block (the paper's evaluation partition):
neither was seen by the models that are asked about the pair. Up to `MOST_DRAWS` rows a block all
pairs are visited; beyond that each row borrows from `MOST_DRAWS` rows drawn with their weights, as
the paper does (appendix, "Computing U-statistics").

Deviation from the paper, eq. (4): a row never borrows from its own unit. Recombined with itself it
is the row whose outcome is in the residual, and the diagonal adds -2 pi xi^2 / n to its average,
which for the phantom ratios of real tables (tens) is no small number (docs/v_statistic.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from whygap.domains import Array, IntArray
from whygap.equations.v_statistic import Pairs

__all__ = ["MEMORY_BOUND", "MOST_DRAWS", "Lenders", "Mixed", "Recombination", "stream_pairs"]

MOST_DRAWS = 2000
MEMORY_BOUND = 32 * 2**20
_LEAST_PAIRS = 256


@dataclass(frozen=True, slots=True, eq=False)
class Mixed:
    """Recombined rows: `kept` target rows, with the columns `swapped` of `lender` target rows.

    Attributes:
        raw: their encoded features.
        kept: who gives W and Z_s; like `lender`, a position among the block-sorted target rows.
        lender: who gives Z_-s.
        swapped: positions of the columns Z_-s.
    """

    raw: Array
    kept: IntArray
    lender: IntArray
    swapped: tuple[int, ...]

    @classmethod
    def of(cls, raw: Array, kept: IntArray, lender: IntArray, swapped: tuple[int, ...]) -> Mixed:
        """From the encoded features of all target rows."""
        rows = raw[kept]
        columns = np.array(swapped, dtype=np.int64)
        rows[:, columns] = raw[np.ix_(lender, columns)]
        return cls(rows, kept, lender, swapped)

    def __len__(self) -> int:
        return len(self.kept)

    def only(self, which: IntArray) -> Mixed:
        """Some of them."""
        return Mixed(self.raw[which], self.kept[which], self.lender[which], self.swapped)


@dataclass(frozen=True, slots=True, eq=False)
class Recombination:
    """What is known about rows that nobody observed.

    Attributes:
        number: bins of the source risk.
        p_1: target risks.
        pi: phantom ratios, given also the bins.
        metric: intercepts and slopes, at encoded features.
        floats: numbers held in memory per row while these are computed.
    """

    number: Callable[[Mixed], Array]
    p_1: Callable[[Mixed], Array]
    pi: Callable[[Mixed, Array], Array]
    metric: Callable[[Array], tuple[Array, Array]]
    floats: int


@dataclass(frozen=True, slots=True, eq=False)
class Lenders:
    """Target rows of one block, each of which keeps, and lends to the others.

    Attributes:
        rows: their positions among the block-sorted target rows.
        number: bins of their own source risk.
        weight: row weights.
        unit: rows of one unit do not lend to each other; None (a whole population): all may.
    """

    rows: IntArray
    number: Array
    weight: Array
    unit: IntArray | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def borrowed(self) -> int:
        """How many rows each row borrows from."""
        return min(len(self), MOST_DRAWS)

    def lend(self, first: int, last: int, rng: np.random.Generator) -> Loans:
        """Pairs number first..last, in the order of the rows that are kept."""
        chance = self.weight / float(self.weight.sum())
        kept = np.arange(first, last) // self.borrowed
        if self.borrowed == len(self):
            lender = np.arange(first, last) % len(self)
            weight = chance[lender]
        else:
            lender = rng.choice(len(self), size=len(kept), p=chance)
            weight = np.full(len(kept), 1.0 / self.borrowed)
        if self.unit is None:
            return Loans(kept, lender, weight)
        others = self.unit[lender] != self.unit[kept]
        own = np.bincount(self.unit, weights=chance)[self.unit]
        kept = kept[others]
        return Loans(kept, lender[others], weight[others] / (1.0 - own[kept]))


@dataclass(frozen=True, slots=True, eq=False)
class Loans:
    """Pairs with the lender's weight, numbered within the block.

    The weights of one kept row sum to 1 (about, where lenders are drawn).
    """

    kept: IntArray
    lender: IntArray
    weight: Array


def stream_pairs(
    raw: Array,
    block: Lenders,
    swapped: tuple[int, ...],
    at: Recombination,
    rng: np.random.Generator,
) -> Iterator[Pairs]:
    """Same-bin pairs, in pieces that stay below `MEMORY_BOUND` bytes.

    Args:
        raw: encoded features of all target rows.
        block: both the rows that are kept and those that lend.
        swapped: positions of the columns Z_-s.
        at: what is known about recombined rows.
        rng: draws the lenders where there are too many.
    """
    step = max(MEMORY_BOUND // (8 * at.floats), _LEAST_PAIRS)
    total = len(block) * block.borrowed
    for first in range(0, total, step):
        loans = block.lend(first, min(first + step, total), rng)
        mixed = Mixed.of(raw, block.rows[loans.kept], block.rows[loans.lender], swapped)
        same = np.flatnonzero(at.number(mixed) == block.number[loans.kept])
        if len(same) == 0:
            continue
        mixed, kept = mixed.only(same), loans.kept[same]
        intercept, slope = at.metric(mixed.raw)
        pi = at.pi(mixed, block.number[kept])
        yield Pairs(kept, loans.weight[same], intercept, slope, at.p_1(mixed), pi)
