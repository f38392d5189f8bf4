"""With true nuisances every equation equals the enumerated truth."""

import numpy as np
import pytest
from oracle_inputs import BINS, METRICS, Oracle, worlds

from experiments.worlds import finite
from experiments.worlds.exact import pi_w, table_of
from experiments.worlds.world import all_subsets
from whygap.equations import corners

SUBSETS = all_subsets(3)
EXACT = {"rel": 0, "abs": 1e-12}


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", [1, 2])
def test_corner_means_equal_enumeration(metric, seed):
    world = worlds(metric, seed)
    truth = world.corners()
    means = Oracle(world).aggregate()
    for name in ("000", "100", "110", "111"):
        assert means[name].value == pytest.approx(getattr(truth, f"mean_{name}"), **EXACT)
        assert means[name].plugin == pytest.approx(getattr(truth, f"mean_{name}"), **EXACT)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("subset", SUBSETS)
def test_covariate_values_equal_enumeration(metric, subset):
    world = worlds(metric)
    truth = world.covariate_truth(subset)
    top = Oracle(world).covariate_numerator(subset)
    assert top.value == pytest.approx(truth.numerator, **EXACT)
    assert top.plugin == pytest.approx(truth.numerator, **EXACT)
    assert Oracle(world).covariate_value(subset).value == pytest.approx(truth.value, abs=1e-11)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("subset", SUBSETS)
@pytest.mark.parametrize("bins", [BINS, 20, None])
def test_outcome_values_equal_enumeration(metric, subset, bins):
    world = worlds(metric)
    truth = world.outcome_truth(subset, bins)
    oracle = Oracle(world)
    assert oracle.outcome_numerator(subset, bins).value == pytest.approx(truth.numerator, **EXACT)
    assert oracle.outcome_denominator().value == pytest.approx(truth.denominator, **EXACT)
    assert oracle.outcome_value(subset, bins).value == pytest.approx(truth.value, abs=1e-11)


def test_without_baseline_the_equations_still_hold():
    world = finite.random_world(5, w_levels=1, z_levels=(3, 2), metric="brier")
    assert world.baseline == ()
    assert np.ptp(pi_w(world)) == pytest.approx(0, abs=1e-14)
    truth = world.corners()
    assert truth.mean_100 == pytest.approx(truth.mean_000, **EXACT)
    assert Oracle(world).aggregate()["100"].value == pytest.approx(truth.mean_100, **EXACT)
    for subset in all_subsets(2):
        expected = world.covariate_truth(subset)
        assert Oracle(world).covariate_numerator(subset).value == pytest.approx(
            expected.numerator, **EXACT
        )


@pytest.mark.parametrize("metric", METRICS)
def test_ends_of_the_value_functions(metric):
    world = worlds(metric)
    everything = (0, 1, 2)
    assert world.covariate_truth(()).value == pytest.approx(0, abs=1e-12)
    assert world.covariate_truth(everything).value == pytest.approx(1, abs=1e-12)
    assert world.outcome_truth(everything, BINS).value == pytest.approx(1, abs=1e-12)


def test_corner_estimates_add_up_to_the_gap():
    means = Oracle(worlds("log_loss"), sample=table_of(worlds("log_loss")).sample()).aggregate()
    found = corners.decompose(means)
    total = sum(found.parts.values(), found.total * 0)
    assert total.value == pytest.approx(found.total.value, **EXACT)
    assert total.standard_error == pytest.approx(found.total.standard_error, rel=1e-12)
