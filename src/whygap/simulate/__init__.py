"""Worlds with known truth: draw rows from them, and ask them what the answer should be.

from whygap import simulate
from whygap.domains import ByDomain

world = simulate.GaussianWorld(metric="brier")
design = world.draw(ByDomain(2000, 2000), np.random.default_rng(0))
world.corners().gap, world.covariate_truth((0,)).value, world.outcome_truth((0, 2)).value
"""

from whygap.simulate import gaussian, semisynthetic
from whygap.simulate.atoms import Atoms
from whygap.simulate.gaussian import GaussianWorld
from whygap.simulate.world import Corners, SubsetTruth, World, all_subsets, shares

__all__ = ["Atoms", "Corners", "GaussianWorld", "SubsetTruth", "World", "all_subsets"]
__all__ += ["gaussian", "semisynthetic", "shares"]
