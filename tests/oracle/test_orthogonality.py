"""Perturb one nuisance by h: the estimate moves by O(h^2) at most (slope over three h)."""

from collections.abc import Callable

import numpy as np
import pytest
from oracle_inputs import BINS, METRICS, Oracle, group_noise, worlds

from experiments.worlds.atoms import Atoms
from experiments.worlds.exact import at_rows, pi_w, pi_wz, table_of
from whygap.domains import Array, ByDomain

STEPS = np.array([0.4, 0.2, 0.1]) * 0.25
SUBSET = (0, 2)


def assert_second_order(error: Callable[[float], float]) -> None:
    errors = np.array([abs(error(step)) for step in STEPS])
    if errors.max() < 1e-13:
        return
    slopes = np.diff(np.log(errors)) / np.diff(np.log(STEPS))
    assert slopes.min() >= 1.8, f"errors {errors} have slopes {slopes}"


def conditioned_on(world: Atoms, name: str) -> Array:
    """Numbers of the groups a nuisance is constant on."""
    if name in ("m", "h"):
        return world.nuisances.groups(SUBSET, BINS)
    subset = {"w": (), "wzs": SUBSET}.get(name.rsplit("_", 1)[-1], (0, 1, 2))
    return world.codes(world.subset_columns(subset))


def shifted(world: Atoms, name: str, twin: str = "", seed: int = 0) -> Callable[[float], Oracle]:
    noise = group_noise(world, conditioned_on(world, name), np.random.default_rng(seed))
    return lambda step: Oracle(world, {name + twin: step * noise})


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("name", ["mu_00_w", "mu_0_wz", "pi_w", "pi_wz"])
def test_corner_means(metric, name):
    world = worlds(metric)
    truth, at = world.corners(), shifted(world, name)
    for corner in ("100", "110"):
        expected = getattr(truth, f"mean_{corner}")
        assert_second_order(lambda h, c=corner, e=expected: at(h).aggregate()[c].value - e)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("twin", ["", "_A"])
@pytest.mark.parametrize("name", ["mu_0_wz", "mu_10_w", "mu_00_wzs", "mu_s0_w", "pi_wz", "pi_wzs"])
def test_covariate_numerator(metric, name, twin):
    world = worlds(metric)
    truth, at = world.covariate_truth(SUBSET).numerator, shifted(world, name, twin)
    assert_second_order(lambda h: at(h).covariate_numerator(SUBSET).value - truth)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("twin", ["", "_A"])
@pytest.mark.parametrize("name", ["p_0", "p_1", "pi_wz"])
def test_outcome_denominator(metric, name, twin):
    world = worlds(metric)
    truth, at = world.outcome_truth(SUBSET, BINS).denominator, shifted(world, name, twin)
    assert_second_order(lambda h: at(h).outcome_denominator().value - truth)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("twin", ["", "_A"])
@pytest.mark.parametrize("name", ["p_1", "m", "h", "pi_wz"])
def test_outcome_numerator(metric, name, twin):
    world = worlds(metric)
    truth, at = world.outcome_truth(SUBSET, BINS).numerator, shifted(world, name, twin)
    assert_second_order(lambda h: at(h).outcome_numerator(SUBSET).value - truth)


@pytest.mark.parametrize("metric", METRICS)
def test_all_nuisances_at_once(metric):
    """Products of errors count as well: everything moves together, still second order."""
    world, rng = worlds(metric), np.random.default_rng(1)
    names = [
        "mu_0_wz",
        "mu_10_w",
        "mu_00_wzs",
        "mu_s0_w",
        "pi_wz",
        "pi_wzs",
        "p_0",
        "p_1",
        "m",
        "h",
    ]
    noise = {name: group_noise(world, conditioned_on(world, name), rng) for name in names}
    tops = world.covariate_truth(SUBSET).numerator, world.outcome_truth(SUBSET, BINS).numerator

    def at(h: float) -> Oracle:
        return Oracle(world, {name: 0.02 * h * values for name, values in noise.items()})

    assert_second_order(lambda h: at(h).covariate_numerator(SUBSET).value - tops[0])
    assert_second_order(lambda h: at(h).outcome_numerator(SUBSET).value - tops[1])


def test_twins_leave_only_the_product_of_errors():
    """The denominator's bias is -E_1[b^2 (e_A - e)(e_B - e)], exactly."""
    world, rng = worlds("brier"), np.random.default_rng(2)
    size = len(world.prediction)
    one, two = rng.normal(size=size), rng.normal(size=size)
    truth = world.outcome_truth(()).denominator
    moved = Oracle(world, {"p_1_A": one, "p_1_B": two}).outcome_denominator().value
    expected = -world.mean("target", world.slope**2 * one * two)
    assert moved - truth == pytest.approx(expected, abs=1e-12)


def covariate_part(world: Atoms, mu_00_w: Array, sign: int) -> float:
    """Lambda_Z with mu_.00(W) subtracted on target rows (-1), or added as eq. (13) prints (+1)."""
    n, design = world.nuisances, table_of(world)
    at = at_rows
    loss, mu_w, mu_wz = design.loss.source, at(mu_00_w), at(n.mu_0_wz)
    rows = ByDomain(
        (loss - mu_wz.source) * at(pi_wz(world)).source
        - (loss - mu_w.source) * at(pi_w(world)).source,
        mu_wz.target + sign * mu_w.target,
    )
    return sum(design.sample().mean(rows))


def test_a_wrong_sign_would_be_found():
    """Eq. (13) as printed moves to first order with mu_.00(W); with a minus it does not move."""
    world = worlds("brier")
    mu_00_w = world.nuisances.mu_00_w
    noise = group_noise(world, world.codes(world.baseline), np.random.default_rng(0))
    moved = {
        sign: [
            abs(
                covariate_part(world, mu_00_w + h * noise, sign)
                - covariate_part(world, mu_00_w, sign)
            )
            for h in (1e-1, 1e-2)
        ]
        for sign in (-1, 1)
    }
    assert covariate_part(world, mu_00_w, -1) == pytest.approx(world.corners().covariate, abs=1e-12)
    assert max(moved[-1]) < 1e-13
    assert np.log10(moved[1][0] / moved[1][1]) == pytest.approx(1, abs=1e-6)


def test_the_plug_in_moves_to_first_order():
    """The check has teeth: without its correction the denominator is not orthogonal."""
    world = worlds("brier")
    truth, at = world.outcome_truth(()).denominator, shifted(world, "p_1")
    errors = [abs(at(h).outcome_denominator().plugin - truth) for h in (1e-3, 1e-4)]
    assert np.log10(errors[0] / errors[1]) == pytest.approx(1, abs=0.1)
