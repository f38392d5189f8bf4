"""Worlds with known truth: draw rows from them, and ask them what the answer should be.

from whygap import simulate
from whygap.domains import ByDomain

world = simulate.GaussianWorld(metric="brier")
design = world.draw(ByDomain(2000, 2000), np.random.default_rng(0))
world.corners().gap, world.covariate_truth((0,)).value, world.outcome_truth((0, 2)).value
"""

from whygap.simulate import (
    clustered,
    comparison,
    finite,
    gaussian,
    semisynthetic,
    untuned,
)
from whygap.simulate.atoms import Atoms
from whygap.simulate.clustered import ClusteredWorld
from whygap.simulate.comparison import (
    CovariateComparison,
    OutcomeComparison,
    comparison_a,
    comparison_b,
)
from whygap.simulate.gaussian import GaussianWorld
from whygap.simulate.gaussian_nuisances import GaussianNuisances
from whygap.simulate.named import WORLDS, tables
from whygap.simulate.untuned import UntunedWorld, null_world
from whygap.simulate.world import Corners, SubsetTruth, World, all_subsets, shares

__all__ = [
    "WORLDS",
    "Atoms",
    "ClusteredWorld",
    "Corners",
    "CovariateComparison",
    "GaussianNuisances",
    "GaussianWorld",
    "OutcomeComparison",
    "SubsetTruth",
    "UntunedWorld",
    "World",
    "all_subsets",
    "clustered",
    "comparison",
    "comparison_a",
    "comparison_b",
    "finite",
    "gaussian",
    "null_world",
    "semisynthetic",
    "shares",
    "tables",
    "untuned",
]
