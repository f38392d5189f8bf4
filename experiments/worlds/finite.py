"""Finite discrete worlds: few levels each, arbitrary probability tables, seeded random ones.

world = finite.random_world(7, w_levels=3, z_levels=(2, 3, 2), metric="brier")
world.corners().gap                        # exact
world.outcome_truth((0, 2), bins=5).value  # exact v_Y({Z1, Z3})
design = exact.table_of(world)             # weighted rows: means over them are expectations
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from experiments.worlds.atoms import Atoms
from whygap._metrics import Metric, metric_of
from whygap.domains import Array, ByDomain
from whygap.errors import InputError
from whygap.tables.design import Column, Player

__all__ = ["from_tables", "random_world", "with_metric"]

AnyMetric = str | Metric | Callable[[Array, Array], Array]


def from_tables(
    p_w: ByDomain[Array],
    p_z: ByDomain[Array],
    p_y: ByDomain[Array],
    prediction: Array,
    metric: AnyMetric = "accuracy",
    threshold: float = 0.5,
) -> Atoms:
    """A world from probability tables.

    Args:
        p_w: p_d(w), shape (levels of W,); one level means that there is no W.
        p_z: p_d(z | w), shape (levels of W, levels of Z1, ..., levels of Zp).
        p_y: p_d(Y=1 | w, z), the same shape.
        prediction: f(w, z), the same shape.
        metric: any metric of whygap, or a callable(prediction, outcome).
        threshold: cuts predictions for metrics of labels.
    """
    shape = p_z.source.shape
    _check_tables(p_w, p_z, p_y, prediction)
    grid = np.indices(shape).reshape(len(shape), -1).T.astype(float)
    has_w = shape[0] > 1
    names = (["W"] if has_w else []) + [f"Z{j}" for j in range(1, len(shape))]
    features = grid if has_w else grid[:, 1:]
    first = int(has_w)
    flat = prediction.reshape(-1)
    intercept, slope = metric_of(metric).coefficients(flat, threshold)
    return Atoms(
        features=features,
        columns=tuple(Column(name, "numeric") for name in names),
        baseline=(0,) if has_w else (),
        groups=tuple(Player(names[j], (j,)) for j in range(first, len(names))),
        mass=p_w.zip(p_z, lambda w, z: (w.reshape(-1, *[1] * (z.ndim - 1)) * z).reshape(-1)),
        risk=p_y.map(lambda risk: risk.reshape(-1)),
        prediction=flat,
        intercept=intercept,
        slope=slope,
    )


def _check_tables(
    p_w: ByDomain[Array], p_z: ByDomain[Array], p_y: ByDomain[Array], prediction: Array
) -> None:
    shape = p_z.source.shape
    if any(t.shape != shape for t in (p_z.target, p_y.source, p_y.target, prediction)):
        raise InputError("The tables of a finite world must have one shape", got=f"not all {shape}")
    for w, z in zip(p_w, p_z, strict=True):
        if (w <= 0).any() or (z <= 0).any():
            raise InputError("Probabilities of a finite world must be positive")
        if abs(w.sum() - 1) > 1e-9 or np.abs(z.reshape(len(w), -1).sum(1) - 1).max() > 1e-9:
            raise InputError("Probabilities of a finite world must sum to 1")


def random_world(
    seed: int,
    *,
    w_levels: int = 3,
    z_levels: Sequence[int] = (2, 3, 2),
    metric: AnyMetric = "accuracy",
    threshold: float = 0.5,
) -> Atoms:
    """Random tables, bounded away from 0; `metric="random"` draws a(x) and b(x) as well."""
    rng = np.random.default_rng(seed)
    shape = (w_levels, *z_levels)
    world = from_tables(
        ByDomain(*(_simplex((w_levels,), rng) for _ in range(2))),
        ByDomain(*(_conditional(shape, rng) for _ in range(2))),
        ByDomain(*(rng.uniform(0.1, 0.9, size=shape) for _ in range(2))),
        rng.uniform(0.05, 0.95, size=shape),
        "accuracy" if metric == "random" else metric,
        threshold,
    )
    if metric != "random":
        return world
    cells = len(world.prediction)
    return with_metric(world, rng.normal(size=cells), rng.normal(size=cells))


def with_metric(world: Atoms, intercept: Array, slope: Array) -> Atoms:
    """The same world scored by a(x) + b(x) y."""
    return replace(world, intercept=intercept, slope=slope)


def _simplex(shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    raw = rng.uniform(0.3, 1.5, size=shape)
    return np.asarray(raw / raw.sum())


def _conditional(shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    return np.stack([_simplex(shape[1:], rng) for _ in range(shape[0])])
