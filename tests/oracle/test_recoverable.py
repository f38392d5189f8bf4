"""Budgets: equal to enumeration, orthogonal, influence functions right, sums exact."""

import itertools

import numpy as np
import pytest
from culprit_inputs import SEEDS, CulpritOracle, check_influence, culprit_world, slope_at_zero
from oracle_inputs import group_noise

from experiments.worlds.atoms_answers import AtomsAnswers
from whygap.domains import ByDomain
from whygap.equations import recoverable
from whygap.equations.halvings import Plan
from whygap.equations.recoverable import DomainValues
from whygap.estimate import Sample

DOMAINS = ("source", "target")
COLUMN_SETS = [s for k in range(5) for s in itertools.combinations(range(4), k)]
EVERYTHING = (0, 1, 2, 3)
ON_THE_MIX = ("on_target_mix", "irreducible_on_target_mix")
pytestmark = pytest.mark.parametrize("seed", SEEDS)


def world_of(seed):
    """Budgets are in squared error whatever the metric is."""
    return culprit_world("accuracy", seed)


@pytest.mark.parametrize("domain", DOMAINS)
def test_equals_enumeration(seed, domain):
    world = world_of(seed)
    oracle, answers = CulpritOracle(world), AtomsAnswers(world)
    for columns in COLUMN_SETS:
        truth = answers.gain(domain, columns)
        away = (answers.m_s(domain, columns) - world.prediction) ** 2
        assert truth == pytest.approx(world.mean(domain, away), rel=0, abs=1e-12)
        assert oracle.gain(domain, columns).value == pytest.approx(truth, rel=0, abs=1e-10)
        assert oracle.gain(domain, columns).plugin == pytest.approx(truth, rel=0, abs=1e-10)
    p = world.risk[domain]
    least = world.mean(domain, p * (1 - p))
    assert answers.budget(domain).irreducible == pytest.approx(least, rel=0, abs=1e-12)
    assert oracle.irreducible(domain).value == pytest.approx(least, rel=0, abs=1e-10)


def test_recalibration_by_hand(seed):
    """Group the atoms by the model's three scores, nothing shared with `AtomsAnswers`."""
    world = world_of(seed)
    total = 0.0
    for score in np.unique(world.prediction):
        here = world.prediction == score
        mass = world.mass.target[here]
        total += mass.sum() * (score - mass @ world.risk.target[here] / mass.sum()) ** 2
    assert AtomsAnswers(world).recoverable().here.recalibration == pytest.approx(total, abs=1e-12)


@pytest.mark.parametrize("asked", ON_THE_MIX)
def test_on_the_targets_mix(seed, asked):
    world = world_of(seed)
    truth = getattr(AtomsAnswers(world).recoverable(), asked)
    estimate = getattr(CulpritOracle(world), asked)()
    assert estimate.value == pytest.approx(truth, rel=0, abs=1e-10)
    assert estimate.plugin == pytest.approx(truth, rel=0, abs=1e-10)


@pytest.mark.parametrize("domain", DOMAINS)
def test_true_shares_add_up(seed, domain):
    world = world_of(seed)
    answers = AtomsAnswers(world)
    budget = answers.budget(domain)
    assert tuple(budget.variables) == ("W", "Z1", "Z2", "Z3")
    assert budget.recalibration == pytest.approx(answers.gain(domain, ()), abs=1e-14)
    assert budget.total == pytest.approx(answers.gain(domain, EVERYTHING), rel=0, abs=1e-12)
    before = answers.squared_error(domain, world.prediction)
    assert budget.total + budget.irreducible == pytest.approx(before, rel=0, abs=1e-12)
    assert min(budget.variables.values()) > 0


@pytest.mark.parametrize("twin", ["", "_A"])
@pytest.mark.parametrize("domain", DOMAINS)
def test_gain_is_orthogonal(seed, domain, twin):
    world, rng = world_of(seed), np.random.default_rng(0)
    for columns in COLUMN_SETS:
        noise = group_noise(world, AtomsAnswers(world).score_groups(columns), rng)
        slope = slope_at_zero(world, "m_s" + twin, noise, lambda o, c=columns: o.gain(domain, c))
        assert abs(slope) < 1e-9


@pytest.mark.parametrize("twin", ["", "_A"])
def test_the_others_are_orthogonal(seed, twin):
    world, rng = world_of(seed), np.random.default_rng(0)
    noise = rng.normal(size=len(world.prediction))
    for domain in DOMAINS:
        slope = slope_at_zero(world, "p" + twin, noise, lambda o, d=domain: o.irreducible(d))
        assert abs(slope) < 1e-9
    for name, asked in itertools.product(("p_0" + twin, "pi_wz"), ON_THE_MIX):
        slope = slope_at_zero(world, name, noise, lambda o, a=asked: getattr(o, a)())
        assert abs(slope) < 1e-9


def test_the_plug_in_is_not_orthogonal(seed):
    world = world_of(seed)
    noise = group_noise(world, AtomsAnswers(world).score_groups((0,)), np.random.default_rng(0))
    moved = [
        CulpritOracle(world, {"m_s": h * noise}).gain("target", (0,)).plugin for h in (0.1, -0.1)
    ]
    assert abs(moved[0] - moved[1]) / 0.2 > 1e-3


def test_twins_leave_only_the_product_of_errors(seed):
    world, rng = world_of(seed), np.random.default_rng(2)
    codes = AtomsAnswers(world).score_groups((1,))
    one, two = (group_noise(world, codes, rng) for _ in range(2))
    moved = CulpritOracle(world, {"m_s_A": one, "m_s_B": two}).gain("target", (1,)).value
    expected = AtomsAnswers(world).gain("target", (1,)) - world.mean("target", one * two)
    assert moved == pytest.approx(expected, rel=0, abs=1e-12)


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("where", DOMAINS)
def test_influence_of_one_domain(seed, domain, where):
    """Along the other domain both sides are 0."""
    world = world_of(seed)
    oracle = CulpritOracle(world)
    for columns in COLUMN_SETS[::3]:
        check_influence(
            oracle.gain(domain, columns),
            lambda w, c=columns: AtomsAnswers(w).gain(domain, c),
            world,
            where,
        )
    check_influence(
        oracle.irreducible(domain),
        lambda w: w.mean(domain, w.risk[domain] * (1 - w.risk[domain])),
        world,
        where,
    )


@pytest.mark.parametrize("asked", ON_THE_MIX)
@pytest.mark.parametrize("where", DOMAINS)
def test_influence_of_the_targets_mix(seed, where, asked):
    world = world_of(seed)
    check_influence(
        getattr(CulpritOracle(world), asked)(),
        lambda w: getattr(AtomsAnswers(w).recoverable(), asked),
        world,
        where,
    )


def fitted(rng, rows, halvings):
    return rng.random((halvings, 2, rows))


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("binary", [True, False])
def test_gain_and_irreducible_add_up_to_the_squared_error(seed, domain, binary):
    """With any fits, any outcomes, weights, clusters and three halvings: noise of fits included."""
    rng, rows = np.random.default_rng(seed), ByDomain(60, 45)
    sample = Sample.of(
        rows, rows.map(lambda n: rng.random(n) + 0.5), rows.map(lambda n: rng.integers(20, size=n))
    )
    count = rows[domain]
    outcome = rng.integers(2, size=count) * 1.0 if binary else rng.normal(size=count)
    values = DomainValues(
        sample, domain, outcome, rng.random(count), Plan(rows.map(lambda n: np.arange(n) % 5), 0.08)
    )
    twins = fitted(rng, count, 3)
    won, left = recoverable.gain(values, twins), recoverable.irreducible(values, twins)
    before, total = recoverable.squared_error(values), won + left
    assert len(won.influence.fits) == 15
    assert total.value == pytest.approx(before.value, rel=0, abs=1e-12)
    assert total.standard_error == pytest.approx(before.standard_error, abs=1e-12)


def test_only_rows_of_the_domain_count(seed):
    world = world_of(seed)
    estimate = CulpritOracle(world).gain("target", (0,))
    assert not estimate.influence.source.any()
    assert estimate.influence.target.any()
