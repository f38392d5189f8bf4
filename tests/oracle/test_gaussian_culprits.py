"""True nuisances in the Gaussian world: points, groups and budgets scatter as they say.

60 draws of 1,500 + 1,500 rows; the mean of z must lie within 4 / sqrt(60), its spread near 1. The
source is moved closer to the target than in the paper's world, so that weights are less heavy.
"""

from dataclasses import replace

import numpy as np
import pytest

from experiments.worlds.answers import Above
from experiments.worlds.gaussian import GaussianWorld
from experiments.worlds.gaussian_answers import GaussianAnswers
from experiments.worlds.gaussian_nuisances import GaussianNuisances
from whygap.domains import ByDomain
from whygap.equations import points, recoverable, where
from whygap.equations.points import TransportedValues
from whygap.equations.recoverable import DomainValues
from whygap.equations.where import WhereValues

ROWS, DRAWS = ByDomain(1500, 1500), 60
SUBSET, COLUMNS = (0,), (0, 1)  # Z1, and with W
GROUP = Above(0.5)


def near(metric):
    world = GaussianWorld(metric=metric)
    means = ByDomain((0.0, 0.8, 0.3, 1.0), world.means.target)
    return replace(world, means=means)


def estimates(world, design):
    n, x, sample = GaussianNuisances(world), design.features, design.sample()
    psi = points.transported_mean(
        TransportedValues(
            sample,
            design.loss.source,
            x.map(lambda rows: n.mu_00_wzs(rows, SUBSET)),
            n.pi_wzs(x.source, SUBSET),
        )
    )
    values = WhereValues(sample, design.loss, x.map(n.mu_0_wz), n.pi_wz(x.source))
    group = x.zip(design.prediction, GROUP.mask)
    m_s = n.m_smooth(x.target, SUBSET)
    here = DomainValues(sample, "target", design.outcome.target, design.prediction.target)
    return {
        "psi": psi,
        "contribution": where.contribution(values, group),
        "change": where.mean_change(values, group),
        "gain": recoverable.gain(here, np.stack([m_s, m_s])[None]),
    }


def truths(world):
    answers = GaussianAnswers(world)
    group = answers.group(GROUP)
    return {
        "psi": answers.transported_mean(COLUMNS),
        "contribution": group.contribution,
        "change": group.change,
        "gain": answers.gain("target", COLUMNS),
    }


@pytest.mark.parametrize("metric", ["accuracy", "brier"])
def test_estimates_scatter_as_their_standard_errors_say(metric):
    world = near(metric)
    expected, scores = truths(world), {name: [] for name in truths(world)}
    for child in np.random.SeedSequence(7).spawn(DRAWS):
        design = world.draw(ROWS, np.random.default_rng(child))
        for name, estimate in estimates(world, design).items():
            scores[name].append((estimate.value - expected[name]) / estimate.standard_error)
    for name, z in scores.items():
        assert abs(np.mean(z)) < 4 / np.sqrt(DRAWS), name
        assert 0.7 < np.std(z) < 1.4, name
