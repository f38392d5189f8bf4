"""Points, groups and budgets of the untuned world: the lattice against rows and finer lattices."""

import numpy as np
import pytest

from experiments.worlds.answers import Above
from experiments.worlds.by_name import answers_of
from experiments.worlds.untuned import UntunedWorld, null_world
from experiments.worlds.untuned_answers import UntunedAnswers, lattice_atoms
from whygap.domains import DOMAINS, ByDomain

GROUPS = [Above(0.5), Above(0.3), Above(0.5, 0), Above(1.5, 1), Above(0.33, 2), Above(0.1, 3)]


def agree(rows, truth):
    assert abs(rows.mean() - truth) < 4.5 * rows.std() / np.sqrt(len(rows))


@pytest.fixture(scope="module", params=["accuracy", "brier"])
def drawn(request):
    world = UntunedWorld(metric=request.param)
    return world, world.draw(ByDomain(200_000, 200_000), np.random.default_rng(0))


def test_the_lattice_has_the_models_scores():
    world = UntunedWorld()
    atoms = lattice_atoms(world)
    assert atoms.prediction == pytest.approx(world.model(atoms.features), abs=1e-12)
    assert len(np.unique(atoms.prediction)) < 500
    assert len(np.unique(atoms.features[:, 2])) == 2 * len(np.unique(atoms.features[:, 3]))


def test_points_against_reweighted_rows(drawn):
    world, design = drawn
    answers = UntunedAnswers(world)
    everything = answers.transported_mean((0, 1, 2, 3))
    agree(world_ratio(world, design) * design.loss.source, everything)
    points, corners = answers.points(), world.corners()
    assert sum(points.covariate.values()) == pytest.approx(corners.covariate, abs=5e-5)
    assert sum(points.baseline.values()) == pytest.approx(corners.baseline, abs=5e-5)


def world_ratio(world, design):
    """Densities are known up to a constant that both domains share."""
    return world.pi_wz(design.features.source)


@pytest.mark.parametrize("group", GROUPS, ids=str)
def test_groups_against_rows(drawn, group):
    world, design = drawn
    x, slope = design.features.target, design.slope.target
    inside = group.mask(x, design.prediction.target)
    truth = UntunedAnswers(world).group(group)
    agree(inside * slope * (world.risk("target", x) - world.risk("source", x)), truth.contribution)
    agree(inside.astype(float), truth.target_share)


@pytest.mark.parametrize("metric", ["accuracy", "brier"])
def test_a_finer_lattice_says_the_same(metric):
    world = UntunedWorld(metric=metric)
    usual, finer = UntunedAnswers(world), UntunedAnswers(world, steps=3)
    for group in GROUPS:
        found = usual.group(group).contribution
        assert found == pytest.approx(finer.group(group).contribution, abs=5e-5)
    assert usual.points().covariate == pytest.approx(finer.points().covariate, abs=5e-6)
    for domain in DOMAINS:
        for columns in ((), (2,), (1, 3)):
            gain = usual.gain(domain, columns)
            assert gain == pytest.approx(finer.gain(domain, columns), abs=1e-8)


def test_recalibration_against_rows(drawn):
    """Rows in narrow bins of the score: the mean residual squared, less its own noise."""
    world, design = drawn
    x = design.features.target
    f, p = world.model(x), world.risk("target", x)
    order = np.argsort(f)
    residual = (p - f)[order].reshape(2000, -1)
    noise = residual.var(axis=1, ddof=1) / residual.shape[1]
    agree(residual.mean(axis=1) ** 2 - noise, UntunedAnswers(world).gain("target", ()))


def test_budgets_add_up_to_the_squared_error():
    world = UntunedWorld(metric="brier")
    truth, corners = UntunedAnswers(world).recoverable(), world.corners()
    assert truth.here.total + truth.here.irreducible == pytest.approx(corners.mean_111, abs=1e-6)
    assert truth.at_home.total + truth.at_home.irreducible == pytest.approx(
        corners.mean_000, abs=1e-6
    )
    assert tuple(truth.here.variables) == ("W", "Z1", "Z2", "Z3")


def test_identical_domains_have_no_points_and_hit_nobody():
    answers = answers_of(null_world("identical"))
    points = answers.points()
    assert [*points.baseline.values(), *points.covariate.values()] == pytest.approx([0] * 4)
    assert answers.group(Above(0.5)).contribution == pytest.approx(0, abs=1e-14)
    truth = answers.recoverable()
    assert truth.here.variables == pytest.approx(truth.at_home.variables, abs=1e-14)
