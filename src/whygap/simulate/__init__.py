"""Worlds with known truth: draw rows from them, and ask them what the answer should be."""

from whygap.simulate import finite, gaussian
from whygap.simulate.atoms import Atoms
from whygap.simulate.gaussian import GaussianWorld
from whygap.simulate.gaussian_nuisances import GaussianNuisances
from whygap.simulate.world import Corners, SubsetTruth, World

__all__ = [
    "Atoms",
    "Corners",
    "GaussianNuisances",
    "GaussianWorld",
    "SubsetTruth",
    "World",
    "finite",
    "gaussian",
]
