"""One column set, several training sets: what their fits have in common, as products.

The rows, their columns and mostly their targets are the same; a training set is some of the blocks.
So each block's columns are gathered once, and one product with them serves all models that are
trained on the block. A single fit is one model trained on one block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whygap.domains import Array, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Heads:
    """The extra column's terms (models or 1, terms, rows); the first of them multiply."""

    terms: Array
    times: tuple[NDArray[np.bool_], ...]  # the basis columns that each leading term multiplies

    @property
    def width(self) -> int:
        """Number of basis columns it adds."""
        return int(self.terms.shape[1] + sum(int(mask.sum()) for mask in self.times))


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Rows of one block and the models trained on them."""

    models: IntArray  # (m,)
    basis: Array  # (functions, rows)
    target: Array  # (m or 1, rows), between 0 and 1
    weight: Array  # (rows,)
    heads: Heads | None = None

    def only(self, kept: NDArray[np.bool_]) -> Segment:
        """For some of all models, numbered anew."""
        own, heads = kept[self.models], self.heads
        if heads is not None and len(heads.terms) > 1:
            heads = Heads(heads.terms[own], heads.times)
        target = self.target[own] if len(self.target) > 1 else self.target
        models = (np.cumsum(kept) - 1)[self.models[own]]
        return Segment(models, self.basis, target, self.weight, heads)

    def written_out(self, model: int, rows: slice) -> Array:
        """Every column one model sees, (width, rows), in single precision."""
        basis = self.basis[:, rows].astype(np.float32)
        parts = [np.ones((1, basis.shape[1]), dtype=np.float32), basis]
        if self.heads is not None:
            terms = self.heads.terms[model % len(self.heads.terms), :, rows].astype(np.float32)
            times = zip(self.heads.times, terms, strict=False)
            parts += [terms, *(basis[mask] * head for mask, head in times)]
        return np.concatenate(parts)


class Together:
    """Everything that several fits have in common, as products with all their coefficients.

    Working values of all segments lie behind each other in one vector, of each segment those of its
    first model first.
    """

    def __init__(self, segments: Sequence[Segment], models: int) -> None:
        self.segments, self.models = segments, models
        self.functions = len(segments[0].basis)
        shapes = [(len(s.models), s.basis.shape[1]) for s in segments]
        ends = np.cumsum([m * rows for m, rows in shapes])
        self.places = [
            (slice(int(end) - m * rows, int(end)), (m, rows))
            for end, (m, rows) in zip(ends, shapes, strict=True)
        ]
        self.size = int(ends[-1])
        self.target = self._filled([s.target for s in segments])
        self.weight = self._filled([s.weight for s in segments])
        self.starts = np.concatenate(
            [place.start + rows * np.arange(m) for place, (m, rows) in self.places]
        )
        self.owner = np.concatenate([s.models for s in segments])
        self.repeat = np.concatenate([np.repeat(s.models, s.basis.shape[1]) for s in segments])
        heads = segments[0].heads
        self.width = 1 + self.functions + (0 if heads is None else heads.width)

    def only(self, kept: NDArray[np.bool_]) -> Together:
        """Some of the models."""
        segments = [segment.only(kept) for segment in self.segments if kept[segment.models].any()]
        return Together(segments, int(kept.sum()))

    def _filled(self, parts: Sequence[Array]) -> Array:
        out = np.empty(self.size)
        for (place, shape), part in zip(self.places, parts, strict=True):
            out[place].reshape(shape)[:] = part
        return out

    def sums(self, rows: Array) -> Array:
        """Of each model's working values (models,)."""
        each = np.add.reduceat(rows, self.starts)
        return np.asarray(np.bincount(self.owner, each, minlength=self.models), dtype=float)

    def forward(self, coefficients: Array) -> Array:
        """Linear predictors of coefficients (models, width), intercept first."""
        out = np.empty(self.size)
        for segment, (place, shape) in zip(self.segments, self.places, strict=True):
            own, here = coefficients[segment.models], out[place].reshape(shape)
            if segment.heads is None:
                np.matmul(own[:, 1:], segment.basis, out=here)
            else:
                _lifted(own, segment.basis, segment.heads, here)
            here += own[:, :1]
        return out

    def adjoint(self, rows: Array) -> Array:
        """Sums of working values times each column (models, width), intercept first."""
        total = np.zeros((self.models, self.width))
        total[:, 0] = self.sums(rows)
        for segment, (place, shape) in zip(self.segments, self.places, strict=True):
            here = rows[place].reshape(shape)
            if segment.heads is None:
                total[segment.models, 1:] += here @ segment.basis.T
            else:
                total[segment.models, 1:] += _gathered(here, segment.basis, segment.heads)
        return total


def _lifted(coefficients: Array, basis: Array, heads: Heads, out: Array) -> None:
    """Basis columns, the extra column's terms and its products with basis columns."""
    functions, count = len(basis), len(heads.times)
    terms = heads.terms.shape[1]
    by_head = np.zeros((len(coefficients), 1 + count, functions))
    by_head[:, 0] = coefficients[:, 1 : 1 + functions]
    start = 1 + functions + terms
    for k, mask in enumerate(heads.times, start=1):
        stop = start + int(mask.sum())
        by_head[:, k, mask] = coefficients[:, start:stop]
        start = stop
    flat = by_head.reshape(len(by_head) * (1 + count), functions)
    scores = (flat @ basis).reshape(len(by_head), 1 + count, basis.shape[1])
    own = coefficients[:, None, 1 + functions : 1 + functions + terms]
    np.add(scores[:, 0], np.matmul(own, heads.terms)[:, 0], out=out)
    for k in range(count):
        out += scores[:, 1 + k] * heads.terms[:, k]


def _gathered(rows: Array, basis: Array, heads: Heads) -> Array:
    """The transpose of that, without the intercept."""
    count = len(heads.times)
    stacked = np.concatenate([rows[:, None], rows[:, None] * heads.terms[:, :count]], axis=1)
    flat = stacked.reshape(len(rows) * (1 + count), rows.shape[1])
    sums = (flat @ basis.T).reshape(len(rows), 1 + count, len(basis))
    own = np.matmul(heads.terms, rows[:, :, None])[:, :, 0]
    products = [sums[:, k, mask] for k, mask in enumerate(heads.times, start=1)]
    return np.concatenate([sums[:, 0], own, *products], axis=1)
