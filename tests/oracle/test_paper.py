"""The method as published, in finite worlds: with true nuisances it gives the enumerated truth."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from neighbours import locate
from oracle_inputs import BINS, METRICS, worlds

from experiments.worlds import finite
from experiments.worlds.atoms import Atoms
from experiments.worlds.exact import at_rows, h_of, pi_wzs, table_of
from experiments.worlds.world import all_subsets, shares
from whygap.domains import ByDomain
from whygap.paper.nuisances import Nuisances, binned
from whygap.paper.shapley import draw_subsets, shapley_shares
from whygap.paper.values import (
    SubsetValue,
    aggregate_parts,
    covariate_numerator,
    outcome_denominator,
    outcome_numerator,
    v_statistic,
)

SUBSETS = all_subsets(3)
PROPER = [s for s in SUBSETS if len(s) < 3]
EXACT = {"rel": 0, "abs": 1e-10}


@dataclass(frozen=True, eq=False)
class TrueNuisances(Nuisances):
    """Nuisances of a finite world, on the weighted table that is the world itself."""

    world: Atoms

    p_0 = property(lambda self: at_rows(self.world.risk.source))
    p_1 = property(lambda self: at_rows(self.world.risk.target))
    mu_10_w = property(lambda self: at_rows(self.world.nuisances.mu_10_w))

    def mu_00_wzs(self, subset):
        return at_rows(self.world.nuisances.mu_00_wzs(subset))

    def mu_s0_w(self, mu_00_wzs):
        world = self.world
        per_atom = mu_00_wzs.target[: len(world.prediction)]
        return at_rows(world.conditional("target", per_atom, world.codes(world.baseline)))

    def ratio(self, columns):
        raise AssertionError(columns)

    pi_wz = property(lambda self: at_rows(pi_wzs(self.world, tuple(range(len(self.world.groups))))))

    def pi_wzs(self, subset):
        return at_rows(pi_wzs(self.world, subset))

    def m(self, subset):
        return at_rows(self.world.nuisances.m(subset, self.bins))

    def h(self, subset, m):  # noqa: ARG002
        return at_rows(h_of(self.world, subset, self.bins))

    @property
    def risks(self):
        return self.world.risk.map(lambda risk: lambda rows: risk[locate(self.world, rows)])

    def slope_at(self, rows):
        return self.world.slope[locate(self.world, rows[:, :-1])]

    def phantom_ratio(self, subset):
        world, mass = self.world, self.world.mass.target
        rest = world.codes(np.flatnonzero(self.swapped(subset)[:-1]))
        q_bin = binned(world.risk.source, self.bins)
        groups = world.nuisances.groups(subset, self.bins)

        def ratio(rows):
            """p_1(z_-s | w, z_s, bin) / p_1(z_-s); rows are in the bin they are from."""
            cell = locate(world, rows[:, :-1])
            np.testing.assert_array_equal(q_bin[cell], rows[:, -1])
            conditional = mass[cell] / np.bincount(groups, weights=mass)[groups[cell]]
            return conditional / np.bincount(rest, weights=mass)[rest[cell]]

        return ratio


def true_nuisances(world, bins=BINS):
    design = table_of(world)
    everything = design.rows.map(lambda n: np.zeros(n, dtype=bool))  # no row trains
    owner = np.arange(len(design.columns))
    return TrueNuisances(design, design.features, owner, everything, "fast", 0, bins, world)


@pytest.mark.parametrize("metric", METRICS)
def test_parts_equal_enumeration(metric):
    world = worlds(metric)
    truth, parts = world.corners(), aggregate_parts(true_nuisances(world))
    for name in ("gap", "baseline", "covariate", "outcome"):
        assert getattr(parts, name).value == pytest.approx(getattr(truth, name), **EXACT)
        assert getattr(parts, name).plugin == pytest.approx(getattr(truth, name), **EXACT)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("subset", SUBSETS)
def test_values_equal_enumeration(metric, subset):
    world = worlds(metric)
    n = true_nuisances(world)
    covariate = SubsetValue(covariate_numerator(n, subset), covariate_numerator(n, ()))
    outcome = SubsetValue(outcome_numerator(n, subset), outcome_denominator(n))
    for found, truth in (
        (covariate, world.covariate_truth(subset)),
        (outcome, world.outcome_truth(subset, BINS)),
    ):
        assert found.numerator.value == pytest.approx(truth.numerator, **EXACT)
        assert found.numerator.plugin == pytest.approx(truth.numerator, **EXACT)
        assert found.denominator.value == pytest.approx(truth.denominator, **EXACT)
        assert found.value.value == pytest.approx(truth.value, **EXACT)
        assert found.value.plugin == pytest.approx(truth.value, **EXACT)


def test_without_baseline_values_equal_enumeration():
    world = finite.random_world(5, w_levels=1, z_levels=(3, 2), metric="brier")
    n = true_nuisances(world)
    assert aggregate_parts(n).baseline.value == pytest.approx(0, abs=1e-12)
    for subset in all_subsets(2):
        truth = world.covariate_truth(subset)
        assert covariate_numerator(n, subset).value == pytest.approx(truth.numerator, **EXACT)


def v_statistic_contributions(world, subset, n_draws=0, seed=0):
    """Third and fourth line of eq. (4), row by row, without the factor 2."""
    n = replace(true_nuisances(world), seed=seed)
    m = n.m(subset).target
    average = v_statistic(n, subset, m, n_draws, distinct=False)
    return average * (n.design.outcome.target - m)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("subset", PROPER)
def test_the_exact_v_statistic_is_the_identity_row_by_row(metric, subset):
    world = worlds(metric)
    n = true_nuisances(world)
    m = n.m(subset)
    identity = n.h(subset, m).target * (n.design.outcome.target - m.target)
    pairs = v_statistic_contributions(world, subset)
    np.testing.assert_allclose(pairs, identity, rtol=0, atol=1e-10)


@pytest.mark.parametrize("metric", ["accuracy", "brier"])
@pytest.mark.parametrize("subset", [(), (1,), (0, 2)])
def test_2000_draws_are_within_four_standard_errors(metric, subset):
    world = worlds(metric)
    weights = table_of(world).weights.target
    exact = weights @ v_statistic_contributions(world, subset)
    repeats = [
        weights @ v_statistic_contributions(world, subset, n_draws=2000, seed=seed)
        for seed in range(12)
    ]
    spread = np.std(repeats, ddof=1)
    assert spread > 0
    assert np.abs(np.array(repeats) - exact).max() <= 4 * spread


def test_no_row_is_recombined_with_itself(monkeypatch):
    """Of two rows, each has only the other to be recombined with."""
    world = finite.random_world(2, z_levels=(2, 2), metric="brier")
    n = true_nuisances(world, bins=1)  # all rows in two bins
    pair = np.flatnonzero(n.q_bin.target == 1)[[0, -1]]
    trains = np.ones(n.design.rows.target, dtype=bool)
    trains[pair] = False
    design = replace(n.design, weights=None)
    n = replace(n, design=design, training=ByDomain(n.training.source, trains))
    monkeypatch.setattr(TrueNuisances, "phantom_ratio", lambda *_: lambda rows: np.ones(len(rows)))
    m, rows = n.m(()).target, n.binned_rows[pair]
    phantom = np.where(n.swapped(()), rows[::-1], rows)
    xi = n.slope_at(phantom) ** 2 * (n.risks.target(phantom[:, :-1]) - m[pair])
    xi[binned(n.risks.source(phantom[:, :-1]), 1) != 1] = 0
    np.testing.assert_allclose(v_statistic(n, (), m, 0), xi)


@pytest.mark.parametrize("players", [1, 2, 4, 6])
def test_shares_tend_to_shapleys_as_subsets_are_drawn(players):
    """Exactly right where the game is additive; else within its own sampling error."""
    rng = np.random.default_rng(players)
    n = true_nuisances(worlds("brier"))
    zero = n.design.loss.map(np.zeros_like)
    power = rng.uniform(0.2, 1, players)

    def constant(value):
        return n.average(source=zero.source + value, target=zero.target)

    def concave(subset):
        return float(np.sqrt(power[list(subset)].sum())) if subset else 0.0

    subsets = draw_subsets(players, 500)
    assert sum(subsets.values()) == (502 if players > 1 else 2)
    for value in (lambda s: 0.3 + float(power[list(s)].sum()), concave):
        base, *phi = shapley_shares(subsets, [constant(value(s)) for s in subsets], players)
        truth = shares(value, players)
        assert base.value == pytest.approx(value(()), abs=1e-12)
        total = sum(share.value for share in phi)
        assert total == pytest.approx(value(tuple(range(players))) - value(()), abs=1e-12)
        for share, true in zip(phi, truth, strict=True):
            assert abs(share.value - true) <= 4 * share.standard_error + 1e-10
    assert all(share.sampling_error == pytest.approx(share.standard_error) for share in phi)


def test_binning_rounds_to_the_nearest_bin():
    risk = np.array([0.0, 0.024, 0.026, 0.5, 0.99])
    np.testing.assert_allclose(binned(risk, 20), [0, 0, 0.05, 0.5, 1])
