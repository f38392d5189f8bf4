"""Worlds on the same atoms as another one, to move towards; rows of a world found again."""

from dataclasses import replace

import numpy as np

from experiments.worlds.atoms import Atoms
from whygap.domains import Array, ByDomain, Domain, IntArray


def mixed(world: Atoms, other: Atoms, domain: Domain, epsilon: float) -> Atoms:
    """The world with p_d(x, y) replaced by (1 - epsilon) p_d + epsilon p'_d.

    The derivative of a functional along epsilon at 0 is the mean of its influence function under
    p'_d.
    """
    ours, theirs = (1 - epsilon) * world.mass[domain], epsilon * other.mass[domain]
    mass = ours + theirs
    risk = (ours * world.risk[domain] + theirs * other.risk[domain]) / mass
    return replace(
        world,
        mass=replace(world.mass, **{domain: mass}),
        risk=replace(world.risk, **{domain: risk}),
    )


def random_direction(world: Atoms, rng: np.random.Generator) -> Atoms:
    """Another world on the same atoms, to mix with."""
    size = len(world.prediction)
    masses = [rng.uniform(0.3, 1.5, size=size) for _ in range(2)]
    return replace(
        world,
        mass=ByDomain(*masses).map(lambda mass: mass / mass.sum()),
        risk=ByDomain(*(rng.uniform(0.1, 0.9, size=size) for _ in range(2))),
    )


def locate(world: Atoms, features: Array) -> IntArray:
    """Which atom each row is; a row that is none is a KeyError."""
    number = {row.tobytes(): i for i, row in enumerate(np.ascontiguousarray(world.features))}
    return np.array([number[row.tobytes()] for row in np.ascontiguousarray(features)])
