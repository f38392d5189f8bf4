"""Worlds with known truth: draw rows from them, and ask them what the answer should be.

from whygap import simulate
from whygap.domains import ByDomain

world = simulate.GaussianWorld(metric="brier")
design = world.draw(ByDomain(2000, 2000), np.random.default_rng(0))
world.corners().gap, world.covariate_truth((0,)).value, world.outcome_truth((0, 2)).value
answers = simulate.GaussianAnswers(world)
answers.points().covariate, answers.group(simulate.Above(0.5)).change, answers.recoverable().here
"""

from whygap.simulate import finite, gaussian, semisynthetic
from whygap.simulate.answers import Above, Answers
from whygap.simulate.atoms import Atoms
from whygap.simulate.atoms_answers import AtomsAnswers
from whygap.simulate.gaussian import GaussianWorld
from whygap.simulate.gaussian_answers import GaussianAnswers
from whygap.simulate.gaussian_truth import GaussianNuisances
from whygap.simulate.world import Corners, SubsetTruth, World, all_subsets, shares

__all__ = [
    "Above",
    "Answers",
    "Atoms",
    "AtomsAnswers",
    "Corners",
    "GaussianAnswers",
    "GaussianNuisances",
    "GaussianWorld",
    "SubsetTruth",
    "World",
    "all_subsets",
    "finite",
    "gaussian",
    "semisynthetic",
    "shares",
]
