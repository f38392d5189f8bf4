"""True nuisances in the paper's Gaussian world: estimates scatter around the truth as they say."""

import numpy as np
import pytest
from oracle_inputs import doubled

from experiments.worlds.gaussian import GaussianWorld
from experiments.worlds.gaussian_nuisances import GaussianNuisances
from whygap.domains import ByDomain
from whygap.equations import binning, covariate_value, outcome_value
from whygap.equations.covariate_value import CovariateValues
from whygap.equations.outcome_value import OutcomeValues, Reduced, binned_slope

BINS = 20
SUBSET = (0,)


def covariate_numerator(n, design, sample, subset):
    x = design.features
    means = (
        x.map(n.mu_0_wz),
        x.map(n.mu_10_w),
        x.map(lambda rows: n.mu_00_wzs(rows, subset)),
        x.map(lambda rows: n.mu_s0_w(rows, subset)),
    )
    ratios = n.pi_wz(x.source), n.pi_wzs(x.source, subset)
    return covariate_value.numerator(
        CovariateValues(sample, design.loss.source, *ratios, *(m.map(doubled) for m in means))
    )


def outcome_values(world, n, design, sample):
    x = design.features
    p_0, p_1 = (x.map(lambda rows, d=d: world.risk(d, rows)) for d in ("source", "target"))
    return OutcomeValues(
        sample=sample,
        outcome=design.outcome,
        slope=design.slope,
        pi_wz=n.pi_wz(x.source),
        p_0=p_0.map(doubled),
        p_1=p_1.map(doubled),
    )


def outcome_numerator(world, n, design, values):
    x = design.features
    down = binning.edge_index(world.risk("source", x.source), BINS).astype(int)
    tables = [n.bin_table(x.source, SUBSET, BINS, residual=r) for r in (False, True)]
    rows = np.arange(len(down))
    sides = [doubled(table[rows, down + k]) for table in tables for k in (1, 0)]
    m, h = doubled(n.m(x.target, SUBSET)), doubled(n.h(x.target, SUBSET))
    return outcome_value.numerator(values, Reduced(m, h, binned_slope(BINS, *sides)))


def estimates(world, design):
    n, sample = GaussianNuisances(world), design.sample()
    values = outcome_values(world, n, design, sample)
    top = covariate_numerator(n, design, sample, SUBSET)
    bottom = covariate_numerator(n, design, sample, ())
    return {
        "covariate numerator": top,
        "covariate value": 1 - top / bottom,
        "outcome denominator": outcome_value.denominator(values),
        "outcome numerator": outcome_numerator(world, n, design, values),
    }


def truths(world):
    covariate, outcome = world.covariate_truth(SUBSET), world.outcome_truth(SUBSET)
    return {
        "covariate numerator": covariate.numerator,
        "covariate value": covariate.value,
        "outcome denominator": outcome.denominator,
        "outcome numerator": outcome.numerator,
    }


@pytest.mark.nightly
@pytest.mark.parametrize("metric", ["accuracy", "brier"])
def test_estimates_scatter_as_their_standard_errors_say(metric):
    """60 draws of 2000 rows: mean of z within 4 / sqrt(60), its spread near 1."""
    world = GaussianWorld(metric=metric)
    expected, scores = truths(world), {name: [] for name in truths(world)}
    for child in np.random.SeedSequence(7).spawn(60):
        design = world.draw(ByDomain(2000, 2000), np.random.default_rng(child))
        for name, estimate in estimates(world, design).items():
            scores[name].append((estimate.value - expected[name]) / estimate.standard_error)
    for name, z in scores.items():
        assert abs(np.mean(z)) < 4 / np.sqrt(60), name
        assert 0.7 < np.std(z) < 1.45, name
