"""Influence functions against numerical directional derivatives of the functionals.

In a finite world small changes of the source risk move no cell across a bin edge, so the
numerator's derivative through q is 0 here; `test_risk_term` has the continuous case.
"""

import numpy as np
import pytest
from neighbours import random_direction
from oracle_inputs import BINS, METRICS, Oracle, mean_influence, numerical_derivative, worlds

from experiments.worlds.exact import table_of
from experiments.worlds.world import all_subsets
from whygap.equations import corners

DOMAINS = ("source", "target")


def check(estimate, functional, world, domain, seeds=(0, 1)):
    for seed in seeds:
        direction = random_direction(world, np.random.default_rng(seed))
        expected = numerical_derivative(functional, world, direction, domain)
        found = mean_influence(estimate, world, direction, domain)
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("corner", ["000", "100", "110", "111"])
def test_corner_means(metric, domain, corner):
    world = worlds(metric)
    check(
        Oracle(world).aggregate()[corner],
        lambda w: getattr(w.corners(), f"mean_{corner}"),
        world,
        domain,
    )


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("part", ["baseline", "covariate", "outcome", "gap"])
def test_parts_of_the_gap(metric, domain, part):
    world = worlds(metric)
    found = corners.decompose(Oracle(world, sample=table_of(world).sample()).aggregate())
    estimates = found.parts | {"gap": found.total}
    check(estimates[part], lambda w: getattr(w.corners(), part), world, domain)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("subset", [s for s in all_subsets(3) if len(s) < 3])
def test_covariate_numerator_and_value(metric, domain, subset):
    world = worlds(metric)
    oracle = Oracle(world)
    check(
        oracle.covariate_numerator(subset),
        lambda w: w.covariate_truth(subset).numerator,
        world,
        domain,
    )
    check(oracle.covariate_value(subset), lambda w: w.covariate_truth(subset).value, world, domain)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("domain", DOMAINS)
def test_outcome_denominator(metric, domain):
    world = worlds(metric)
    check(
        Oracle(world).outcome_denominator(),
        lambda w: w.outcome_truth((), BINS).denominator,
        world,
        domain,
    )


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("subset", [s for s in all_subsets(3) if len(s) < 3])
def test_outcome_numerator_and_value(metric, domain, subset):
    world = worlds(metric)
    oracle = Oracle(world)
    check(
        oracle.outcome_numerator(subset),
        lambda w: w.outcome_truth(subset, BINS).numerator,
        world,
        domain,
    )
    check(
        oracle.outcome_value(subset),
        lambda w: w.outcome_truth(subset, BINS).value,
        world,
        domain,
    )
