"""Shared, encoded designs: raw columns and dictionary of both domains, rows sorted by block.

Nothing here depends on a column set: a set selects from what is ready.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from whygap.domains import Array, ByDomain, Domain, IntArray
from whygap.learning.blocks import Blocks, BlockSet
from whygap.learning.dictionary import Dictionary, build_dictionary
from whygap.tables.design import Column, Design

__all__ = ["Extra", "Features", "Inputs", "View", "make_features"]


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """What a model sees of some rows: raw columns (for trees) and basis columns (for the rest)."""

    raw: Array
    basis: Array
    simple: Array
    categorical: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.raw)


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Rows of a domain, with the raw values of the extra column if there is one."""

    domain: Domain
    position: Array | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Extra:
    """A column known only after a fit: the source risk.

    Its basis is made when it is asked for: main terms, hinges of the first (continuous) one, the
    first one times the linear terms of the other columns, and the rest (indicators) times all
    their terms.

    Attributes:
        main: raw values -> main terms.
        knots: where the first main term bends.
        views: the rows it is evaluated at, by name; "own" are the target rows it is trained on.
    """

    main: Callable[[Array], list[Array]]
    knots: Array
    views: Mapping[str, View]

    @classmethod
    def of(cls, main: Callable[[Array], list[Array]], views: Mapping[str, View]) -> Extra:
        """Knots at quantiles of the first main term over the rows it is trained on."""
        own = views["own"].position
        first = main(np.zeros(1) if own is None else own)[0]
        return cls(main, np.unique(np.quantile(first, [0.1, 0.3, 0.5, 0.7, 0.9])), views)

    def terms(
        self, position: Array, basis: Array, simple: Array, single: NDArray[np.bool_]
    ) -> Array:
        """Basis columns at rows whose other columns have this basis."""
        first, *rest = self.main(position)
        parts = [first[:, None], *(r[:, None] for r in rest)]
        parts += [np.maximum(first[:, None] - self.knots, 0), first[:, None] * basis[:, simple > 0]]
        parts += [r[:, None] * basis[:, single] for r in rest]
        return np.hstack(parts)

    @property
    def mains(self) -> int:
        """How many main terms there are (they are lightly penalised)."""
        return len(self.main(np.zeros(1)))


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """Both domains, block-sorted: raw (n, p), basis (n, functions), weights (mean 1)."""

    blocks: Blocks
    columns: tuple[Column, ...]
    dictionary: Dictionary
    raw: ByDomain[Array]
    basis: ByDomain[Array]
    weights: ByDomain[Array]
    plain: ByDomain[View] = field(default_factory=lambda: ByDomain(View("source"), View("target")))

    def inputs(
        self, view: View, rows: slice | IntArray, columns: Sequence[int], extra: Extra | None = None
    ) -> Inputs:
        """Raw and basis columns of a column set at some rows."""
        chosen = list(columns)
        functions = self.dictionary.select(columns)
        raw = self.raw[view.domain][rows][:, chosen]
        basis = self.basis[view.domain][rows][:, functions]
        simple = self.dictionary.simple[functions]
        if extra is not None and view.position is not None:
            position = view.position[rows]
            terms = extra.terms(position, basis, simple, self.dictionary.single[functions])
            raw = np.column_stack([raw, position])
            basis = np.hstack([basis, terms])
            light = (np.arange(terms.shape[1]) < extra.mains).astype(float)
            simple = np.concatenate([simple, light])
        categorical = tuple(k for k, c in enumerate(chosen) if self.columns[c].kind == "category")
        return Inputs(raw, basis, simple, categorical)

    def training_rows(self, domain: Domain, blocks: BlockSet) -> IntArray:
        """Sorted rows of some blocks that models may be trained on."""
        parts = [
            np.arange(s.start, s.stop)
            for s in (self.blocks.training_rows(domain, k) for k in sorted(blocks))
        ]
        return np.concatenate(parts)


def make_features(design: Design, blocks: Blocks) -> Features:
    """Sort rows by block and compute the dictionary once."""
    raw = design.features.zip(blocks.order, lambda x, order: np.ascontiguousarray(x[order]))
    dictionary = build_dictionary(np.vstack([raw.source, raw.target]), design.columns)
    weights = design.sample().weights.zip(blocks.order, lambda w, order: w[order])
    return Features(blocks, design.columns, dictionary, raw, raw.map(dictionary.transform), weights)
