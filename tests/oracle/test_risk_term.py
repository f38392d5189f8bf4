"""The source-risk term of the outcome numerator is the functional's derivative through q.

A finite world cannot show it (no cell sits at a bin edge), so these worlds are continuous. The
binned term smooths the density at an edge over one bin; its error shrinks with the bin width.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from continuous_world import (
    Continuous,
    bin_average,
    binned_nodes,
    binned_numerator,
    binned_reduced,
    bump,
    edge_derivative,
    equation,
    p_1,
    q,
    smooth_nodes,
    smooth_numerator,
    smooth_reduced,
    smooth_twins,
)
from oracle_inputs import Oracle, doubled, worlds

from experiments.worlds.exact import at_rows, h_of
from whygap.domains import ByDomain
from whygap.equations.outcome_value import (
    OutcomeValues,
    Reduced,
    RiskSlope,
    binned_slope,
    numerator,
)
from whygap.estimate import Sample

STEP = 1e-3


def derivative(functional) -> float:
    near, far = (functional(k * STEP) - functional(-k * STEP) for k in (1, 2))
    return (8 * near - far) / (12 * STEP)


def tables(world, nodes, bins):
    p = p_1(*nodes.point)
    m = bin_average(nodes, p, bins)
    rows = np.arange(len(m)).reshape(-1, 1, 1, 1)
    residual = world.slope(*nodes.point) ** 2 * (p - m[rows, nodes.bin])
    return m, bin_average(nodes, residual, bins)


def term_mean(world, bins) -> float:
    """Mean of the term when the source risk moves by the bump: residual Y - q becomes the bump."""
    nodes = binned_nodes(world, bins)
    both = tables(world, nodes, bins)
    risk = q(nodes.z1, nodes.v)
    with_term = binned_reduced(both, nodes, risk, bins, term=True)
    without = replace(with_term, risk=None)
    moved = bump(*nodes.point)
    return (
        equation(world, nodes, moved, with_term).value
        - equation(world, nodes, moved, without).value
    )


@pytest.mark.parametrize("constant_slope", [True, False])
@pytest.mark.parametrize("bins", [10, 20])
def test_the_derivative_through_q_lives_at_the_edges(constant_slope, bins):
    world = Continuous(constant_slope)
    nodes = binned_nodes(world, bins)
    exact = edge_derivative(world, *tables(world, nodes, bins), bins)
    expected = derivative(lambda e: binned_numerator(replace(world, epsilon=e), bins))
    assert exact == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("constant_slope", [True, False])
def test_binned_term_tends_to_the_derivative_through_q(constant_slope):
    """Smoothing over one bin costs O(1 / B^2)."""
    world = Continuous(constant_slope)
    errors = []
    for bins in (20, 40, 80):
        exact = edge_derivative(world, *tables(world, binned_nodes(world, bins), bins), bins)
        errors.append(abs(term_mean(world, bins) / exact - 1))
    assert errors[0] / errors[1] > 2.4
    assert errors[1] / errors[2] > 3
    assert errors[2] < 0.03


@pytest.mark.parametrize("constant_slope", [True, False])
def test_smooth_term_is_the_derivative_through_q(constant_slope):
    world = Continuous(constant_slope)
    expected = derivative(lambda e: smooth_numerator(replace(world, epsilon=e)))
    nodes, level = smooth_nodes(world)
    with_term = smooth_reduced(world, nodes, level)
    without = Reduced(with_term.m, with_term.h, None)
    moved = bump(*nodes.point)
    found = (
        equation(world, nodes, moved, with_term).value
        - equation(world, nodes, moved, without).value
    )
    assert found == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("constant_slope", [True, False])
def test_smooth_numerator_is_orthogonal_to_the_source_risk(constant_slope):
    """With q off by epsilon times the bump everywhere, the error is of second order."""
    world = Continuous(constant_slope)
    nodes, level = smooth_nodes(world)
    truth, moved = smooth_numerator(world), bump(*nodes.point)
    steps = np.array([0.02, 0.01, 0.005])
    errors = {True: [], False: []}
    for step in steps:
        reduced = smooth_reduced(world, nodes, level + step * moved)
        for term in (True, False):
            used = reduced if term else replace(reduced, risk=None)
            errors[term].append(equation(world, nodes, -step * moved, used).value - truth)
    slopes = {k: np.diff(np.log(np.abs(e))) / np.diff(np.log(steps)) for k, e in errors.items()}
    assert slopes[True].min() >= 1.8
    assert abs(errors[True][-1]) < 0.5 * abs(errors[False][-1])


@pytest.mark.parametrize("constant_slope", [True, False])
def test_independent_errors_of_twin_risks_leave_no_bias_of_second_order(constant_slope):
    """The mean over both signs of both twins' errors, over epsilon squared, where b^2 is 1 or not.

    With each twin of m at its own risk only, it is -2.3e-4 and -3.1e-4; with one risk for both
    twins -4.3e-6 and -5.6e-5.
    """
    world, step = Continuous(constant_slope), 0.02
    nodes, _ = smooth_nodes(world)
    truth, moved = smooth_numerator(world), bump(*nodes.point).ravel()
    errors = []
    for signs in product((1, -1), repeat=2):
        worlds = tuple(replace(world, epsilon=sign * step) for sign in signs)
        reduced = [smooth_twins(worlds, nodes, seen) for seen in worlds]
        residual = -step * np.outer(signs, moved)
        errors.append(equation(world, nodes, residual, *reduced).value - truth)
    assert abs(np.mean(errors)) / step**2 < 1e-7
    assert np.abs(errors).max() / step**2 > 1e-6


@pytest.mark.parametrize("constant_slope", [True, False])
def test_binned_numerator_is_nearly_orthogonal_to_the_source_risk(constant_slope):
    """Bins and residual move together; what is left of the first order is the smoothing error."""
    bins, world = 40, Continuous(constant_slope)
    truth, truth_nodes = binned_numerator(world, bins), binned_nodes(world, bins)
    both = tables(world, truth_nodes, bins)
    for step in (0.02, 0.01):
        wrong = replace(world, epsilon=step)
        nodes = binned_nodes(wrong, bins)
        residual = -step * bump(*nodes.point)
        on, off = (
            equation(
                wrong,
                nodes,
                residual,
                binned_reduced(both, nodes, wrong.moved(*nodes.point), bins, term=term),
            ).value
            - truth
            for term in (True, False)
        )
        assert abs(on) < 0.25 * abs(off)


@pytest.mark.parametrize("metric", ["zero_one", "brier", "random"])
def test_term_has_mean_zero_at_the_true_risk(metric):
    """Whatever m and h are on the two sides of the edge."""
    world, rng = worlds(metric), np.random.default_rng(0)
    size = 2 * len(world.prediction)
    per_cell = [doubled(at_rows(rng.normal(size=size // 2)).source) for _ in range(4)]
    n, subset = world.nuisances, (1,)
    reduced = Reduced(
        m=doubled(at_rows(n.m(subset, 4)).target),
        h=doubled(at_rows(h_of(world, subset, 4)).target),
        risk=binned_slope(4, *per_cell),
    )
    estimate = numerator(Oracle(world).outcome_values(), reduced)
    assert estimate.value == pytest.approx(world.outcome_truth(subset, 4).numerator, abs=1e-12)
    assert np.abs(estimate.influence.source).max() > 1e-3


@pytest.mark.parametrize("shrunk", [1.0, 0.8])
def test_noise_of_the_risks_that_flattens_m_is_taken_off(shrunk):
    """Nothing shifts; risks are normal, with independent normal noise in the twins'.

    Flattened by that noise, m leaves .0011 unexplained, of fourth order in the noise. A risk that
    is shrunk says the same as one that is not, and its gap to a flat m would be taken off twice.
    """
    rng, n, noise = np.random.default_rng(0), 400_000, 0.08
    risk = 0.5 + 0.15 * rng.normal(size=n)
    seen = 0.5 + shrunk * (risk - 0.5 + noise * rng.normal(size=(2, n)))
    flat = 0.15**2 / (0.15**2 + noise**2)
    nothing = np.zeros((1, 2, n))
    reduced = []
    for column in seen:
        m = doubled(0.5 + flat / shrunk * (column - 0.5))
        slope = RiskSlope(m, nothing, np.full_like(nothing, flat / shrunk), nothing)
        reduced.append(Reduced(m, nothing, slope))
    values = OutcomeValues(
        sample=Sample.of(ByDomain(n, n)),
        outcome=ByDomain(risk, risk),
        slope=ByDomain(np.ones(n), np.ones(n)),
        pi_wz=np.ones(n),
        p_0=ByDomain(seen[None], seen[None]),
        p_1=ByDomain(doubled(risk), doubled(risk)),
    )
    left = (1 - flat) ** 2 * 0.15**2
    assert left == pytest.approx(0.0011, abs=1e-4)
    assert abs(numerator(values, *reduced).value) < 0.03 * left
