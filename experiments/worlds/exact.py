"""A world of atoms as a weighted table, and the nuisances that only tests ask it for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from experiments.worlds.atoms import Atoms
from experiments.worlds.world import Subset
from whygap.domains import Array, ByDomain
from whygap.tables.design import Design


def table_of(world: Atoms) -> Design:
    """The world itself as a weighted table: a row per atom and outcome, weight = probability.

    A weighted mean over these rows is an exact expectation. Rows are all atoms with y = 0, then
    all atoms with y = 1, the same in both domains (see `at_rows`).
    """
    size = len(world.prediction)
    twice = np.tile(np.arange(size), 2)
    y = np.repeat([0.0, 1.0], size)
    weights = world.mass.zip(
        world.risk, lambda mass, risk: np.concatenate([mass * (1 - risk), mass * risk])
    )
    return replace(world.design(ByDomain(twice, twice), ByDomain(y, y)), weights=weights)


def at_rows(per_atom: Array) -> ByDomain[Array]:
    """A function of atoms, evaluated at the rows of `table_of`."""
    rows = np.tile(per_atom, 2)
    return ByDomain(rows, rows)


def ratio(world: Atoms, columns: Sequence[int]) -> Array:
    """p_1 / p_0 of these columns, at every atom."""
    codes = world.codes(columns)
    sums = world.mass.map(lambda mass: np.bincount(codes, weights=mass))
    return (sums.target / sums.source)[codes]


def pi_w(world: Atoms) -> Array:
    """Density ratio of W."""
    return ratio(world, world.baseline)


def pi_wz(world: Atoms) -> Array:
    """Density ratio of (W, Z)."""
    return pi_wzs(world, tuple(range(len(world.groups))))


def pi_wzs(world: Atoms, subset: Subset) -> Array:
    """Density ratio of (W, Z_s)."""
    return ratio(world, world.subset_columns(subset))


def h_of(world: Atoms, subset: Subset, bins: int | None = 20) -> Array:
    """E_1[b^2 (Y - m(G)) | G]; 0 where b^2 is constant."""
    n = world.nuisances
    residual = world.slope**2 * (world.risk.target - n.m(subset, bins))
    return world.conditional("target", residual, n.groups(subset, bins))
