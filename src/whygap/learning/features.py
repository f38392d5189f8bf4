"""Shared, encoded designs: raw columns and dictionary of both domains, rows sorted by block.

Nothing here depends on a column set: a set selects from what is ready.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from whygap.domains import Array, ByDomain, Domain, IntArray
from whygap.learning.blocks import Blocks, BlockSet
from whygap.learning.dictionary import Dictionary, build_dictionary
from whygap.tables.design import Column, Design

__all__ = ["Extra", "Features", "Inputs", "View", "extra_column", "make_features"]


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
    """Rows of a domain, with the values of the extra column if there is one."""

    domain: Domain
    raw: Array | None = None
    basis: Array | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Extra:
    """A column known only after a fit (the source risk), with its own basis functions and tags."""

    tags: tuple[frozenset[int], ...]
    simple: Array
    views: Mapping[str, View]


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """Both domains, block-sorted: raw (n, p), basis (n, functions), weights (mean 1)."""

    blocks: Blocks
    columns: tuple[Column, ...]
    dictionary: Dictionary
    raw: ByDomain[Array]
    basis: ByDomain[Array]
    weights: ByDomain[Array]
    plain: ByDomain[View] = field(
        default_factory=lambda: ByDomain(View("source"), View("target"))
    )

    def inputs(
        self, view: View, rows: slice | IntArray, columns: Sequence[int], extra: Extra | None = None
    ) -> Inputs:
        """Raw and basis columns of a column set at some rows."""
        chosen = list(columns)
        functions = self.dictionary.select(columns)
        raw = self.raw[view.domain][rows][:, chosen]
        basis = self.basis[view.domain][rows][:, functions]
        simple = self.dictionary.simple[functions]
        if extra is not None and view.raw is not None and view.basis is not None:
            allowed = frozenset(columns)
            used = np.flatnonzero([tag <= allowed for tag in extra.tags])
            raw = np.column_stack([raw, view.raw[rows]])
            basis = np.column_stack([basis, view.basis[rows][:, used]])
            simple = np.concatenate([simple, extra.simple[used]])
        categorical = tuple(
            k for k, c in enumerate(chosen) if self.columns[c].kind == "category"
        )
        return Inputs(raw, basis, simple, categorical)

    def training_rows(self, domain: Domain, blocks: BlockSet) -> IntArray:
        """Sorted rows of some blocks."""
        parts = [np.arange(s.start, s.stop) for s in (self.blocks.rows(domain, k) for k in sorted(blocks))]
        return np.concatenate(parts)


def make_features(design: Design, blocks: Blocks) -> Features:
    """Sort rows by block and compute the dictionary once."""
    raw = design.features.zip(blocks.order, lambda x, order: np.ascontiguousarray(x[order]))
    dictionary = build_dictionary(np.vstack([raw.source, raw.target]), design.columns)
    weights = design.sample().weights.zip(blocks.order, lambda w, order: w[order])
    return Features(blocks, design.columns, dictionary, raw, raw.map(dictionary.transform), weights)


def extra_column(
    features: Features,
    positions: Mapping[str, View],
    main: Callable[[Array], list[Array]],
    used: Sequence[int],
) -> Extra:
    """Basis of an extra column in every view: main terms, hinges, products with other columns.

    `positions` gives its raw values per view; the view "own" (target rows, used for training)
    sets knots and scales. `main` turns raw values into main terms: the first is continuous and is
    multiplied with the linear terms of the columns in `used`, the others are indicators and are
    multiplied with all their terms.
    """
    dictionary = features.dictionary
    allowed = frozenset(used)
    partners = [k for k, tag in enumerate(dictionary.tags) if len(tag) == 1 and tag <= allowed]
    linear = [k for k in partners if dictionary.simple[k]]
    raws = {name: _raw(view) for name, view in positions.items()}
    own = main(raws["own"])
    knots = np.unique(np.quantile(own[0], [0.1, 0.3, 0.5, 0.7, 0.9]))

    def basis(name: str) -> Array:
        mains, phi = main(raws[name]), features.basis[positions[name].domain]
        parts = [*mains, *(np.maximum(mains[0] - k, 0) for k in knots)]
        parts += [mains[0] * phi[:, k] for k in linear]
        parts += [m * phi[:, k] for m in mains[1:] for k in partners]
        return np.column_stack(parts)

    first = basis("own")
    centre, scale = first.mean(axis=0), np.maximum(first.std(axis=0), 1e-9)
    alone = len(own) + len(knots)
    tags = [frozenset[int]()] * alone + [dictionary.tags[k] for k in linear]
    tags += [dictionary.tags[k] for _ in own[1:] for k in partners]
    views = {
        name: View(view.domain, view.raw, (basis(name) - centre) / scale)
        for name, view in positions.items()
    }
    simple = (np.arange(len(tags)) < len(own)).astype(float)
    return Extra(tuple(tags), simple, views)


def _raw(view: View) -> Array:
    return np.zeros(0) if view.raw is None else view.raw
