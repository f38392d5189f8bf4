"""The streamed V-statistic form in finite worlds, with true nuisances and with fitted ones.

`test_v_statistic_identity` shows the identity behind it from the definitions; here the code that
users run is held against the enumerated truth.
"""

from dataclasses import replace

import numpy as np
import pytest
from oracle_inputs import BINS, METRICS, Oracle, group_noise, worlds
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from true_pairs import TruePairs

from whygap.domains import ByDomain
from whygap.equations import v_statistic
from whygap.learning.menu import Menu
from whygap.nuisances.ground import lay_ground
from whygap.nuisances.outcome import fit_risk, prepare_outcome
from whygap.nuisances.v_statistic import prepare_v_statistic
from whygap.settings import Settings
from whygap.simulate import finite
from whygap.simulate.world import all_subsets

PROPER = [s for s in all_subsets(3) if len(s) < 3]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("subset", PROPER)
@pytest.mark.parametrize("self_normalised", [False, True])
def test_pair_averages_over_a_population_are_h_times_the_residual(metric, subset, self_normalised):
    world = worlds(metric)
    design = world.table()
    pairs = TruePairs(world, BINS)
    averages = pairs.averages(design, subset, own=True, self_normalised=self_normalised)
    m, h = (
        world.at_rows(f(subset, BINS)).target for f in (world.nuisances.m, world.nuisances.h)
    )
    np.testing.assert_allclose(averages, h * (design.outcome.target - m), rtol=0, atol=1e-10)


@pytest.mark.parametrize("metric", ["zero_one", "accuracy"])
@pytest.mark.parametrize("subset", PROPER)
def test_pair_averages_vanish_for_labels(metric, subset):
    world = worlds(metric)
    averages = TruePairs(world, BINS).averages(world.table(), subset, own=True)
    assert np.abs(averages).max() < 1e-13
    brier = worlds("brier")
    assert np.abs(TruePairs(brier, BINS).averages(brier.table(), subset, own=True)).max() > 1e-4


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("subset", PROPER)
def test_numerator_and_denominator_are_the_enumerated_truth(metric, subset):
    world = worlds(metric)
    design, truth = world.table(), world.outcome_truth(subset, BINS)
    pairs = TruePairs(world, BINS)
    bottom = v_statistic.denominator(pairs.values(design))
    assert pairs.numerator(design, subset, own=True).value == pytest.approx(
        truth.numerator, abs=1e-10
    )
    assert bottom.value == pytest.approx(truth.denominator, abs=1e-10)


@pytest.mark.parametrize("metric", METRICS)
def test_influence_is_that_of_the_default_form(metric):
    world = worlds(metric)
    ours = TruePairs(world, BINS).numerator(world.table(), (1,), own=True)
    theirs = Oracle(world).outcome_numerator((1,))
    np.testing.assert_allclose(ours.influence.target, theirs.influence.target, rtol=0, atol=1e-10)
    bottom = v_statistic.denominator(TruePairs(world, BINS).values(world.table()))
    default = Oracle(world).outcome_denominator()
    for domain in ("source", "target"):
        np.testing.assert_allclose(
            getattr(bottom.influence, domain),
            getattr(default.influence, domain),
            rtol=0,
            atol=1e-10,
        )


@pytest.mark.parametrize("name", ["m", "p_1", "pi"])
@pytest.mark.parametrize("metric", ["brier", "random"])
def test_small_errors_of_a_nuisance_have_no_first_order_effect(name, metric):
    world, subset = worlds(metric), (1,)
    rng = np.random.default_rng(4)
    noise = rng.normal(size=len(world.prediction))
    if name == "m":
        noise = group_noise(world, world.nuisances.groups(subset, BINS), rng)
    truth = world.outcome_truth(subset, BINS).numerator

    def moved(step: float) -> float:
        pairs = TruePairs(world, BINS, {name: step * noise})
        return pairs.numerator(world.table(), subset, own=True).value - truth

    slope = (moved(1e-3) - moved(-1e-3)) / 2e-3
    assert abs(slope) < 1e-9
    assert abs(moved(1e-2)) < 10 * 1e-4 * float(np.max(noise**2))


def test_rows_that_lend_to_themselves_bias_the_printed_form():
    """Eq. (4) as printed has pairs (i, i): they lower the estimate by 2 E[pi xi^2] / n."""
    world, subset, rows, draws = worlds("brier"), (), 60, 300
    pairs, n = TruePairs(world, BINS), world.nuisances
    xi = world.slope * (world.risk.target - n.m(subset, BINS))
    expected = -2 * world.mean("target", pairs.ratio(subset) * xi**2) / rows
    truth = world.outcome_truth(subset, BINS).numerator
    rng = np.random.default_rng(7)
    printed, ours = np.array(
        [
            [pairs.numerator(design, subset, own=own).value for own in (True, False)]
            for design in (world.draw(ByDomain(30, rows), rng) for _ in range(draws))
        ]
    ).T
    noise = float(np.std(printed - ours, ddof=1)) / np.sqrt(draws)
    assert abs(np.mean(printed - ours) - expected) < 4 * noise
    assert abs(expected) > 8 * noise
    assert abs(ours.mean() - truth) < 4 * float(ours.std(ddof=1)) / np.sqrt(draws)
