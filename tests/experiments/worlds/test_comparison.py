"""The paper's comparison worlds against the values that come with the method."""

import numpy as np
import pytest
from scipy import special

from experiments.worlds.comparison import CovariateComparison, OutcomeComparison
from experiments.worlds.world import shares
from whygap.domains import ByDomain
from whygap.errors import InputError

LOGITS = (np.array([0.2, 0.4, 2, 0.25, 0.1, 0.1]), np.array([0.2, -0.4, 0.8, 0.1, 0.1, 0.1]))


def test_world_a_is_a_near_tie():
    world = CovariateComparison()
    assert world.corners().covariate == pytest.approx(-0.0299, abs=1e-4)
    assert world.corners().baseline == world.corners().outcome == 0
    assert world.covariate_truth((0,)).value == 1
    assert world.covariate_truth((1,)).value == pytest.approx(0.984, abs=1e-3)
    found = shares(lambda s: world.covariate_truth(s).value, 2)
    assert found == pytest.approx([0.508, 0.492], abs=1e-3)
    assert np.isnan(world.outcome_truth(()).value)


def test_world_a_by_simulation():
    """Swap in target Z2 given W, then source Z1 given (W, Z2), by Gibbs-free exact draws."""
    world, rng, n = CovariateComparison(), np.random.default_rng(0), 200_000
    w = 1 + rng.standard_normal(n)
    sign = rng.choice([-0.5, 0.5], size=n)
    z2 = -(w + 1) + 1 + sign + np.sqrt(1.25) * rng.standard_normal(n)
    away = [z2 - (1 + s - w) for s in (-0.5, 0.5)]
    up = rng.random(n) < special.expit((away[0] ** 2 - away[1] ** 2) / 2.5)
    z1 = w - np.where(up, away[1], away[0]) / 1.25 + np.sqrt(0.2) * rng.standard_normal(n)
    p = world.model(np.column_stack([w, z1, z2]))
    accuracy = np.where(p >= 0.5, p, 1 - p)
    nodes = np.linspace(-4, 6, 4001)
    density = np.exp(-((nodes - 1) ** 2) / 2)
    from experiments.worlds.comparison_truth import _only_z2_shifted

    expected = np.sum(density * _only_z2_shifted(world, nodes)) / density.sum()
    assert abs(accuracy.mean() - expected) < 4.5 * accuracy.std() / np.sqrt(n)


def test_drawn_rows_of_world_a():
    world = CovariateComparison(metric="brier")
    design = world.draw(ByDomain(40_000, 40_000), np.random.default_rng(2))
    assert design.features.target[:, 1].mean() == pytest.approx(2, abs=0.03)
    assert design.features.source[:, 2].mean() == pytest.approx(0, abs=0.03)
    assert design.loss.source.mean() == pytest.approx(world.corners().mean_000, abs=0.005)
    assert design.loss.target.mean() == pytest.approx(world.corners().mean_111, abs=0.005)


def test_world_b_with_the_released_codes_bins():
    world = OutcomeComparison(equal_bins=True)
    assert world.corners().outcome == pytest.approx(-0.1711, abs=3e-4)
    empty = world.outcome_truth(())
    assert empty.value == pytest.approx(0.449, abs=2e-3)
    assert empty.denominator == pytest.approx(0.0725, abs=1e-4)
    found = shares(lambda s: world.outcome_truth(s).value, 5)
    assert found == pytest.approx([0.293, 0.211, 0.019, 0.014, 0.014], abs=2e-3)
    assert np.isnan(world.covariate_truth(()).value)


def test_world_b_by_quasi_random_integration():
    from scipy.stats import qmc

    x = qmc.Sobol(6, seed=1).random_base2(17) * 8 - 4
    q, p_1 = (special.expit(x @ c) for c in LOGITS)
    world = OutcomeComparison()
    assert world.corners().outcome == pytest.approx(
        np.mean(np.where(q >= 0.5, 1, -1) * (p_1 - q)), abs=3e-4
    )
    brier = OutcomeComparison(metric="brier").outcome_truth(())
    assert brier.denominator == pytest.approx(np.mean((1 - 2 * q) ** 2 * (p_1 - q) ** 2), abs=2e-5)


def test_world_b_pairs_by_simulation():
    """v_Y of {Z1, Z2, Z3}: few variables are left, so bins of them can be averaged by draws."""
    rng, world = np.random.default_rng(3), OutcomeComparison()
    total = 0.0
    for _ in range(400):
        known = rng.uniform(-4, 4, size=4)
        rest = rng.uniform(-4, 4, size=(4000, 2))
        q, p_1 = (special.expit(known @ c[:4] + rest @ c[4:]) for c in LOGITS)
        code = np.floor(q * 20 + 0.5).astype(int)
        m = np.bincount(code, p_1) / np.maximum(np.bincount(code), 1)
        total += np.mean((p_1 - m[code]) ** 2)
    expected = world.outcome_truth((0, 1, 2)).numerator
    assert total / 400 == pytest.approx(expected, rel=0.25)


def test_world_b_has_no_smooth_form():
    with pytest.raises(InputError) as error:
        OutcomeComparison().outcome_truth((), None)
    message = "The comparison world has no smooth outcome values. Ask for bins=20."
    assert str(error.value) == message


def test_drawn_rows_of_world_b():
    world = OutcomeComparison()
    design = world.draw(ByDomain(40_000, 40_000), np.random.default_rng(2))
    assert design.features.source.min() >= -4
    assert design.features.source.max() < 4
    assert design.loss.target.mean() == pytest.approx(world.corners().mean_111, abs=0.012)
