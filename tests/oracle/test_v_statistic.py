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
from whygap.nuisances.outcome import prepare_outcome
from whygap.nuisances.source_risk import twin_risks
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
    m, h = (world.at_rows(f(subset, BINS)).target for f in (world.nuisances.m, world.nuisances.h))
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


def sampled(metric: str, rows: int, seed: int):
    """Rows of a world whose cells are few, and parts of both forms from the same shared fits."""
    world = finite.random_world(6, w_levels=2, z_levels=(3, 2), metric=metric)
    pairs = TruePairs(world, 2)
    design = replace(
        world.draw(ByDomain(rows, rows), np.random.default_rng(seed)),
        recombined=pairs.recombination(()).metric,
    )
    trees = {
        "classifier": DecisionTreeClassifier(min_samples_leaf=3, random_state=0),
        "regressor": DecisionTreeRegressor(min_samples_leaf=3, random_state=0),
    }
    settings = Settings(learner=trees, bins=2, twins=False, risk_uncertainty=False)
    ground = lay_ground(design, settings, np.random.SeedSequence(seed), Menu(settings))
    with_pairs = replace(ground, settings=replace(settings, outcome_form="v_statistic"))
    default = prepare_outcome(ground, [(0,)], twin_risks(ground))
    return world, default, prepare_v_statistic(with_pairs, [(0,)])


@pytest.mark.parametrize("metric", ["accuracy", "brier"])
def test_both_forms_agree_on_sampled_rows(metric):
    """Fitted cell means serve both, so only the noise of the pairs lies between them.

    Tolerance: four standard errors of the paired difference (one estimate, both forms measured on
    the same rows), which itself must be a small part of either form's standard error.
    """
    world, default, ours = sampled(metric, rows=1000, seed=2)
    assert ours.denominator().value == pytest.approx(default.denominator().value, rel=1e-9)
    for subset in [(), (0,), (1,)]:
        one, two = ours.numerator(subset), default.numerator(subset)
        difference = one - two
        assert abs(difference.value) < 4 * difference.standard_error
        assert difference.standard_error < 0.25 * two.standard_error
        truth = world.outcome_truth(subset, 2).numerator
        assert abs(one.value - truth) < 4 * one.standard_error


def test_self_normalised_weights_change_little():
    _, _, part = sampled("brier", rows=600, seed=3)
    settings = replace(part.ground.settings, self_normalised=True)
    normalised = replace(part, ground=replace(part.ground, settings=settings))
    one, two = part.numerator((1,)), normalised.numerator((1,))
    assert one.value != two.value
    assert abs(one.value - two.value) < 0.25 * one.standard_error
