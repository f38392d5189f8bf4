"""Shared, encoded designs: raw columns and dictionary of both domains, rows sorted by block.

Nothing here depends on a column set: a set selects from what is ready.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from whygap.blocks import Blocks, BlockSet
from whygap.domains import Array, ByDomain, Domain, IntArray
from whygap.learning.dictionary import Dictionary, build_dictionary, choose_pairs
from whygap.learning.inputs import Inputs, Lift, some_of
from whygap.learning.models import TrainingRows, curvature
from whygap.learning.ridge import Curvature
from whygap.tables.design import Column, Design

Rows = slice | tuple[slice, ...]
RowsOf = Callable[[Sequence[int]], TrainingRows]
Known = tuple[Curvature, Lift | None]

# Per domain. More do not move a knot, and bases of more are kept in single precision.
_MANY_ROWS = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Rows of a domain, with raw values of the extra column."""

    domain: Domain
    position: Array


@dataclass(frozen=True, slots=True, eq=False)
class Extra:
    """A column known only after a fit: the source risk.

    Its basis columns are main terms and hinges of the first (continuous) one. The first main term
    multiplies the linear terms of the other columns, the rest (indicators) all their terms.

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
        first = main(views["own"].position)[0]
        return cls(main, np.unique(np.quantile(first, [0.1, 0.3, 0.5, 0.7, 0.9])), views)


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """Both domains, block-sorted: raw (n, p), basis (n, functions), weights (mean 1).

    Both tables are stored column by column.
    """

    blocks: Blocks
    columns: tuple[Column, ...]
    dictionary: Dictionary
    raw: ByDomain[Array]
    basis: ByDomain[Array]
    weights: ByDomain[Array]
    curvatures: dict[tuple[str, BlockSet], Known] = field(default_factory=dict)

    def inputs(
        self, domain: Domain, rows: Rows, columns: Sequence[int], extra: Extra | None = None
    ) -> Inputs:
        """Raw and basis columns of a column set at some rows, and the extra column's own view."""
        functions = self.dictionary.select(columns)
        return Inputs(
            _block(self.raw[domain], rows, np.array(columns, dtype=np.int64)),
            _block(self.basis[domain], rows, functions),
            self.dictionary.simple[functions],
            tuple(k for k, c in enumerate(columns) if self.columns[c].kind == "category"),
            None if extra is None else self.lift(extra, "own", rows, columns),
        )

    def lift(self, extra: Extra, view: str, rows: Rows, columns: Sequence[int]) -> Lift:
        """The extra column, as one of its views has it, beside a column set at some rows."""
        functions = self.dictionary.select(columns)
        linear, single = self.dictionary.simple[functions] > 0, self.dictionary.single[functions]
        position = at(extra.views[view].position, rows)
        mains = extra.main(position)
        hinges = np.maximum(mains[0][:, None] - extra.knots, 0)
        times = (linear, *(single for _ in mains[1:]))
        return Lift(position, np.column_stack([*mains, hinges]), times)

    def known(
        self, name: str, blocks: BlockSet, columns: Sequence[int], rows_of: RowsOf
    ) -> Callable[[], Curvature]:
        """What a fit on all columns has found out for a set; that fit is made once."""

        def part() -> Curvature:
            if (name, blocks) not in self.curvatures:
                everything = rows_of(range(len(self.columns)))
                self.curvatures[name, blocks] = curvature(everything), everything.inputs.lift
            known, lift = self.curvatures[name, blocks]
            return known.part(self._place(columns, lift))

        return part

    def _place(self, columns: Sequence[int], lift: Lift | None) -> IntArray:
        """Where a set's coefficients are among those of all columns, intercept first."""
        functions = self.dictionary.select(columns)
        width = len(self.dictionary.terms)
        parts = [np.zeros(1, dtype=np.int64), 1 + functions]
        if lift is not None:
            start = 1 + width + lift.terms.shape[1]
            parts.append(np.arange(1 + width, start))
            for mask in lift.times:
                rank = start + np.cumsum(mask) - 1
                parts.append(rank[functions][mask[functions]])
                start += int(mask.sum())
        return np.concatenate(parts)


def at(values: Array, rows: Rows) -> Array:
    """Entries of some rows."""
    if isinstance(rows, tuple):
        return np.concatenate([values[s] for s in rows])
    return values[rows]


def _block(table: Array, rows: Rows, columns: IntArray) -> Array:
    """Some columns of some rows; tables are stored column by column, so runs of rows copy fast."""
    across = table.T
    if isinstance(rows, tuple):
        return np.concatenate([across[columns, s] for s in rows], axis=1).T
    return across[columns, rows].T


def make_features(design: Design, blocks: Blocks) -> Features:
    """Sort rows by block and compute the dictionary once (from a sample of very many rows)."""
    raw = design.features.zip(blocks.order, lambda x, order: np.asfortranarray(x[order]))
    weights = design.sample().weights.zip(blocks.order, lambda w, order: w[order])
    prediction = design.prediction.zip(blocks.order, lambda f, order: f[order])
    pairs = choose_pairs(raw, prediction, weights, design)
    some = np.vstack([x[some_of(len(x), _MANY_ROWS)] for x in raw])
    dictionary = build_dictionary(some, design.columns, pairs)
    dtype = np.float64 if sum(design.rows) <= 2 * _MANY_ROWS else np.float32
    basis = raw.map(lambda x: dictionary.transform(x, dtype))
    return Features(blocks, design.columns, dictionary, raw, basis, weights)
