"""The paper's coverage world: its published truths, and independent integrations of them."""

import numpy as np
import pytest
from scipy import integrate, special, stats

from experiments.worlds.gaussian import GaussianWorld
from experiments.worlds.gaussian_nuisances import GaussianNuisances
from experiments.worlds.world import all_subsets
from whygap.domains import ByDomain

SINGLES_AND_PAIRS = [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
# Our own quadrature, to more digits than docs print; the tests below integrate independently.
TRUTH = {
    "accuracy": {
        "corners": (0.952576, 0.952576, 0.838498, 0.741115),
        "v_Z": (0.6856, 0.1287, 0.8922, 0.7725, 0.9993, 0.9348),
        "v_Z denominator": 0.0132049,
        "v_Y": (0.9199, 0.1730, 0.8177, 0.9533, 0.9850, 0.9998),
        "v_Y(empty)": 0.1607,
        "v_Y denominator": 0.0697279,
        "smooth": (0.1675, 0.9628, 0.1793, 0.8190),
    },
    "brier": {
        "corners": (0.035614, 0.035614, 0.113137, 0.183423),
        "v_Z": (0.6955, 0.1337, 0.8970, 0.7808, 0.9993, 0.9379),
        "v_Z denominator": 0.0061043,
        "v_Y": (0.8726, 0.2290, 0.8233, 0.9009, 0.9695, 0.9996),
        "v_Y(empty)": 0.2177,
        "v_Y denominator": 0.0290108,
        "smooth": (0.2316, 0.9640, 0.2417, 0.8261),
    },
}
# Values printed with the method, "errors about 1 in the last digit" (v_Z: up to 3).
PRINTED = {
    "accuracy": (
        (0.683, 0.128, 0.891, 0.771, 0.999, 0.934),
        (0.920, 0.173, 0.818, 0.953, 0.986, 1.0),
    ),
    "brier": ((0.694, 0.133, 0.896, 0.779, 0.999, 0.937), (0.872, 0.229, 0.823, 0.900, 0.971, 1.0)),
}


@pytest.mark.parametrize("metric", ["accuracy", "brier"])
def test_truths(metric):
    world, truth = GaussianWorld(metric=metric), TRUTH[metric]
    c = world.corners()
    found = (c.mean_000, c.mean_100, c.mean_110, c.mean_111)
    assert found == pytest.approx(truth["corners"], abs=1e-6)
    v_z = [world.covariate_truth(s).value for s in SINGLES_AND_PAIRS]
    v_y = [world.outcome_truth(s).value for s in SINGLES_AND_PAIRS]
    assert v_z == pytest.approx(truth["v_Z"], abs=1e-4)
    assert v_y == pytest.approx(truth["v_Y"], abs=1e-4)
    assert v_z == pytest.approx(PRINTED[metric][0], abs=0.0035)
    assert v_y == pytest.approx(PRINTED[metric][1], abs=0.002)
    empty = world.outcome_truth(())
    assert empty.value == pytest.approx(truth["v_Y(empty)"], abs=1e-4)
    assert empty.denominator == pytest.approx(truth["v_Y denominator"], abs=1e-6)
    assert world.covariate_truth(()).denominator == pytest.approx(
        truth["v_Z denominator"], abs=1e-6
    )
    smooth = [world.outcome_truth(s, None).value for s in [(), (0,), (1,), (2,)]]
    assert smooth == pytest.approx(truth["smooth"], abs=1e-4)


def test_ends_of_the_value_functions():
    world = GaussianWorld(metric="brier")
    assert world.covariate_truth(()).value == pytest.approx(0, abs=1e-12)
    assert world.covariate_truth((0, 1, 2)).value == pytest.approx(1, abs=1e-12)
    assert world.outcome_truth((0, 1, 2)).value == 1
    assert world.outcome_truth((0, 1), None).value == pytest.approx(1, abs=1e-9)


def test_covariate_denominator_by_another_integrator():
    """scipy's adaptive quadrature in t, Gauss-Hermite in W."""

    def mean_accuracy(mean, sd):
        def integrand(t):
            return special.expit(abs(t)) * stats.norm.pdf(t, mean, sd)

        return sum(
            integrate.quad(integrand, *ends, epsabs=1e-11, limit=200)[0]
            for ends in ((-40, 0), (0, 40))
        )

    nodes, weights = np.polynomial.hermite_e.hermegauss(20)
    sd = 2 * np.sqrt(1 + 0.25 + 1)
    gaps = [mean_accuracy(0.6 * x, sd) - mean_accuracy(0.6 * x + 5.35, sd) for x in nodes]
    expected = np.sum(weights * np.square(gaps)) / weights.sum()
    found = GaussianWorld().covariate_truth(()).denominator
    assert found == pytest.approx(expected, abs=1e-8)


def test_bins_do_not_matter_when_they_are_many():
    world = GaussianWorld()
    assert world.outcome_truth((0,), 100).value == pytest.approx(
        world.outcome_truth((0,), None).value, abs=0.01
    )


@pytest.fixture(scope="module")
def drawn():
    world = GaussianWorld(metric="brier")
    return world, world.draw(ByDomain(6000, 6000), np.random.default_rng(1))


def close(values, expected, sds=4.5):
    values = np.asarray(values)
    assert abs(values.mean() - expected) <= sds * values.std() / np.sqrt(len(values)) + 1e-9


def test_drawn_rows_average_to_the_corners(drawn):
    world, design = drawn
    close(design.loss.source, world.corners().mean_000)
    close(design.loss.target, world.corners().mean_111)
    assert design.features.source.std(axis=0) == pytest.approx([2] * 4, rel=0.04)
    assert [p.name for p in design.players] == ["Z1", "Z2", "Z3"]


def test_nuisances_solve_their_equations(drawn):
    """Residuals of conditional means are orthogonal to functions of what they condition on."""
    world, design = drawn
    n, source, target = GaussianNuisances(world), design.features.source, design.features.target
    for subset in [(), (0,), (0, 2)]:
        columns = [0, *(p + 1 for p in subset)]
        for test in (np.ones(len(source)), np.tanh(source[:, columns].sum(axis=1))):
            close((design.loss.source - n.mu_00_wzs(source, subset)) * test, 0)
    for test in (np.ones(len(target)), np.tanh(target[:, 0])):
        close((n.mu_0_wz(target) - n.mu_10_w(target)) * test, 0)
        close((n.mu_00_wzs(target, (1,)) - n.mu_s0_w(target, (1,))) * test, 0)
    close(design.loss.target - n.mu_1_wz(target), 0)
    np.testing.assert_allclose(n.mu_00_w(source), n.mu_s0_w(source, ()), atol=1e-12)


def test_reduced_risks_solve_their_equations(drawn):
    world, design = drawn
    rows = design.features.target[:1500]
    n, p_1 = GaussianNuisances(world), world.risk("target", rows)
    b2 = (world.loss.coefficients(world.logit("source", rows))[1]) ** 2
    bins = n.bin_index(rows, 20)
    for subset in [(), (0,), (0, 1)]:
        m, h = n.m(rows, subset), n.h(rows, subset)
        for test in (np.ones(len(rows)), (bins >= 10) * 1.0, np.tanh(rows[:, 0])):
            close((p_1 - m) * test, 0)
            close((b2 * (p_1 - m) - h) * test, 0)
        close(b2 * (p_1 - m) ** 2, world.outcome_truth(subset).numerator)
        smooth = n.m_smooth(rows, subset)
        close(b2 * (p_1 - smooth) ** 2, world.outcome_truth(subset, None).numerator)
    np.testing.assert_allclose(n.m(rows, (0, 1, 2)), p_1)
    np.testing.assert_allclose(n.m_smooth(rows, (0, 1, 2)), p_1)
    assert np.all(n.h(rows, (0, 1, 2)) == 0)


def test_ratios_are_exact():
    world = GaussianWorld()
    n = GaussianNuisances(world)
    x = np.random.default_rng(0).normal(size=(5, 4))
    log_ratio = sum(
        stats.norm.logpdf(x[:, j], world.means.target[j], 2)
        - stats.norm.logpdf(x[:, j], world.means.source[j], 2)
        for j in (0, 2)
    )
    np.testing.assert_allclose(n.pi_wzs(x, (1,)), np.exp(log_ratio))
    np.testing.assert_allclose(n.pi_w(x), 1)
    np.testing.assert_allclose(n.pi_wz(x), n.pi_wzs(x, (0, 1, 2)))


def test_the_variance_of_the_ratio_is_hard_on_purpose():
    """exp(sum of squared shifts / variance) - 1: about 28."""
    shift = np.array([2, 0.7, 3]) / 2
    assert np.exp(shift @ shift) - 1 == pytest.approx(27.4, abs=1)


@pytest.mark.parametrize("metric", ["accuracy", "zero_one", "brier", "log_loss"])
def test_every_metric_has_finite_truths(metric):
    world = GaussianWorld(metric=metric)
    numbers = [world.corners().gap]
    for subset in all_subsets(3)[:3]:
        numbers += [world.covariate_truth(subset).value, world.outcome_truth(subset).value]
    assert np.isfinite(numbers).all()
