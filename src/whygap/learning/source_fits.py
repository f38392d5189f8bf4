"""Models fitted on source rows alone, kept from one target to the next.

A model is known by everything that decides it: the source's rows as learners see them, their
blocks, the columns, the target of the regression and the learner. So a model that is found is the
one that would be fitted, bit for bit; whether it was makes no difference but in time. That the
source's rows look alike beside every target takes a dictionary made from the source alone.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from whygap.domains import Array
from whygap.learning.blocks import Blocks, BlockSet
from whygap.learning.dictionary import Dictionary, Term
from whygap.learning.models import Model

__all__ = ["SourceFits", "digest_of", "same_terms", "source_digest"]


@dataclass(slots=True, eq=False)
class SourceFits:
    """Models by what decides them: one for every training set."""

    models: dict[Hashable, Mapping[BlockSet, Model]] = field(default_factory=dict)

    def found(
        self, key: Hashable, fit: Callable[[], Mapping[BlockSet, Model]]
    ) -> Mapping[BlockSet, Model]:
        """The models of this key; fitted where there are none."""
        if key not in self.models:
            self.models[key] = fit()
        return self.models[key]


def source_digest(blocks: Blocks, raw: Array, basis: Array, weights: Array, pairs: str) -> str:
    """Of all that fits on source rows have in common."""
    trained = () if blocks.trained is None else (blocks.trained.source,)
    cut = blocks.order.source, blocks.bounds.source, *trained
    return digest_of(raw, basis, weights, *cut) + pairs


def digest_of(*arrays: Any) -> str:
    """Of shapes and bytes."""
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(str((array.shape, array.dtype)).encode())
        digest.update((array.T if array.flags.f_contiguous else np.ascontiguousarray(array)).data)
    return digest.hexdigest()


def same_terms(one: Dictionary, other: Dictionary) -> bool:
    """Whether two dictionaries have functions of the same kinds and columns, as many of each.

    Where not, the rows behind one of them have levels, gaps or frequent values of their own.
    """
    return Counter(map(_kind, one.terms)) == Counter(map(_kind, other.terms))


def _kind(term: Term) -> tuple[str, frozenset[int], bool]:
    piece: Any = term.piece
    return piece.func.__name__, term.columns, term.simple
