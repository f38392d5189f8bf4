"""Shared, encoded designs: raw columns and dictionary of both domains, rows sorted by block.

Nothing here depends on a column set: a set selects from what is ready.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from whygap.domains import Array, ByDomain, Domain, IntArray
from whygap.equations import binning
from whygap.learning.blocks import Blocks, BlockSet
from whygap.learning.dictionary import Dictionary, build_dictionary
from whygap.learning.ridge import logit_clipped
from whygap.tables.design import Column, Design

__all__ = ["Extra", "Features", "Inputs", "View", "binned_extra", "make_features", "smooth_extra"]

_END_SHARE = 0.02


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


def binned_extra(
    features: Features, risk: ByDomain[Array], bins: int, used: Sequence[int]
) -> Extra:
    """The binned source risk: own bins at target rows, bins up and down at source rows."""
    own = binning.bin_index(risk.target, bins)
    down = binning.edge_index(risk.source, bins)
    positions = {"own": own, "down": down, "up": down + 1}
    centres = np.clip(np.arange(bins + 1) / bins, 0.25 / bins, 1 - 0.25 / bins)
    ends = [e for e in (0, bins) if np.mean(own == e) >= _END_SHARE]
    scale = logit_clipped(centres[own.astype(int)])
    middle, spread = float(scale.mean()), float(scale.std()) or 1.0

    def main(position: Array) -> list[Array]:
        level = (logit_clipped(centres[position.astype(int)]) - middle) / spread
        return [level, *((position == e).astype(float) for e in ends)]

    return _extra(features, positions, main, used)


def smooth_extra(
    features: Features, risk: ByDomain[Array], used: Sequence[int], step: float = 0.25
) -> Extra:
    """The source risk itself, on the logit scale; at source rows also a step up and down."""
    own, source = logit_clipped(risk.target), logit_clipped(risk.source)
    positions = {"own": own, "here": source, "down": source - step, "up": source + step}
    middle, spread = float(own.mean()), float(own.std()) or 1.0

    def main(position: Array) -> list[Array]:
        return [(position - middle) / spread]

    return _extra(features, positions, main, used)


def _extra(
    features: Features,
    positions: Mapping[str, Array],
    main: Callable[[Array], list[Array]],
    used: Sequence[int],
) -> Extra:
    """Basis of the extra column: main terms, smooth terms, and products with the columns' terms."""
    dictionary = features.dictionary
    allowed = frozenset(used)
    partners = [k for k, tag in enumerate(dictionary.tags) if len(tag) == 1 and tag <= allowed]
    own_main = main(positions["own"])
    linear = [k for k in partners if dictionary.simple[k]]
    knots = np.unique(np.quantile(own_main[0], [0.1, 0.3, 0.5, 0.7, 0.9]))
    views, tags, simple = {}, [], []
    centre = scale = np.zeros(0)
    for name, position in positions.items():
        domain: Domain = "target" if name == "own" else "source"
        mains = main(position)
        parts = list(mains) + [np.maximum(mains[0] - k, 0) for k in knots]
        phi = features.basis[domain]
        products = [m * phi[:, k] for m in mains[:1] for k in linear]
        products += [m * phi[:, k] for m in mains[1:] for k in partners]
        basis = np.column_stack(parts + products)
        if name == "own":
            centre, scale = basis.mean(axis=0), np.maximum(basis.std(axis=0), 1e-9)
            tags = [frozenset[int]()] * len(parts) + [dictionary.tags[k] for k in linear]
            tags += [dictionary.tags[k] for _ in mains[1:] for k in partners]
            simple = [1.0] * len(mains) + [0.0] * (basis.shape[1] - len(mains))
        views[name] = View(domain, position, (basis - centre) / scale)
    return Extra(tuple(tags), np.array(simple), views)
