"""One column set, several training sets: their penalised fits, all at once.

The rows, their columns and mostly their targets are the same; a training set is some of the blocks.
So each block's columns are gathered once, and one product with them serves all models that are
trained on the block. The fits take the steps that `ridge.logistic` takes, side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whygap.domains import Array, IntArray
from whygap.learning.ridge import LEAST_GAIN, MOST_STEPS, Curvature, factor_of, solve


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


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """Where the fits are: coefficients, linear predictors, and what they say there."""

    coefficients: Array
    logit: Array
    value: Array  # (models,) penalised negative log likelihood
    residual: Array  # probability minus target, times weight


def logistic_together(
    fits: Together, ridge: Array, known: Sequence[Curvature]
) -> tuple[Array, NDArray[np.bool_]]:
    """Coefficients (models, width) of penalised logistic fits, and which of them are finished.

    `ridge` (models, width) is the penalty times the training weight.
    """
    factors = [factor_of(one.gram, own) for one, own in zip(known, ridge, strict=True)]
    start = _each(factors, np.stack([one.moments for one in known]))
    here = _state(fits, ridge, start, fits.forward(start))
    gradient = fits.adjoint(here.residual) + ridge * here.coefficients
    least = 2 * LEAST_GAIN * fits.sums(fits.weight)
    finished = np.zeros(fits.models, dtype=bool)
    memory: list[tuple[Array, Array]] = []
    for _ in range(MOST_STEPS):
        move = -_two_loops(gradient, memory, factors)
        finished |= -_dot(gradient, move) <= least
        move[finished] = 0.0
        if finished.all():
            break
        reached = _step(fits, ridge, here, move)
        finished |= here.value - reached.value <= 1e-12 * np.abs(here.value)
        before, gradient = gradient, fits.adjoint(reached.residual) + ridge * reached.coefficients
        memory.append((reached.coefficients - here.coefficients, gradient - before))
        here = reached
    return here.coefficients, finished


def _state(fits: Together, ridge: Array, coefficients: Array, logit: Array) -> _State:
    """One exponential serves log(1 + e^x), stably, and the probability."""
    small = np.exp(-np.abs(logit))
    loss = np.maximum(logit, 0.0) + np.log1p(small) - fits.target * logit
    value = fits.sums(fits.weight * loss) + 0.5 * _dot(ridge, coefficients**2)
    probability = np.where(logit >= 0, 1.0, small) / (1.0 + small)
    return _State(coefficients, logit, value, fits.weight * (probability - fits.target))


def _step(fits: Together, ridge: Array, here: _State, move: Array) -> _State:
    """As far along each move as its fit gets no worse."""
    direction = fits.forward(move)
    size = np.ones(fits.models)
    while True:
        reached = _state(
            fits,
            ridge,
            here.coefficients + size[:, None] * move,
            here.logit + size[fits.repeat] * direction,
        )
        worse = reached.value > here.value + 1e-12 * np.abs(here.value)
        if not (worse & (size > 0)).any():
            return reached
        size = np.where(worse, np.where(size > 1e-4, size / 2, 0.0), size)


def _two_loops(
    gradient: Array, memory: Sequence[tuple[Array, Array]], factors: Sequence[Array]
) -> Array:
    """Each inverse Hessian, as the last steps have corrected it, times its gradient."""
    rest, taken = gradient, []
    lengths = [_dot(move, change) for move, change in memory]
    shares = [np.divide(1.0, one, out=np.zeros_like(one), where=one > 0) for one in lengths]
    for (move, change), share in zip(reversed(memory), reversed(shares), strict=True):
        part = (_dot(move, rest) * share)[:, None]
        rest = rest - part * change
        taken.append(part)
    out = _each(factors, rest)
    for (move, change), share, part in zip(memory, shares, reversed(taken), strict=True):
        out = out + move * (part - (_dot(change, out) * share)[:, None])
    return out


def _dot(first: Array, second: Array) -> Array:
    return np.asarray(np.einsum("kc,kc->k", first, second))


def _each(factors: Sequence[Array], right: Array) -> Array:
    return np.stack([solve(*one) for one in zip(factors, right, strict=True)])
