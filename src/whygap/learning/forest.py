"""A booster's trees as tables: which leaves a value of one column leaves possible.

A split on a column rules out the leaves on its other side. So between two thresholds of a column
the same leaves of all trees are possible, one bit each, and a row's leaf is the one that all its
values leave. Where the same rows come with several values of one more column, only that one is
looked up anew; LightGBM would walk every row down every tree again.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from whygap.domains import Array

__all__ = ["Forest"]

Masks = NDArray[np.uint16]

_BITS = np.iinfo(np.uint16)  # a mask has one for each leaf of a tree


class _Flag(IntEnum):
    """LightGBM's of a split."""

    BY_CATEGORY = 1
    MISSING_LEFT = 2
    MISSING_TOLD = 8  # missing values were seen, and told apart


def _leaf_of_masks() -> NDArray[np.uint8]:
    """The leaf that a mask of one bit stands for."""
    found = np.zeros(_BITS.max + 1, dtype=np.uint8)
    found[1 << np.arange(_BITS.bits)] = np.arange(_BITS.bits)
    return found


_LEAF = _leaf_of_masks()


@dataclass(frozen=True, slots=True, eq=False)
class _Column:
    """Leaves left possible (slots, trees) between edges; the last slot is for missing values.

    Categories have a slot for each code, one for codes that no split knows, and the last.
    """

    edges: Array | None
    masks: Masks

    def possible(self, values: Array) -> Masks:
        """At some values (rows, trees)."""
        missing, last = np.isnan(values), len(self.masks) - 1
        if self.edges is None:
            known = (values >= 0) & (values < last - 1)
            slot = np.where(known, values, last - 1)
            slot[missing] = last
            return self.masks[slot.astype(np.int64)]
        slot = np.searchsorted(self.edges, values)
        slot[missing] = last
        return self.masks[slot]


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """The columns that trees split on, by number, and the values of leaves (trees, 16)."""

    columns: dict[int, _Column]
    values: Array

    @classmethod
    def of(cls, booster: Any) -> Forest:
        """Read from the booster's text."""
        trees = [_read(part) for part in booster.model_to_string().split("\nTree=")[1:]]
        values = np.zeros((len(trees), _BITS.bits))
        splits: dict[int, list[_Split]] = defaultdict(list)
        for number, tree in enumerate(trees):
            values[number, : len(tree["leaf_value"])] = tree["leaf_value"]
            for split in _splits(number, tree):
                splits[split.column].append(split)
        found = {column: _column(own, len(trees)) for column, own in splits.items()}
        return cls(found, values)

    def possible(self, table: Array, first: int = 0) -> Masks:
        """Leaves (rows, trees) that columns leave possible; `first` is the number of the first."""
        found = np.full((len(table), len(self.values)), _BITS.max, dtype=np.uint16)
        for k in range(table.shape[1]):
            if first + k in self.columns:
                found &= self.columns[first + k].possible(table[:, k])
        return found

    def total(self, possible: Masks) -> Array:
        """The sum over trees, where all columns have had their say."""
        place = _LEAF[possible] + _BITS.bits * np.arange(len(self.values))
        return np.asarray(self.values.ravel()[place].sum(axis=1))


class _Split(NamedTuple):
    """Of one tree; a tuple, since there are hundreds."""

    tree: int
    column: int
    threshold: float
    left: int  # leaves that stay possible on either side
    right: int
    missing_left: bool
    codes: tuple[int, ...] | None = None  # categories that go left


def _column(splits: list[_Split], trees: int) -> _Column:
    """Every split decided in every slot, and what all of a tree leave; trees are in order."""
    tree, _, thresholds, *sides, missing, codes = zip(*splits, strict=True)
    edges = None
    if codes[0] is None:
        edges = np.array(sorted(set(thresholds)))
        goes_left = np.array(thresholds)[:, None] >= np.append(edges, np.inf)
    else:
        slots = np.arange(2 + max(max(known, default=0) for known in codes))
        goes_left = np.array([np.isin(slots, known) for known in codes])
    decided = np.column_stack([goes_left, missing])
    left, right = np.array(sides, dtype=np.uint16)[:, :, None]
    starts = np.flatnonzero(np.diff(tree, prepend=-1))
    masks = np.full((decided.shape[1], trees), _BITS.max, dtype=np.uint16)
    kept = np.bitwise_and.reduceat(np.where(decided, left, right), starts, axis=0)
    masks[:, np.array(tree)[starts]] = kept.T
    return _Column(edges, masks)


_READ = {
    **dict.fromkeys(("threshold", "leaf_value"), float),
    **dict.fromkeys(("split_feature", "decision_type", "left_child", "right_child"), int),
    **dict.fromkeys(("cat_boundaries", "cat_threshold"), int),
}


def _read(text: str) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {name: [] for name in _READ}
    for line in text.split("\n\n", 1)[0].split("\n"):
        name, _, words = line.partition("=")
        if name in _READ:
            found[name] = list(map(_READ[name], words.split()))
    return found


def _splits(number: int, tree: dict[str, list[Any]]) -> list[_Split]:
    """Children come after their parents; one below 0 is a leaf, -1 the first."""
    everyone = (1 << len(tree["leaf_value"])) - 1
    below: dict[int, int] = {}
    found = []
    for split in reversed(range(len(tree["split_feature"]))):
        children = tree["left_child"][split], tree["right_child"][split]
        left, right = (1 << ~child if child < 0 else below[child] for child in children)
        below[split] = left | right
        threshold, flags = tree["threshold"][split], tree["decision_type"][split]
        codes = None
        if flags & _Flag.BY_CATEGORY:
            start, stop = tree["cat_boundaries"][int(threshold) : int(threshold) + 2]
            codes = _codes(tree["cat_threshold"][start:stop])
        # Where training has seen no missing value, it counts as 0; among categories it goes right.
        missing_left = threshold >= 0
        if flags & _Flag.MISSING_TOLD:
            missing_left = bool(flags & _Flag.MISSING_LEFT)
        found.append(
            _Split(
                number,
                tree["split_feature"][split],
                threshold,
                everyone & ~right,
                everyone & ~left,
                missing_left and codes is None,
                codes,
            )
        )
    return found


def _codes(words: list[int]) -> tuple[int, ...]:
    """The bits that are set, 32 to a word."""
    return tuple(32 * w + b for w, word in enumerate(words) for b in range(32) if word >> b & 1)
