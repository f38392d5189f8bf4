"""The latent world: its truths are what many rows show, and they add up."""

import numpy as np
import pytest

from experiments.worlds.answers import Above
from experiments.worlds.by_name import answers_of, make_world
from experiments.worlds.latent import NAMES
from whygap.domains import ByDomain
from whygap.nuisances.walk import plain_values

CASES = [("binary", "auc"), ("binary", "f1"), ("regression", "mae"), ("multiclass", "log_loss")]
each = pytest.mark.parametrize(("task", "metric"), CASES)


@each
def test_the_ends_are_what_many_rows_show(task, metric):
    world = make_world("latent", metric, {"task": task})
    corners = world.corners()
    design = world.draw(ByDomain(100_000, 100_000), np.random.default_rng(0))
    shown = plain_values(design.sample(), design)
    for estimate, truth in ((shown.source, corners.mean_000), (shown.target, corners.mean_111)):
        assert abs(estimate.value - truth) < 4 * estimate.standard_error


@each
def test_points_and_groups_add_up(task, metric):
    world = make_world("latent", metric, {"task": task})
    answers, corners = answers_of(world), world.corners()
    points = answers.points()
    assert tuple(points.baseline) == NAMES[:2]
    assert sum(points.baseline.values()) == pytest.approx(corners.baseline, abs=1e-10)
    assert sum(points.covariate.values()) == pytest.approx(corners.covariate, abs=1e-10)
    everybody = answers.group(Above(-99.0, column=2))
    assert everybody.contribution == pytest.approx(corners.outcome, abs=1e-10)
    assert everybody.target_share == pytest.approx(1.0, abs=1e-10)
