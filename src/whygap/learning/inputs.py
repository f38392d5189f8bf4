"""What a model sees of some rows: raw columns (for trees) and basis columns (for the rest).

Basis columns that multiply others (`Lift`) are never written out: products with coefficients and
with rows go through the factors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from whygap.domains import Array, IntArray

if TYPE_CHECKING:
    from whygap.learning.ridge import Curvature

# For what guides a fit and decides nothing in it: second derivatives, pairs worth a product. And
# so many at once, where whole basis matrices are made: that bounds the memory, fewer cost time.
ENOUGH_ROWS = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class Lift:
    """One more column: its own terms, and the leading ones of these times other basis columns.

    Attributes:
        position: its raw values (n,).
        terms: its basis columns (n, m).
        times: one mask of the other basis columns for each leading term that multiplies them.
    """

    position: Array
    terms: Array
    times: tuple[NDArray[np.bool_], ...]

    @property
    def heads(self) -> Array:
        """The terms that multiply."""
        return self.terms[:, : len(self.times)]

    @property
    def width(self) -> int:
        """Number of basis columns it adds."""
        return int(self.terms.shape[1] + sum(int(mask.sum()) for mask in self.times))

    def by_head(self, coefficients: Array, basis: Array) -> Array:
        """A model's coefficients of the basis columns: as they are, then times each head."""
        width = basis.shape[1]
        found = np.zeros((width, 1 + len(self.times)))
        found[:, 0] = coefficients[1 : 1 + width]
        start = 1 + width + self.terms.shape[1]
        for k, mask in enumerate(self.times, start=1):
            stop = start + int(mask.sum())
            found[mask, k] = coefficients[start:stop]
            start = stop
        return found.astype(basis.dtype, copy=False)


@dataclass(frozen=True, slots=True, eq=False)
class _Later:
    """A table that is made when its entries are looked at; its shape is known."""

    shape: tuple[int, int]
    made: Callable[[], Array]

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.made(), dtype)

    def __getitem__(self, place: Any) -> Array:
        return np.asarray(self.made()[place])


def later(height: int, width: int, made: Callable[[], Array]) -> Array:
    """A table that need not be in memory as long as only its shape is asked for."""
    return cast(Array, _Later((height, width), made))


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """Rows of a column set.

    Attributes:
        raw: (n, columns).
        basis: (n, functions) basis columns of the dictionary.
        light: for every function, 1 if it is a linear term (lightly penalised), -1 if models of
            this training set may not use it, else 0.
        categorical: which raw columns are categories.
        lift: one more column, known only after a fit.
        known: second derivatives of a fit on all columns of the same rows, as far as they concern
            this column set.
        binned: the same rows as trees see them, from a table that is binned once.
        seen: products of the basis and coefficients, kept where the same rows come with several
            lifts.
        grown: sums of trees there, by model, each with the lift's raw values; kept likewise.
    """

    raw: Array
    basis: Array
    light: Array
    categorical: tuple[int, ...] = ()
    lift: Lift | None = None
    known: Callable[[], Curvature] | None = None
    binned: Callable[[], Any] | None = None
    seen: dict[bytes, Array] | None = None
    grown: dict[object, list[tuple[Array, Array]]] | None = None

    def __len__(self) -> int:
        return len(self.raw)

    @property
    def table(self) -> Array:
        """All raw columns."""
        raw = np.asarray(self.raw)
        return raw if self.lift is None else np.column_stack([raw, self.lift.position])

    @property
    def width(self) -> int:
        """Number of basis columns, products included."""
        return int(self.basis.shape[1]) + (0 if self.lift is None else self.lift.width)

    @property
    def simple(self) -> Array:
        """1 for each lightly penalised basis column, -1 for closed ones, products included."""
        if self.lift is None:
            return self.light
        added = (np.arange(self.lift.width) < len(self.lift.times)).astype(float)
        return np.concatenate([self.light, added])

    def in_full_precision(self) -> Inputs:
        """For sums over rows; predictions are content with what the table has."""
        return replace(self, basis=np.asarray(self.basis, dtype=np.float64))

    def dense(self) -> Array:
        """Every basis column written out."""
        basis = np.asarray(self.basis)
        if self.lift is None:
            return basis
        products = [
            head[:, None] * basis[:, mask]
            for head, mask in zip(self.lift.heads.T, self.lift.times, strict=True)
        ]
        return np.hstack([basis, self.lift.terms, *products])

    def forward(self, coefficients: Array) -> Array:
        """The linear predictor; the intercept is the first coefficient."""
        basis = np.asarray(self.basis)
        width = basis.shape[1]
        if self.lift is None:
            slopes = coefficients[1:].astype(basis.dtype, copy=False)
            return np.asarray(coefficients[0] + basis @ slopes)
        lift = self.lift
        scores = self._scores(basis, lift.by_head(coefficients, basis))
        own = lift.terms @ coefficients[1 + width : 1 + width + lift.terms.shape[1]]
        products = np.einsum("nh,nh->n", scores[:, 1:], lift.heads)
        return np.asarray(coefficients[0] + scores[:, 0] + own + products)

    def foresee(self, asked: Sequence[tuple[Array, Lift]]) -> None:
        """What models (their coefficients) with these lifts will ask of the basis, at once.

        Reading very many rows takes longer than multiplying them.
        """
        basis = np.asarray(self.basis)
        every = [lift.by_head(coefficients, basis) for coefficients, lift in asked]
        several = {by_head.tobytes(): by_head for by_head in every}
        if self.seen is None or len(several) < 2:
            return
        ends = np.cumsum([by_head.shape[1] for by_head in several.values()])
        scores = basis @ np.hstack(list(several.values()))
        self.seen.update(zip(several, np.hsplit(scores, ends[:-1]), strict=True))

    def _scores(self, basis: Array, by_head: Array) -> Array:
        if self.seen is None:
            return np.asarray(basis @ by_head)
        key = by_head.tobytes()
        if key not in self.seen:
            self.seen[key] = basis @ by_head
        return self.seen[key]

    def adjoint(self, rows: Array) -> Array:
        """Sums over rows of every basis column times `rows`, intercept first."""
        basis = np.asarray(self.basis)
        if self.lift is None:
            return np.concatenate([[rows.sum()], rows @ basis])
        lift = self.lift
        sums = basis.T @ np.column_stack([rows, lift.heads * rows[:, None]])
        products = [sums[mask, k] for k, mask in enumerate(lift.times, start=1)]
        return np.concatenate([[rows.sum()], sums[:, 0], rows @ lift.terms, *products])

    def gram(self, weight: Array) -> Array:
        """Weighted inner products of all basis columns, a bounded number of rows at a time."""
        total = np.zeros((self.width + 1, self.width + 1))
        for start in range(0, len(self), ENOUGH_ROWS):
            rows = slice(start, start + ENOUGH_ROWS)
            basis, here = self.rows(rows).dense(), weight[rows]
            weighted = basis * here[:, None]
            sums = weighted.sum(axis=0)
            total[0, 0] += here.sum()
            total[0, 1:] += sums
            total[1:, 0] += sums
            total[1:, 1:] += basis.T @ weighted
        return total

    def rows(self, rows: slice | IntArray) -> Inputs:
        """Some of the rows."""
        lift = self.lift
        if lift is not None:
            lift = Lift(lift.position[rows], lift.terms[rows], lift.times)
        raw, basis = _taken(self.raw, rows), _taken(self.basis, rows)
        return Inputs(raw, basis, self.light, self.categorical, lift)


def some_of(rows: int, most: int = ENOUGH_ROWS) -> IntArray:
    """At most so many rows, evenly spread."""
    return np.linspace(0, rows - 1, min(rows, most)).astype(np.int64)


def stacked(parts: Sequence[Inputs]) -> Inputs:
    """Rows below each other."""
    return replace(
        parts[0],
        raw=_below([p.raw for p in parts]),
        basis=_below([p.basis for p in parts]),
    )


def _taken(table: Any, rows: slice | IntArray) -> Array:
    """Some rows; of a table that is made later, later."""
    if not isinstance(table, _Later):
        return np.asarray(table[rows])
    height = len(np.arange(len(table))[rows])
    return later(height, table.shape[1], partial(table.__getitem__, rows))


def _below(tables: Sequence[Any]) -> Array:
    """One table below the other; likewise."""

    def made() -> Array:
        return np.hstack([np.asarray(table).T for table in tables]).T

    if not any(isinstance(table, _Later) for table in tables):
        return made()
    return later(sum(map(len, tables)), tables[0].shape[1], made)
