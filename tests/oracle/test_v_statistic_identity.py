"""The paper's V-statistic term equals 2 h(G) (Y - m(G)), cell by cell.

The V-statistic side is written from eq. (4): every target row is recombined with the marginal
distribution of Z_-s, weighted by the phantom density ratio, which is 0 unless the recombined row
falls in the original row's bin.
"""

import numpy as np
import pytest
from neighbours import locate
from oracle_inputs import BINS, METRICS, worlds

from experiments.worlds import finite
from experiments.worlds.atoms import risk_bin
from experiments.worlds.exact import h_of
from experiments.worlds.world import all_subsets

PROPER = [s for s in all_subsets(3) if len(s) < 3]


def phantom_average(world, subset, bins, y):
    """Mean over z~_-s of xi(x~) (l(x~, y) - mu_s(x~)) times the phantom ratio, at every cell."""
    n, p = world.nuisances, world.mass.target
    known = world.subset_columns(subset)
    swapped = [c for c in range(world.features.shape[1]) if c not in known]
    rest = world.codes(swapped)
    marginal = np.bincount(rest, weights=p)
    first = [int(np.flatnonzero(rest == k)[0]) for k in range(len(marginal))]
    q_bin, groups = risk_bin(world.risk.source, bins), n.groups(subset, bins)
    group_mass = np.bincount(groups, weights=p)
    m = n.m(subset, bins)
    total = np.zeros(len(p))
    for k, donor in enumerate(first):
        recombined = world.features.copy()
        recombined[:, swapped] = world.features[donor, swapped]
        cell = locate(world, recombined)
        same_bin = q_bin[cell] == q_bin
        ratio = np.where(same_bin, p[cell] / group_mass[groups], 0.0) / marginal[k]
        mu_s = world.intercept[cell] + world.slope[cell] * m
        loss = world.intercept[cell] + world.slope[cell] * y
        total += marginal[k] * ratio * (n.mu_1_wz[cell] - mu_s) * (loss - mu_s)
    return total


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("subset", PROPER)
@pytest.mark.parametrize("seed", [3, 8])
def test_the_phantom_average_is_h_times_the_residual(metric, subset, seed):
    world = worlds(metric, seed)
    m, h = world.nuisances.m(subset, BINS), h_of(world, subset, BINS)
    for y in (0.0, 1.0):
        phantom = phantom_average(world, subset, BINS, y)
        np.testing.assert_allclose(phantom, h * (y - m), rtol=0, atol=1e-10)


@pytest.mark.parametrize("metric", ["zero_one", "accuracy"])
@pytest.mark.parametrize("subset", PROPER)
def test_it_vanishes_for_labels(metric, subset):
    world = worlds(metric)
    assert np.abs(h_of(world, subset, BINS)).max() < 1e-14
    assert np.abs(phantom_average(world, subset, BINS, 1.0)).max() < 1e-14


def test_it_does_not_vanish_otherwise():
    world = finite.random_world(3, metric="brier")
    assert np.abs(h_of(world, (), BINS)).max() > 1e-3
