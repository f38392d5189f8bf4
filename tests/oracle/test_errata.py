"""Slips of the paper and of its released code, each shown in numbers (docs/errata.md)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracle_inputs import doubled

from experiments.worlds import finite
from experiments.worlds.exact import h_of
from whygap.domains import ByDomain
from whygap.equations import outcome_value
from whygap.equations.binning import bin_index
from whygap.equations.outcome_value import OutcomeValues, Reduced
from whygap.estimate import Estimate, Sample
from whygap.estimate.fieller import Ratio
from whygap.shapley import SubsetPlan
from whygap.shapley.solve import linear_weights


def test_pooled_centring_overstates_the_variance():
    """Eqs (12)-(14) centre contributions over both samples at once."""
    rng = np.random.default_rng(0)
    rows, repeats = 400, 2000
    loss = (rng.random((repeats, rows)) < 0.74).astype(float)  # E_111: target rows only
    spread = loss.mean(axis=1).var()
    sample = Sample.of(ByDomain(rows, rows))
    ours = Estimate.from_contributions(sample, source=np.zeros(rows), target=loss[0])
    pooled = np.concatenate([np.zeros(rows), 2 * loss[0]])  # one over the share of target rows
    assert ours.standard_error**2 == pytest.approx(spread, rel=0.15)
    assert pooled.var() / (2 * rows) > 2 * spread


def test_rounding_gives_one_bin_more_than_equal_cuts():
    """The paper rounds q to the nearest 1/B; the released code cuts [0, 1] into B equal bins."""
    risk = np.linspace(0, 1, 100_001)
    rounded = bin_index(risk, 20)
    shares = np.bincount(rounded.astype(int)) / len(risk)
    assert len(shares) == 21
    np.testing.assert_allclose(shares[[0, 20]], 0.025, atol=1e-4)
    np.testing.assert_allclose(shares[1:20], 0.05, atol=1e-4)


@pytest.mark.parametrize("metric", ["zero_one", "brier", "log_loss"])
@pytest.mark.parametrize("subset", [(), (0,), (1, 2)])
def test_the_pairs_of_rows_average_to_h_times_a_residual(metric, subset):
    """Eq. (4) averages over recombined rows; for a binary outcome that average is h(G) (y - m)."""
    world = finite.random_world(11, w_levels=2, z_levels=(2, 3, 2), metric=metric)
    n, bins = world.nuisances, 4
    group, m, h = n.groups(subset, bins), n.m(subset, bins), h_of(world, subset, bins)
    a, b, mass = world.intercept, world.slope, world.mass.target
    for here in range(len(group)):
        alike = group == group[here]  # same W, Z_s and bin: the rows it is recombined with
        weight = mass[alike] / mass[alike].sum()
        for y in (0.0, 1.0):
            xi = b[alike] * (world.risk.target[alike] - m[here])
            residual = (a + b * y - (a + b * m[here]))[alike]
            pairs = float(weight @ (xi * residual))
            assert pairs == pytest.approx(h[here] * (y - m[here]), abs=1e-12)
    if metric == "zero_one":
        np.testing.assert_allclose(h, 0, atol=1e-12)


def released_weights(players: int) -> dict[int, float]:
    """Chance of each *size* in the released code: the weight meant for each *subset*."""
    raw = {k: 1 / math.comb(players - 2, k - 1) for k in range(1, players)}
    return {k: value / sum(raw.values()) for k, value in raw.items()}


def limit_of_the_released_code(subsets, values, players):
    """Where its shares end up with ever more draws: least squares with those weights."""
    chance = released_weights(players)
    member = np.array([[float(j in s) for j in range(players)] for s in subsets])
    size = member.sum(axis=1).astype(int)
    inner = (size > 0) & (size < players)
    weight = np.array([chance[k] / math.comb(players, k) for k in size[inner]])
    total = values[size == players][0] - values[size == 0][0]
    free = member[inner][:, :-1] - member[inner][:, -1:]
    aim = values[inner] - values[size == 0][0] - member[inner][:, -1] * total
    root = np.sqrt(weight)
    first = np.linalg.lstsq(root[:, None] * free, root * aim, rcond=None)[0]
    return np.append(first, total - first.sum())


@pytest.mark.parametrize(("players", "off"), [(4, 0.01), (6, 0.05), (10, 0.15)])
def test_size_weights_of_the_released_code_do_not_give_shapley_values(players, off):
    subsets = SubsetPlan(players).take(2**players)
    power = np.arange(1, players + 1) / players

    def value(subset):
        return float(np.sqrt(power[list(subset)].sum())) if subset else 0.0

    values = np.array([value(s) for s in subsets])
    exact = linear_weights(subsets, players) @ values
    theirs = limit_of_the_released_code(subsets, values, players)
    assert exact.sum() == pytest.approx(values[1] - values[0])
    assert exact == pytest.approx(brute_force(value, players), abs=1e-12)
    assert np.max(np.abs(theirs / exact - 1)) > off


def brute_force(value, players):
    """Shapley's definition, subset by subset."""
    shares = np.zeros(players)
    for code in range(2**players):
        subset = [j for j in range(players) if code >> j & 1]
        for j in set(range(players)) - set(subset):
            weight = 1 / (players * math.comb(players - 1, len(subset)))
            shares[j] += weight * (value(sorted([*subset, j])) - value(subset))
    return shares


def test_the_released_code_hardly_looks_beyond_single_players():
    chance = released_weights(31)
    assert chance[1] + chance[30] > 0.9
    correct = {k: 1 / (k * (31 - k)) for k in range(1, 31)}
    assert (correct[1] + correct[30]) / sum(correct.values()) < 0.3


def test_null_space_of_the_constraints_begins_at_column_two():
    """Two constraints (v(empty), v(all)) leave p - 1 free directions; a slice `3:` loses one."""
    players = 5
    constraints = np.vstack([np.eye(players + 1)[0], np.ones(players + 1)])
    q = np.linalg.qr(constraints.T, mode="complete")[0]
    np.testing.assert_allclose(constraints @ q[:, 2:], 0, atol=1e-12)
    assert q[:, 2:].shape[1] == players - 1
    assert q[:, 3:].shape[1] == players - 2


def test_a_negative_numerator_is_kept():
    """The released code sets numerator and influence to 0 when the reduced model scores better."""
    rng = np.random.default_rng(3)
    rows = 500
    truth = rng.uniform(0.2, 0.8, rows)
    y = (rng.random(rows) < truth).astype(float)
    noisy = np.clip(truth + rng.normal(0, 0.2, rows), 0, 1)  # a full model worse than the reduced
    nothing = np.zeros(rows)
    values = OutcomeValues(
        sample=Sample.of(ByDomain(rows, rows)),
        outcome=ByDomain(nothing, y),
        slope=ByDomain(np.ones(rows), np.ones(rows)),
        pi_wz=np.ones(rows),
        p_0=ByDomain(doubled(nothing), doubled(nothing)),
        p_1=ByDomain(doubled(nothing), doubled(noisy)),
    )
    reduced = Reduced(m=doubled(truth), h=doubled(nothing), risk=None)
    estimate = outcome_value.numerator(values, reduced)
    assert estimate.value < 0
    assert estimate.standard_error > 0


def test_a_ratio_over_nearly_nothing_has_no_bounded_interval():
    """The released code divides by a denominator of -.0084 for a truth of .0132, and goes on."""
    unclear = Ratio(0.004, -0.0084, 0.01**2, 0.01**2, 0.0)
    assert unclear.interval(0.9) == (-math.inf, math.inf)
    clear = Ratio(0.004, 0.0132, 0.001**2, 0.001**2, 0.0)
    low, high = clear.interval(0.9)
    assert low < 0.004 / 0.0132 < high
