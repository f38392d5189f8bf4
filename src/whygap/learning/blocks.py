"""Blocks: each domain is cut once; a fit is named by the blocks it was trained on.

First-order uses are trained on all blocks but the row's own. Quadratic uses are trained on twins:
two disjoint halves of the other blocks. With five blocks the ten pairs serve all five evaluated
blocks, so three halvings cost as many fits as one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from whygap.domains import DOMAINS, Array, ByDomain, Domain, IntArray
from whygap.errors import TableError
from whygap.settings import Settings
from whygap.tables.design import Design

BlockSet = frozenset[int]
MAX_TRAINING_ROWS = 60_000  # rows per domain: models hardly gain from more
HALVINGS = 3  # of each block's others, averaged over: with five folds they cost no more than one


@dataclass(frozen=True, eq=False)
class Blocks:
    """Rows of both domains, ordered by block.

    Attributes:
        count: number of blocks.
        order: per domain, row numbers sorted by block: row i of the sorted data is row order[i].
        bounds: per domain, block k occupies sorted rows bounds[k]:bounds[k+1].
        trained: per domain and block, how many of the block's rows models may be trained on: its
            first ones. None is all of them.
        per_fold: how many blocks make up a fold; models are never trained on the row's own fold.
    """

    count: int
    order: ByDomain[IntArray]
    bounds: ByDomain[IntArray]
    trained: ByDomain[IntArray] | None = None
    per_fold: int = 1

    def rows(self, domain: Domain, block: int) -> slice:
        """Sorted rows of one block."""
        bounds = self.bounds[domain]
        return slice(int(bounds[block]), int(bounds[block + 1]))

    def training_rows(self, domain: Domain, blocks: BlockSet) -> tuple[slice, ...]:
        """Sorted rows of some blocks that models may be trained on."""
        rows = [self.rows(domain, block) for block in sorted(blocks)]
        if self.trained is None:
            return tuple(rows)
        counts = self.trained[domain][sorted(blocks)]
        return tuple(slice(r.start, r.start + int(n)) for r, n in zip(rows, counts, strict=True))

    def complement(self, block: int) -> BlockSet:
        """All blocks of other folds."""
        fold = block // self.per_fold
        return frozenset(k for k in range(self.count) if k // self.per_fold != fold)

    def complements(self) -> tuple[BlockSet, ...]:
        """One training set per fold."""
        return tuple(dict.fromkeys(self.complement(k) for k in range(self.count)))

    def halvings(self, block: int, count: int = HALVINGS) -> tuple[tuple[BlockSet, BlockSet], ...]:
        """Ways to split the other blocks into two disjoint halves, spread over all there are."""
        others = sorted(self.complement(block))
        # Equal halves have no order: the first block always is in the first one.
        fixed = others[: 1 - len(others) % 2]
        size = len(others) // 2 - len(fixed)
        ways = math.comb(len(others) - len(fixed), size)
        count = min(count, ways)
        pairs = []
        for way in range(count):
            chosen = _combination(others[len(fixed) :], size, way * ways // count)
            first = frozenset((*fixed, *chosen))
            pairs.append((first, frozenset(others) - first))
        return tuple(pairs)

    def halves(self) -> tuple[BlockSet, ...]:
        """Every half used by some block, once."""
        used = {h for k in range(self.count) for pair in self.halvings(k) for h in pair}
        return tuple(sorted(used, key=sorted))

    @cached_property
    def back(self) -> ByDomain[IntArray]:
        """Positions, among the block-sorted rows, of the rows in their original order."""
        return self.order.map(np.argsort)

    @cached_property
    def of_rows(self) -> ByDomain[IntArray]:
        """Block number of every row, in the original order."""
        return self.bounds.zip(
            self.back, lambda bounds, back: np.searchsorted(bounds, back, side="right") - 1
        )


def _combination(items: list[int], size: int, rank: int) -> list[int]:
    """The combination of this rank, in the order of `itertools.combinations`."""
    if size == 0:
        return []
    with_first = math.comb(len(items) - 1, size - 1)
    if rank < with_first:
        return [items[0], *_combination(items[1:], size - 1, rank)]
    return _combination(items[1:], size, rank - with_first)


def make_blocks(design: Design, settings: Settings, rng: np.random.Generator) -> Blocks:
    """Seeded, outcome-stratified, cluster-respecting blocks in each domain."""
    # Halvings of fewer than three other blocks have nothing to disagree on.
    per_fold = 2 if settings.folds == 3 else 1
    count = settings.folds * per_fold
    shares = np.full(count, 1.0 / count)
    labels = _labels(design, shares, rng)
    for domain in DOMAINS:
        fold = labels[domain] // per_fold
        _check(fold, design, settings.folds, domain)
    chosen = labels.zip(design.strata(), lambda b, kind: _for_training(b, kind, rng))
    return Blocks(
        count=count,
        order=labels.zip(chosen, lambda b, first: np.lexsort((~first, b))),
        bounds=labels.map(lambda b: np.searchsorted(np.sort(b), np.arange(count + 1))),
        trained=labels.zip(chosen, lambda b, first: np.bincount(b[first], minlength=count)),
        per_fold=per_fold,
    )


def _for_training(
    label: IntArray, stratum: IntArray, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Choose at most MAX_TRAINING_ROWS rows, an equal fraction of every block and outcome."""
    if len(label) <= MAX_TRAINING_ROWS:
        return np.ones(len(label), dtype=bool)
    chosen = np.zeros(len(label), dtype=bool)
    place = (stratum.max() + 1) * label + stratum
    for number, size in enumerate(np.bincount(place)):
        rows = np.flatnonzero(place == number)
        if not len(rows):
            continue
        count = max(1, int(size * MAX_TRAINING_ROWS / len(label)))
        chosen[rng.choice(rows, min(count, size), replace=False, shuffle=False)] = True
    return chosen


def _labels(design: Design, shares: Array, rng: np.random.Generator) -> ByDomain[IntArray]:
    """A block for every row; a cluster has one, in both domains if it has rows in both."""
    strata = design.strata()
    most = max(int(stratum.max()) for stratum in strata)
    kind = strata.map(lambda stratum: (1 << stratum) >> 1)  # a bit for each stratum but the first
    if design.clusters is None:
        units = design.rows.map(np.arange)
    elif design.shares_clusters:
        every = np.concatenate(list(design.clusters))
        kinds = np.concatenate([1 + 4 * kind.source, 2 + (4 << most) * kind.target])
        label = _dealt(np.unique(every, return_inverse=True)[1], kinds, shares, rng)
        return ByDomain(label[: design.rows.source], label[design.rows.source :])
    else:
        units = design.clusters.map(lambda c: np.unique(c, return_inverse=True)[1])
    return units.zip(kind, lambda unit, bits: _dealt(unit, bits, shares, rng))


def _dealt(unit: IntArray, kind: IntArray, shares: Array, rng: np.random.Generator) -> IntArray:
    """Units to blocks; those whose rows have the same kinds (bits) in proportion to the shares."""
    size = np.bincount(unit)
    kinds, label = np.zeros_like(size), np.empty_like(size)
    np.bitwise_or.at(kinds, unit, kind)
    for one in np.unique(kinds):
        members = rng.permutation(np.flatnonzero(kinds == one))
        label[members] = _deal(size[members], shares, rng)
    if np.bincount(label, minlength=len(shares)).min() == 0:
        label = _largest_first(size, shares, rng)
    return np.asarray(label[unit], dtype=np.int64)


def _deal(size: IntArray, shares: Array, rng: np.random.Generator) -> IntArray:
    """Deal shuffled units to blocks in proportion to the shares of rows."""
    reached = (np.cumsum(size) - size / 2) / size.sum()
    start = rng.permutation(len(shares))
    edges = np.cumsum(shares[start])
    place = np.minimum(np.searchsorted(edges, reached), len(shares) - 1)
    return np.asarray(start[place], dtype=np.int64)


def _largest_first(size: IntArray, shares: Array, rng: np.random.Generator) -> IntArray:
    """Each unit to the block that lacks most: where few large ones would leave a block empty."""
    label, lacking = np.empty_like(size), shares * size.sum()
    shuffled = rng.permutation(len(size))
    for unit in shuffled[np.argsort(-size[shuffled], kind="stable")]:
        label[unit] = np.argmax(lacking)
        lacking[label[unit]] -= size[unit]
    return label


def _check(labels: IntArray, design: Design, count: int, domain: Domain) -> None:
    """Every fold needs rows, and of both outcomes where there are two.

    In the target they can be done without where the metric is a mean over rows.
    """
    rows, outcome = np.bincount(labels, minlength=count), design.outcome[domain]
    binary = design.task == "binary" and (domain == "source" or not design.metric.is_mean)
    positives = np.bincount(labels, weights=outcome if binary else None, minlength=count)
    if rows.min() >= 5 and not (binary and min(positives.min(), (rows - positives).min()) < 1):
        return
    values = " with both outcome values" if binary else ""
    positive = f", {int(outcome.sum())} of them positive" if binary else ""
    clusters = None if design.clusters is None else len(np.unique(design.clusters[domain]))
    raise TableError(
        f"The {domain} table is too small for {count} folds: each needs at least 5 rows{values}",
        got=f"{len(labels)} rows{positive}" + (f", in {clusters} clusters" if clusters else ""),
        hint="Use fewer folds, or more rows" + (" and clusters." if clusters else "."),
    )
