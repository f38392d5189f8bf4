"""Shared, encoded designs: raw columns and dictionary of both domains, rows sorted by block.

Nothing here depends on a column set: a set selects from what is ready.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whygap.domains import DOMAINS, Array, ByDomain, Domain, IntArray
from whygap.learning.binned import BinnedTables
from whygap.learning.blocks import Blocks, BlockSet
from whygap.learning.dictionary import (
    MOST_TERMS,
    Dictionary,
    FoundPairs,
    Pair,
    build_dictionary,
    choose_pairs,
    needs_pairs,
    pairs_of_outcome,
)
from whygap.learning.inputs import Inputs, Lift, later, some_of
from whygap.learning.models import Kind, TrainingRows, curvature
from whygap.learning.ridge import Curvature
from whygap.learning.source_fits import SourceFits, same_terms, source_digest
from whygap.tables.design import Column, Design

Rows = slice | tuple[slice, ...]
RowsOf = Callable[[Sequence[int]], TrainingRows]
Known = tuple[Curvature, Lift | None]

# Per domain. More do not move a knot, and bases of more are kept in single precision.
_MANY_ROWS = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Rows of a domain, with raw values of the extra column, (n,), or of several, (n, columns)."""

    domain: Domain
    position: Array


@dataclass(frozen=True, slots=True, eq=False)
class Extra:
    """A column known only after a fit: the source risk, or a score; or two of them.

    Its basis columns are main terms, and hinges of the first (continuous) ones. These multiply the
    linear terms of the other columns, the rest (indicators) all their terms.

    Attributes:
        main: raw values -> main terms.
        knots: where the first main terms bend, one array for each that is continuous.
        views: the rows it is evaluated at, by name; "own" are the target rows it is trained on.
        heads: how many main terms there are.
        table: main terms and hinges of raw values 0, 1, ..., where there are no others.
    """

    main: Callable[[Array], list[Array]]
    knots: tuple[Array, ...]
    views: Mapping[str, View]
    heads: int
    table: Array | None = None

    @classmethod
    def of(
        cls,
        main: Callable[[Array], list[Array]],
        views: Mapping[str, View],
        *,
        count: int = 0,
        bending: int = 1,
    ) -> Extra:
        """Knots at quantiles of the first, bending main terms over the rows of training.

        With a `count`, raw values are 0, ..., count - 1.
        """
        terms = main(views["own"].position)
        bends = terms[:bending]
        knots = (np.unique(np.quantile(term, [0.1, 0.3, 0.5, 0.7, 0.9])) for term in bends)
        made = cls(main, tuple(knots), views, len(terms))
        return replace(made, table=made.terms(np.arange(count, dtype=float))) if count else made

    @property
    def width(self) -> int:
        """How many terms it has."""
        return self.heads + sum(map(len, self.knots))

    def terms(self, position: Array) -> Array:
        """Main terms, then hinges, at some raw values."""
        if self.table is not None:
            return np.asarray(self.table[position.astype(np.int64)])
        mains = self.main(position)
        bends = zip(mains, self.knots, strict=False)
        hinges = [np.maximum(term[:, None] - knots, 0) for term, knots in bends]
        return np.column_stack([*mains, *hinges])


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """Both domains, block-sorted: raw (n, p), basis (n, functions), weights (mean 1).

    Both tables are stored column by column. Of very many rows, raw is the design's own table, in
    its own order: another copy is too dear.
    """

    blocks: Blocks
    columns: tuple[Column, ...]
    dictionary: Dictionary
    raw: ByDomain[Array]
    basis: ByDomain[Array]
    weights: ByDomain[Array]
    found: FoundPairs = field(default_factory=lambda: FoundPairs((), {}))
    curvatures: dict[tuple[str, BlockSet], Known] = field(default_factory=dict)
    closings: dict[tuple[Domain, BlockSet | None], NDArray[np.bool_]] = field(default_factory=dict)
    gathered: dict[Domain, tuple[bytes, Array]] = field(default_factory=dict)
    binned: BinnedTables = field(default_factory=BinnedTables)
    source_fits: SourceFits | None = None  # where fits on source rows are kept for other targets
    source_digest: str = ""  # of what these have in common

    def inputs(
        self,
        domain: Domain,
        rows: Rows,
        columns: Sequence[int],
        extra: Extra | None = None,
        trained_on: BlockSet | None = None,
    ) -> Inputs:
        """Raw and basis columns of a column set at some rows, and the extra column's own view.

        A training set is named where a model is trained.
        """
        functions, seen = self.dictionary.select(columns), partial(self._seen, domain, rows)
        return Inputs(
            seen(len(columns), lambda: self.table(domain, rows, columns)),
            seen(len(functions), lambda: self.across(domain, rows, functions).T),
            self.light(domain, functions, trained_on),
            self.categorical(columns),
            None if extra is None else self.lift(extra, "own", rows, columns),
        )

    def _seen(self, domain: Domain, rows: Rows, width: int, made: Callable[[], Array]) -> Array:
        """Of very many rows a table is made when it is looked at; of those to train on each time.

        A choice of learners has many training sets at hand.
        """
        if not self.are_many(domain):
            return made()
        height = len(at(self.weights[domain], rows))
        return later(height, width, made if isinstance(rows, tuple) else cache(made))

    def are_many(self, domain: Domain) -> bool:
        """Whether a domain has so many rows that copies are too dear."""
        return len(self.weights[domain]) > _MANY_ROWS

    def categorical(self, columns: Sequence[int]) -> tuple[int, ...]:
        """Which of these columns are categories."""
        return tuple(k for k, c in enumerate(columns) if self.columns[c].kind == "category")

    def raw_table(self, domain: Domain, columns: Sequence[int]) -> Array:
        """Raw columns of all rows that models may be trained on."""
        rows = self.blocks.training_rows(domain, frozenset(range(self.blocks.count)))
        return self.table(domain, rows, columns)

    def table(self, domain: Domain, rows: Rows, columns: Sequence[int]) -> Array:
        """Raw columns of some rows."""
        chosen = np.array(columns, dtype=np.int64)
        if self.are_many(domain):
            return np.asarray(self.raw[domain][at(self.blocks.order[domain], rows)][:, chosen])
        return _block(self.raw[domain].T, rows, chosen).T

    def across(self, domain: Domain, rows: Rows, functions: IntArray) -> Array:
        """Some basis columns (functions, rows); those of all rows are kept until others come.

        One set of columns is asked for by many fits in a row. Of very many rows a copy is too dear.
        """
        table = self.basis[domain].T
        if self.are_many(domain):
            return _block(table, rows, functions)
        key = functions.tobytes()
        last = self.gathered.get(domain)
        if last is None or last[0] != key:
            last = key, table if len(functions) == len(table) else table[functions]
            self.gathered[domain] = last
        return joined(last[1], rows)

    def light(self, domain: Domain, functions: IntArray, trained_on: BlockSet | None) -> Array:
        """1 for each linear term, -1 for those closed to models of a training set, else 0."""
        closed = self.closed(domain, trained_on)[functions]
        return np.where(closed, -1.0, self.dictionary.simple[functions])

    def closed(self, domain: Domain, trained_on: BlockSet | None) -> NDArray[np.bool_]:
        """Products that models of a training set may not use: other rows have found their pairs."""
        key = domain, trained_on
        if key not in self.closings:
            shut = self.found.closed(domain, trained_on)
            pairs = [term.columns in shut for term in self.dictionary.terms]
            self.closings[key] = np.array(pairs, dtype=bool)
        return self.closings[key]

    def lift(self, extra: Extra, view: str, rows: Rows, columns: Sequence[int]) -> Lift:
        """The extra column, as one of its views has it, beside a column set at some rows."""
        position = at(extra.views[view].position, rows)
        terms = extra.terms(position)
        return Lift(position, terms, self.times(self.dictionary.select(columns), extra))

    def times(self, functions: IntArray, extra: Extra) -> tuple[NDArray[np.bool_], ...]:
        """Which functions each multiplying term of an extra column multiplies."""
        linear, single = self.dictionary.simple[functions] > 0, self.dictionary.single[functions]
        if float(self.dictionary.simple.sum()) > MOST_TERMS:
            linear = single = np.zeros(len(functions), dtype=bool)
        bending = len(extra.knots)
        return (linear,) * bending + (single,) * (extra.heads - bending)

    def known(
        self, name: str, blocks: BlockSet, columns: Sequence[int], rows_of: RowsOf
    ) -> Curvature:
        """What a fit on all columns has found out for a set; that fit is made once."""
        if (name, blocks) not in self.curvatures:
            everything = rows_of(range(len(self.columns)))
            self.curvatures[name, blocks] = curvature(everything), everything.inputs.lift
        known, lift = self.curvatures[name, blocks]
        return known.part(self._place(columns, lift))

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


def at(values: NDArray[Any], rows: Rows) -> NDArray[Any]:
    """Entries of some rows."""
    if isinstance(rows, tuple):
        return np.concatenate([values[s] for s in rows])
    return values[rows]


def joined(across: Array, rows: Rows) -> Array:
    """Some rows of a table that is stored column by column; one run of rows is not copied."""
    if isinstance(rows, tuple):
        return np.concatenate([across[:, s] for s in rows], axis=1)
    return across[:, rows]


def _block(across: Array, rows: Rows, columns: IntArray) -> Array:
    """Some columns of some rows; tables are stored column by column, so runs of rows copy fast."""
    if isinstance(rows, tuple):
        return np.concatenate([across[columns, s] for s in rows], axis=1)
    return across[columns, rows]


def make_features(
    design: Design,
    blocks: Blocks,
    halves: Sequence[BlockSet] = (),
    kept: SourceFits | None = None,
) -> Features:
    """Sort rows by block and compute the dictionary once (from a sample of very many rows).

    In tables of many columns the outcome shows pairs in each of these halves, for its own models.
    Where source fits are `kept`, the dictionary is the source's, unless target rows ask for more.
    """
    raw = design.features.zip(blocks.order, lambda x, order: np.asfortranarray(x[order]))
    weights = design.sample().weights.zip(blocks.order, lambda w, order: w[order])
    prediction = design.prediction.zip(blocks.order, lambda f, order: f[order])
    free = tuple(choose_pairs(raw, prediction, weights, design))
    some = raw.map(lambda x: x[some_of(len(x), _MANY_ROWS)])
    found = FoundPairs(free, _pairs_by_set(design, blocks, halves, raw, weights, some))
    dictionary = build_dictionary(np.vstack(list(some)), design.columns, found.all)
    if kept is not None:
        own = build_dictionary(some.source, design.columns, found.all)
        dictionary = own if same_terms(own, dictionary) else dictionary
    dtype = np.float64 if sum(design.rows) <= 2 * _MANY_ROWS else np.float32
    basis = raw.map(lambda x: dictionary.transform(x, dtype))
    seen = raw.zip(design.features, lambda x, own: own if len(x) > _MANY_ROWS else x)
    features = Features(blocks, design.columns, dictionary, seen, basis, weights, found)
    if kept is None:
        return features
    digest = source_digest(blocks, raw.source, basis.source, weights.source, repr(found))
    return replace(features, source_fits=kept, source_digest=digest)


def _pairs_by_set(
    design: Design,
    blocks: Blocks,
    halves: Sequence[BlockSet],
    raw: ByDomain[Array],
    weights: ByDomain[Array],
    some: ByDomain[Array],
) -> dict[tuple[Domain, BlockSet], list[Pair]]:
    if not needs_pairs(design.columns) or design.task == "multiclass":
        return {}
    kind: Kind = "probability" if design.task == "binary" else "real"
    outcome = design.outcome.zip(blocks.order, lambda y, order: y[order])
    additive = build_dictionary(np.vstack(list(some)), design.columns)
    found = {}
    for domain in DOMAINS:
        for half in halves:
            rows = blocks.training_rows(domain, half)
            x, y, w = (at(values[domain], rows) for values in (raw, outcome, weights))
            few = some_of(len(x))
            inputs = additive.inputs(x[few])
            found[domain, half] = pairs_of_outcome(TrainingRows(inputs, y[few], w[few], kind))
    return found
