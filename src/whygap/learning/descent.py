"""Penalised logistic fits side by side.

Second derivatives are the dear part, so each new ones serve a few cheap steps (limited memory,
preconditioned). They only guide the steps, so single precision is enough for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from whygap.domains import Array
from whygap.learning.inputs import ENOUGH_ROWS
from whygap.learning.together import Segment, Together

# Cheap steps before second derivatives are renewed: good ones need no more, and renewing costs
# about as much as two steps.
_STEPS = 6
# A fit ends when one more step would gain less than this per unit weight. With a hundred times as
# much, fits take a quarter fewer steps and values of subsets move by a tenth of a standard error.
LEAST_GAIN = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """Where the fits are: coefficients, linear predictors, and what they say there."""

    coefficients: Array
    logit: Array
    value: Array  # (models,) penalised negative log likelihood
    gradient: Array  # (models, width)


def logistic_together(
    fits: Together, ridge: Array, start: Array, factors: list[Array] | None = None
) -> Array:
    """Coefficients (models, width) of penalised logistic fits, from where they start.

    `ridge` (models, width) is the penalty times the training weight; `factors` are of second
    derivatives, if these are known.
    """
    found, left = start.copy(), np.arange(fits.models)
    here = _state(fits, ridge, start, fits.forward(start))
    for _ in range(40):  # Newton's method needs about ten
        factors = factors or _factors(fits, here.logit, ridge)
        here, finished = _descend(fits, ridge, here, factors)
        found[left] = here.coefficients
        if finished.all():
            break
        kept, rows = ~finished, ~finished[fits.repeat]
        here = _State(
            here.coefficients[kept], here.logit[rows], here.value[kept], here.gradient[kept]
        )
        fits, ridge, left, factors = fits.only(kept), ridge[kept], left[kept], None
    return found


def _descend(
    fits: Together, ridge: Array, here: _State, factors: Sequence[Array]
) -> tuple[_State, NDArray[np.bool_]]:
    """A few steps; says which fits have come to their end."""
    least = 2 * LEAST_GAIN * fits.sums(fits.weight)
    finished = np.zeros(fits.models, dtype=bool)
    memory: list[tuple[Array, Array]] = []
    for _ in range(_STEPS):
        move = -_two_loops(here.gradient, memory, factors)
        finished |= -_dot(here.gradient, move) <= least
        move[finished] = 0.0
        if finished.all():
            break
        reached = _step(fits, ridge, here, move)
        finished |= here.value - reached.value <= 1e-12 * np.abs(here.value)
        moved = reached.coefficients - here.coefficients
        memory.append((moved, reached.gradient - here.gradient))
        here = reached
    return here, finished


@dataclass(frozen=True, slots=True, eq=False)
class _Loss:
    """Penalised negative log likelihood (models,), and e^-|x| of every working value."""

    value: Array
    small: Array

    @classmethod
    def at(cls, fits: Together, ridge: Array, coefficients: Array, logit: Array) -> _Loss:
        """log(1 + e^x) - y x, stably."""
        small = np.exp(-np.abs(logit))
        rows = np.maximum(logit, 0.0) + np.log1p(small) - fits.target * logit
        return cls(fits.sums(fits.weight * rows) + 0.5 * _dot(ridge, coefficients**2), small)


def _state(
    fits: Together, ridge: Array, coefficients: Array, logit: Array, loss: _Loss | None = None
) -> _State:
    loss = loss or _Loss.at(fits, ridge, coefficients, logit)
    probability = np.where(logit >= 0, 1.0, loss.small) / (1.0 + loss.small)
    residual = fits.weight * (probability - fits.target)
    return _State(coefficients, logit, loss.value, fits.adjoint(residual) + ridge * coefficients)


def _step(fits: Together, ridge: Array, here: _State, move: Array) -> _State:
    """As far along each move as its fit gets no worse."""
    direction = fits.forward(move)
    size = np.ones(fits.models)
    while True:
        coefficients = here.coefficients + size[:, None] * move
        logit = here.logit + size[fits.repeat] * direction
        loss = _Loss.at(fits, ridge, coefficients, logit)
        worse = loss.value > here.value + 1e-12 * np.abs(here.value)
        if not (worse & (size > 0)).any():
            return _state(fits, ridge, coefficients, logit, loss)
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


def _factors(fits: Together, logit: Array, ridge: Array) -> list[Array]:
    """Of second derivatives where the fits are; of very many rows, from an even part."""
    weight = fits.weight * curvature_of(logit)
    most = int(np.bincount(fits.repeat).max(initial=1))
    rows = slice(None, None, max(1, most // ENOUGH_ROWS))
    shape = fits.models, fits.width, fits.width
    grams: list[Any] = [gram.T for gram in np.zeros(shape, dtype=np.float32)]
    for segment, (place, size) in zip(fits.segments, fits.places, strict=True):
        own = weight[place].reshape(size)[:, rows]
        _add_grams(grams, segment, own * (size[1] / own.shape[1]), rows)
    return [factor_of(*each) for each in zip(grams, ridge, strict=True)]


def _add_grams(grams: list[Any], segment: Segment, weight: Array, rows: slice) -> None:
    """Of each model, weighted inner products of its columns: the upper triangle."""
    alike = segment.heads is None or len(segment.heads.terms) == 1
    columns = np.empty(0)
    for k, root in enumerate(np.sqrt(weight).astype(np.float32)):
        if not (k and alike):
            columns = segment.written_out(k, rows)
        gram = grams[segment.models[k]]
        linalg.blas.ssyrk(1.0, (columns * root).T, beta=1.0, c=gram, trans=1, overwrite_c=1)


def curvature_of(logit: Array) -> Array:
    """Second derivatives of each row's loss; never quite 0."""
    small = np.exp(-np.abs(logit))
    return np.asarray(np.maximum(small / (1.0 + small) ** 2, 1e-8))


def factor_of(gram: Array, ridge: Array) -> Array:
    """The Cholesky factor of second derivatives with their penalty.

    They are symmetric, or BLAS's own: column by column, and the upper triangle alone.
    """
    jitter = 1e-10 * float(np.trace(gram)) / len(gram)
    columns = gram.T if gram.flags.c_contiguous else gram
    for _ in range(6):
        eased = columns.astype(np.float64, order="F")
        eased.T.flat[:: len(gram) + 1] += ridge + jitter
        factor, wrong = linalg.lapack.dpotrf(eased, overwrite_a=True)
        if not wrong:
            return np.asarray(factor)
        jitter *= 100
    raise linalg.LinAlgError("the penalised Hessian is not positive definite")


def solve(factor: Array, right: Array) -> Array:
    """The inverse of what was factored, times a vector."""
    return np.asarray(linalg.lapack.dpotrs(factor, right)[0])
