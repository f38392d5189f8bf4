"""C(g): equal to enumeration, orthogonal, its influence function right, its groups exact sums."""

from dataclasses import replace

import numpy as np
import pytest
from culprit_inputs import (
    METRICS,
    SEEDS,
    CulpritOracle,
    check_influence,
    culprit_world,
    slope_at_zero,
)
from oracle_inputs import Oracle

from experiments.worlds.answers import Above
from experiments.worlds.atoms_answers import AtomsAnswers
from experiments.worlds.exact import table_of
from whygap.equations import corners
from whygap.errors import ResultError

pytestmark = [pytest.mark.parametrize("metric", METRICS), pytest.mark.parametrize("seed", SEEDS)]


def masks(world):
    """Levels of every column, of the prediction, and a rule of two conditions."""
    columns = [*world.features.T, world.prediction]
    by_column = [[column == level for level in np.unique(column)] for column in columns]
    rule = (world.features[:, 2] > 0) & (world.prediction > 0.5)
    return [*by_column, [rule, ~rule]]


def test_equals_enumeration(metric, seed):
    world = culprit_world(metric, seed)
    oracle = CulpritOracle(world)
    for mask in (m for partition in masks(world) for m in partition):
        truth = AtomsAnswers(world).masked(mask)
        here = np.flatnonzero(mask)
        change = world.slope * (world.risk.target - world.risk.source)
        by_hand = sum(world.mass.target[i] * change[i] for i in here)
        assert truth.contribution == pytest.approx(by_hand, rel=0, abs=1e-12)
        assert oracle.contribution(mask).value == pytest.approx(by_hand, rel=0, abs=1e-10)
        assert oracle.contribution(mask).plugin == pytest.approx(by_hand, rel=0, abs=1e-10)
        assert oracle.mean_change(mask).value == pytest.approx(truth.change, rel=0, abs=1e-10)


def test_groups_above_a_cut(metric, seed):
    world = culprit_world(metric, seed)
    answers = AtomsAnswers(world)
    assert answers.group(Above(0.5)) == answers.masked(world.prediction > 0.5)
    assert answers.group(Above(0.5, column=2)) == answers.masked(world.features[:, 2] > 0.5)


def test_partitions_add_up_to_the_outcome_part(metric, seed):
    """Nuisances need not be true for that: the sums are exact row by row."""
    world, rng = culprit_world(metric, seed), np.random.default_rng(5)
    size, sample = len(world.prediction), table_of(world).sample()
    shifts = {"mu_0_wz": rng.normal(size=size), "pi_wz": rng.normal(size=size)}
    oracle = CulpritOracle(world, shifts, sample)
    part = corners.decompose(Oracle(world, shifts, sample).aggregate()).parts["outcome"]
    for partition in masks(world):
        groups = [oracle.contribution(mask) for mask in partition]
        total = sum(groups[1:], start=groups[0])
        assert total.value == pytest.approx(part.value, rel=0, abs=1e-12)
        assert total.influence.source == pytest.approx(part.influence.source, abs=1e-12)
        assert total.influence.target == pytest.approx(part.influence.target, abs=1e-12)


@pytest.mark.parametrize("name", ["mu_0_wz", "pi_wz"])
def test_orthogonal(metric, seed, name):
    world, rng = culprit_world(metric, seed), np.random.default_rng(0)
    for mask in (m for partition in masks(world) for m in partition):
        noise = rng.normal(size=len(mask))
        for ask in ("contribution", "mean_change"):
            slope = slope_at_zero(world, name, noise, lambda o, a=ask, m=mask: getattr(o, a)(m))
            assert abs(slope) < 1e-9


@pytest.mark.parametrize("domain", ["source", "target"])
def test_influence(metric, seed, domain):
    world = culprit_world(metric, seed)
    oracle = CulpritOracle(world, sample=table_of(world).sample())
    for partition in masks(world):
        mask = partition[0]
        check_influence(
            oracle.contribution(mask),
            lambda w, m=mask: AtomsAnswers(w).masked(m).contribution,
            world,
            domain,
        )
        check_influence(
            oracle.mean_change(mask),
            lambda w, m=mask: AtomsAnswers(w).masked(m).change,
            world,
            domain,
        )


def test_a_group_without_rows_has_no_mean_change(metric, seed):
    world = culprit_world(metric, seed)
    nobody = np.zeros(len(world.prediction), dtype=bool)
    assert CulpritOracle(world).contribution(nobody).value == 0
    assert np.isnan(AtomsAnswers(world).masked(nobody).change)
    with pytest.raises(ResultError, match="denominator is exactly 0"):
        CulpritOracle(world).mean_change(nobody)


def test_equal_risks_hit_nobody(metric, seed):
    world = culprit_world(metric, seed)
    same = replace(world, risk=world.risk.zip(world.risk, lambda *_: world.risk.source))
    for mask in (m for partition in masks(same) for m in partition):
        assert AtomsAnswers(same).masked(mask).contribution == pytest.approx(0, abs=1e-14)
