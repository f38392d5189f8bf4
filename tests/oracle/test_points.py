"""Psi(S): equal to enumeration, orthogonal, its influence function right, its points exact sums."""

import itertools

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
from oracle_inputs import Oracle, group_noise

from experiments.worlds import finite
from experiments.worlds.atoms_answers import AtomsAnswers
from experiments.worlds.exact import table_of
from whygap.estimate.combine import linear_map

COLUMN_SETS = [s for k in range(5) for s in itertools.combinations(range(4), k)]
pytestmark = [pytest.mark.parametrize("metric", METRICS), pytest.mark.parametrize("seed", SEEDS)]


def test_equals_enumeration(metric, seed):
    world = culprit_world(metric, seed)
    for columns in COLUMN_SETS:
        estimate = CulpritOracle(world).transported_mean(columns)
        truth = AtomsAnswers(world).transported_mean(columns)
        assert estimate.value == pytest.approx(truth, rel=0, abs=1e-10)
        assert estimate.plugin == pytest.approx(truth, rel=0, abs=1e-10)


def test_enumeration_by_nested_sums(metric, seed):
    """Psi({W, Z2}) as a plain double loop over cells, nothing shared with `AtomsAnswers`."""
    world = culprit_world(metric, seed)
    cells = np.unique(world.features[:, [0, 2]], axis=0)
    total = 0.0
    for cell in cells:
        here = (world.features[:, [0, 2]] == cell).all(axis=1)
        source = world.mass.source[here]
        mean = world.intercept[here] + world.slope[here] * world.risk.source[here]
        total += world.mass.target[here].sum() * (source @ mean) / source.sum()
    assert AtomsAnswers(world).transported_mean((0, 2)) == pytest.approx(total, abs=1e-12)


@pytest.mark.parametrize("name", ["mu_s", "pi_s"])
def test_orthogonal(metric, seed, name):
    world, rng = culprit_world(metric, seed), np.random.default_rng(0)
    for columns in COLUMN_SETS:
        noise = group_noise(world, world.codes(columns), rng)
        slope = slope_at_zero(world, name, noise, lambda o, c=columns: o.transported_mean(c))
        assert abs(slope) < 1e-9


def test_the_plug_in_is_not_orthogonal(metric, seed):
    """The check has teeth: the mean of mu_S alone moves one for one."""
    world = culprit_world(metric, seed)
    moved = [
        CulpritOracle(world, {"mu_s": np.full(len(world.prediction), h)}).transported_mean((0,))
        for h in (0.1, -0.1)
    ]
    assert moved[0].value - moved[1].value == pytest.approx(0, abs=1e-12)
    assert moved[0].plugin - moved[1].plugin == pytest.approx(0.2, abs=1e-12)


@pytest.mark.parametrize("domain", ["source", "target"])
def test_influence(metric, seed, domain):
    world = culprit_world(metric, seed)
    for columns in COLUMN_SETS[::3]:
        check_influence(
            CulpritOracle(world).transported_mean(columns),
            lambda w, c=columns: AtomsAnswers(w).transported_mean(c),
            world,
            domain,
        )


def test_ends_are_the_corners(metric, seed):
    """Psi(empty), Psi(W), Psi(W and Z): the same numbers and influence values as the corners."""
    world = culprit_world(metric, seed)
    corners = Oracle(world).aggregate()
    for corner, columns in (("000", ()), ("100", (0, 1)), ("110", (0, 1, 2, 3))):
        estimate = CulpritOracle(world).transported_mean(columns)
        assert estimate.value == pytest.approx(corners[corner].value, rel=0, abs=1e-12)
        assert estimate.influence.source == pytest.approx(corners[corner].influence.source)
        assert estimate.influence.target == pytest.approx(corners[corner].influence.target)


def test_points_add_up_to_the_parts(metric, seed):
    world = culprit_world(metric, seed)
    truth, corners = AtomsAnswers(world).points(), world.corners()
    assert tuple(truth.baseline) == ("W", "Z1")
    assert tuple(truth.covariate) == ("Z2", "Z3")
    assert sum(truth.baseline.values()) == pytest.approx(corners.baseline, rel=0, abs=1e-12)
    assert sum(truth.covariate.values()) == pytest.approx(corners.covariate, rel=0, abs=1e-12)


def test_estimated_points_equal_enumeration_and_add_up(metric, seed):
    world = culprit_world(metric, seed)
    oracle = CulpritOracle(world, sample=table_of(world).sample())
    truth = AtomsAnswers(world).points()
    for base, players, expected in (
        ((), (0, 1), truth.baseline),
        ((0, 1), (2, 3), truth.covariate),
    ):
        sets = [(), (players[0],), (players[1],), players]
        values = [oracle.transported_mean((*base, *s)) for s in sets]
        # Shapley for two players: the mean of what each adds first and second.
        matrix = np.array([[-0.5, 0.5, -0.5, 0.5], [-0.5, -0.5, 0.5, 0.5]])
        shares = linear_map(matrix, values)
        assert [s.value for s in shares] == pytest.approx(list(expected.values()), abs=1e-10)
        part, total = values[-1] - values[0], shares[0] + shares[1]
        assert total.value == pytest.approx(part.value, rel=0, abs=1e-12)
        assert total.standard_error == pytest.approx(part.standard_error, abs=1e-12)


def test_without_baseline_there_is_no_baseline_game(metric, seed):
    world = finite.random_world(seed, w_levels=1, z_levels=(3, 2), metric=metric)
    truth = AtomsAnswers(world).points()
    assert truth.baseline == {}
    assert sum(truth.covariate.values()) == pytest.approx(world.corners().covariate, abs=1e-12)
