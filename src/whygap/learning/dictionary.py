"""The shared dictionary: basis functions of the columns, computed once for all column sets.

A numeric column gives a linear term, natural cubic splines, indicators of its atoms (values that
many rows share) and of missingness; a category gives indicators of its levels; an outcome that rows
are compared by gives a square besides. Pairs of columns
(all, or those that `choose_pairs` finds) give products of their linear terms. Each function is
tagged with the columns it uses, so that the design matrix of a column set is a selection of
ready-made columns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whygap.domains import DOMAINS, Array, ByDomain, Domain, IntArray
from whygap.learning.blocks import BlockSet
from whygap.learning.inputs import ENOUGH_ROWS, Inputs, some_of
from whygap.learning.models import Fast, TrainingRows
from whygap.learning.trees import Boosted
from whygap.memmap import allocate
from whygap.tables.design import THE_OUTCOME, Column, Design

# Natural splines with four curved terms a column: enough for one or two bends.
_CURVES = 4
# Curved terms of all columns, and linear terms that a score multiplies: with more columns each has
# fewer curves, and a score multiplies none; they would outnumber the rows they are fitted on.
MOST_TERMS = 300
# A column with at most so many values gets an indicator of each instead of splines.
FEW_VALUES = 8
# A value that this share of rows has in common may behave unlike its neighbours.
_ATOM_SHARE = 0.05
# Of a category; rarer levels share what the others leave, trees see them all.
_MOST_LEVELS = 40
# 45 pairs: with more columns, products of all pairs would outnumber the other terms.
_ALL_PAIRS_UP_TO = 10
# Found for one response.
_MOST_PAIRS = 12
# Where pairs have to be found: linear terms of a column that enter products (a number, or a level
# or two), and pairs found for the outcome in one training set (many sets' finds add up).
_FEW = 3

Pair = tuple[int, int]
Piece = Callable[[Array], Array]


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """A function from the raw feature matrix (n, p) to one basis column (n,).

    It uses these raw columns; a simple term is linear, and lightly penalised.
    """

    piece: Piece
    columns: frozenset[int]
    simple: bool = False


@dataclass(frozen=True, eq=False)
class Dictionary:
    """Terms, with the centre and scale that give every basis column mean 0 and deviation 1."""

    terms: tuple[Term, ...]
    centre: Array
    scale: Array
    categorical: tuple[int, ...]
    width: int  # of the raw matrix

    @cached_property
    def simple(self) -> Array:
        """1 for every simple term, else 0."""
        return np.array([term.simple for term in self.terms], dtype=float)

    @cached_property
    def single(self) -> NDArray[np.bool_]:
        """Which terms use one column only."""
        return np.array([len(term.columns) == 1 for term in self.terms], dtype=bool)

    @cached_property
    def _selected(self) -> dict[str, tuple[tuple[int, ...], IntArray]]:
        return {}

    @cached_property
    def _uses(self) -> NDArray[np.bool_]:
        """Which raw columns each term uses, (terms, columns)."""
        uses = np.zeros((len(self.terms), self.width), dtype=bool)
        for used, term in zip(uses, self.terms, strict=True):
            used[list(term.columns)] = True
        return uses

    def transform(self, features: Array, dtype: type[np.floating[Any]] = np.float64) -> Array:
        """The (n, functions) basis matrix, made a bounded number of rows at a time."""
        out = allocate(len(features), len(self.terms), dtype, "F")
        for start in range(0, len(features), ENOUGH_ROWS):
            rows = slice(start, start + ENOUGH_ROWS)
            here = features[rows]
            for j, term in enumerate(self.terms):
                out[rows, j] = (term.piece(here) - self.centre[j]) / self.scale[j]
        return out

    def inputs(self, features: Array) -> Inputs:
        """What models of all columns see of some rows."""
        return Inputs(features, self.transform(features), self.simple, self.categorical)

    def select(self, columns: Sequence[int]) -> IntArray:
        """Terms that use only these columns; the last answer is kept, as many fits ask alike."""
        key = tuple(columns)
        last = self._selected.get("last")
        if last is None or last[0] != key:
            outside = np.ones(self.width, dtype=bool)
            outside[list(key)] = False
            last = key, np.flatnonzero(~self._uses[:, outside].any(axis=1))
            self._selected["last"] = last
        return last[1]


def build_dictionary(
    features: Array, columns: Sequence[Column], pairs: Sequence[Pair] = ()
) -> Dictionary:
    """From the rows of both domains; of these pairs of columns (of all, if few) also products."""
    terms: list[Term] = []
    linear: list[list[Piece]] = []
    curves = min(_CURVES, max(1, MOST_TERMS // max(len(columns), 1)))
    for j, column in enumerate(columns):
        first, rest = _column_pieces(features[:, j], j, column, curves)
        linear.append(first)
        terms += [Term(piece, frozenset([j]), simple=True) for piece in first]
        terms += [Term(piece, frozenset([j])) for piece in rest]
    few = len(columns) <= _ALL_PAIRS_UP_TO
    most = FEW_VALUES if few else _FEW
    for i, j in combinations(range(len(columns)), 2) if few else pairs:
        for left, right in product(linear[i][:most], linear[j][:most]):
            piece = partial(_product, left=left, right=right)
            terms.append(Term(piece, frozenset([i, j])))
    categorical = tuple(j for j, column in enumerate(columns) if column.kind == "category")
    centre, scale = _moments(features, terms)
    keep = np.flatnonzero(scale > 1e-9)
    kept = tuple(terms[k] for k in keep)
    return Dictionary(kept, centre[keep], scale[keep], categorical, len(columns))


def _moments(features: Array, terms: Sequence[Term]) -> Array:
    """Mean and deviation of every term; of all terms at once, columns would outgrow the table."""
    found = np.empty((2, len(terms)))
    for some in np.array_split(np.arange(len(terms)), -(-len(terms) // 8) or 1):
        columns = np.empty((len(features), len(some)))
        for k, j in enumerate(some):
            columns[:, k] = terms[j].piece(features)
        found[:, some] = columns.mean(axis=0), columns.std(axis=0)
    return found


def _column_pieces(
    values: Array, j: int, column: Column, curves: int
) -> tuple[list[Piece], list[Piece]]:
    """(linear terms, the rest) of one column."""
    missing: list[Piece] = [partial(_missing, j=j)] if np.isnan(values).any() else []
    seen = values[~np.isnan(values)]
    if len(seen) == 0:
        return [], missing
    distinct, counts = np.unique(seen, return_counts=True)
    if column.kind == "category":
        frequent = distinct[np.argsort(-counts, kind="stable")][:_MOST_LEVELS]
        return [partial(_equals, j=j, value=v) for v in frequent[1:]] + missing, []
    mean, spread = float(seen.mean()), float(seen.std()) or 1.0
    linear: list[Piece] = [partial(_linear, j=j, mean=mean, spread=spread)]
    if len(distinct) <= 2:
        return linear + missing, []
    if len(distinct) <= FEW_VALUES:
        return linear + missing, [partial(_equals, j=j, value=v) for v in distinct[1:-1]]
    atoms = distinct[counts >= _ATOM_SHARE * len(values)][:FEW_VALUES]
    # Knots that differ in the table may be one number after scaling (1e-9 beside 1e20).
    knots = np.unique((np.quantile(seen, np.linspace(0.03, 0.97, curves + 2)) - mean) / spread)
    spline = partial(_spline, j=j, mean=mean, spread=spread, knots=knots)
    splines: list[Piece] = [partial(spline, k=k) for k in range(len(knots) - 2)]
    if column.name == THE_OUTCOME:
        # Splines are straight beyond the outer knots, but squared errors and the ratio of two
        # spreads bend on; points given the outcome were off by half a standard deviation.
        splines.append(partial(_product, left=linear[0], right=linear[0]))
    return linear + missing, splines + [partial(_equals, j=j, value=v) for v in atoms]


def _linear(x: Array, j: int, mean: float, spread: float) -> Array:
    return np.asarray(np.nan_to_num((x[:, j] - mean) / spread))


def _equals(x: Array, j: int, value: float) -> Array:
    return np.asarray(x[:, j] == value, dtype=float)


def _missing(x: Array, j: int) -> Array:
    return np.asarray(np.isnan(x[:, j]), dtype=float)


def _product(x: Array, left: Piece, right: Piece) -> Array:
    return np.asarray(left(x) * right(x))


def _spline(x: Array, j: int, mean: float, spread: float, knots: Array, k: int) -> Array:
    """Natural cubic spline function k: cubic between the knots, linear beyond them."""
    z, last = (x[:, j] - mean) / spread, knots[-1]

    def truncated(i: int) -> Array:
        cubic = np.maximum(z - knots[i], 0) ** 3 - np.maximum(z - last, 0) ** 3
        return np.asarray(cubic / (last - knots[i]))

    return np.asarray(np.nan_to_num(truncated(k) - truncated(len(knots) - 2)))


def choose_pairs(
    raw: ByDomain[Array], prediction: ByDomain[Array], weights: ByDomain[Array], design: Design
) -> list[Pair]:
    """Pairs that get products when there are too many columns for all pairs to.

    Those of the baseline columns, and those on which shallow trees split one after the other when
    they are grown on top of an additive fit of the model's prediction, or of the domain: what is
    left for them to find is not additive. Outcomes have no say: chosen on all rows they would leak
    into every fold (see `pairs_of_outcome`).
    """
    if not needs_pairs(design.columns):
        return []
    some = raw.map(lambda x: some_of(len(x)))
    table, weight, label = (
        np.concatenate([values[d][some[d]] for d in DOMAINS])
        for values in (raw, weights, prediction)
    )
    in_target = np.repeat([0.0, 1.0], [len(some.source), len(some.target)])
    inputs = build_dictionary(table, design.columns).inputs(table)
    rows = TrainingRows(inputs, label, weight, "bounded")
    few = len(design.baseline) <= _ALL_PAIRS_UP_TO
    pairs = list(combinations(sorted(design.baseline), 2)) if few else []
    pairs += _found(rows)
    pairs += _found(replace(rows, target=in_target, kind="probability"))
    return list(dict.fromkeys(pairs))


def needs_pairs(columns: Sequence[Column]) -> bool:
    """Whether there are too many columns for all pairs to get products."""
    return len(columns) > _ALL_PAIRS_UP_TO


@dataclass(frozen=True, slots=True)
class FoundPairs:
    """Pairs open to every model, and those that the outcome has shown, by domain and training set.

    A model may use what was found in rows it is trained on, and no more: else outcomes of held-out
    rows would have a say in what is fitted for them.
    """

    free: tuple[Pair, ...]
    by_set: Mapping[tuple[Domain, BlockSet], Sequence[Pair]]

    @property
    def all(self) -> list[Pair]:
        """Each once."""
        shown = [pair for pairs in self.by_set.values() for pair in pairs]
        return list(dict.fromkeys([*self.free, *shown]))

    def closed(self, domain: Domain, trained_on: BlockSet | None) -> set[frozenset[int]]:
        """Pairs that models of a training set may not use."""
        open_ones = set(self.free)
        for (where, blocks), pairs in self.by_set.items():
            if where == domain and trained_on is not None and blocks <= trained_on:
                open_ones.update(pairs)
        return {frozenset(pair) for pair in self.all if pair not in open_ones}


def pairs_of_outcome(rows: TrainingRows) -> list[Pair]:
    """Pairs on which the outcome of one training set depends, for models of that set alone."""
    return _found(rows)[:_FEW]


def _found(rows: TrainingRows) -> list[Pair]:
    """Pairs of raw columns whose splits follow each other, the greatest gain first."""
    gains: Counter[Pair] = Counter()
    if not rows.is_trivial:
        model = Boosted(leaves=4, start=Fast()).fit(rows)
        for tree in model.booster.dump_model()["tree_info"]:
            _collect(tree["tree_structure"], gains)
    return [pair for pair, _ in gains.most_common(_MOST_PAIRS)]


def _collect(node: dict[str, Any], gains: Counter[Pair]) -> None:
    """Gains of splits that follow a split on another column."""
    for side in ("left_child", "right_child"):
        child = node.get(side, {})
        if "split_feature" in child:
            first, second = sorted((child["split_feature"], node["split_feature"]))
            if first != second:
                gains[first, second] += child["split_gain"]
            _collect(child, gains)
