"""Points, groups and budgets of the Gaussian world against simulated rows and exact sums.

Simulations use two million rows of means whose expectation is the truth itself; they must agree
within 4.5 standard errors (which are 2e-5 to 2e-4). Identities hold to 1e-8.
"""

from dataclasses import replace

import numpy as np
import pytest

from experiments.worlds.answers import Above
from experiments.worlds.clustered import ClusteredWorld
from experiments.worlds.gaussian import GaussianWorld
from experiments.worlds.gaussian_answers import GaussianAnswers
from experiments.worlds.gaussian_truth import rest_of

ROWS = 2_000_000
SHIFTED_W = replace(
    GaussianWorld(metric="brier"),
    means=GaussianWorld().means.map(lambda m: (0.5 + m[1] / 4, *m[1:])),
)
COLUMN_SETS = [(), (0,), (1,), (3,), (0, 1), (1, 2), (0, 3), (1, 2, 3)]


def agree(rows, truth):
    assert abs(rows.mean() - truth) < 4.5 * rows.std() / np.sqrt(len(rows))


@pytest.fixture(scope="module")
def target_rows():
    return GaussianWorld().draw_features("target", ROWS, np.random.default_rng(1))


def losses(world, x, risk):
    intercept, slope = world.loss.coefficients(world.logit("source", x))
    return intercept + slope * risk


@pytest.mark.parametrize("metric", ["accuracy", "brier"])
@pytest.mark.parametrize("columns", [(0,), (1,), (0, 2), (1, 3)])
def test_transported_means_against_rows(metric, columns):
    """X_S from the target, the rest from the source: columns are independent."""
    world = replace(SHIFTED_W, metric=metric)
    rng = np.random.default_rng(2)
    x = world.draw_features("source", ROWS, rng)
    means = world.means
    for j in columns:
        x[:, j] += means.target[j] - means.source[j]
    agree(
        losses(world, x, world.risk("source", x)), GaussianAnswers(world).transported_mean(columns)
    )


@pytest.mark.parametrize("metric", ["accuracy", "brier", "log_loss"])
def test_points_add_up_to_the_parts(metric):
    world = replace(SHIFTED_W, metric=metric)
    points, corners = GaussianAnswers(world).points(), world.corners()
    assert corners.baseline != 0
    assert sum(points.baseline.values()) == pytest.approx(corners.baseline, abs=1e-12)
    assert sum(points.covariate.values()) == pytest.approx(corners.covariate, abs=1e-12)
    assert tuple(points.covariate) == world.players


def test_points_of_the_papers_world():
    points = GaussianAnswers(GaussianWorld()).points()
    expected = {"Z1": -0.040531, "Z2": -0.006006, "Z3": -0.067541}
    assert points.covariate == pytest.approx(expected, abs=1e-6)
    assert points.baseline == {"W": 0.0}


GROUPS = [Above(0.5), Above(0.2), Above(0.9), Above(0.0, 0), Above(1.0, 1), Above(-1.5, 3)]


@pytest.mark.parametrize("metric", ["accuracy", "brier"])
@pytest.mark.parametrize("group", GROUPS, ids=str)
def test_groups_against_rows(metric, group, target_rows):
    world, x = GaussianWorld(metric=metric), target_rows
    inside = group.mask(x, world.loss.prediction(world.logit("source", x)))
    slope = world.loss.coefficients(world.logit("source", x))[1]
    change = slope * (world.risk("target", x) - world.risk("source", x))
    truth = GaussianAnswers(world).group(group)
    agree(inside * change, truth.contribution)
    agree(inside.astype(float), truth.target_share)
    assert truth.change == pytest.approx(truth.contribution / truth.target_share)


@pytest.mark.parametrize("metric", ["accuracy", "brier"])
@pytest.mark.parametrize("column", [None, 0, 1, 2, 3])
def test_a_group_of_everybody_is_the_outcome_part(metric, column):
    world = GaussianWorld(metric=metric)
    everybody = Above(1e-12 if column is None else -60.0, column)
    found = GaussianAnswers(world).group(everybody)
    assert found.contribution == pytest.approx(world.corners().outcome, abs=1e-8)
    assert found.target_share == pytest.approx(1, abs=1e-12)


def same_score_rows(world, x, columns, rng):
    """Other rows with the same columns and the same source logit, drawn given these."""
    c = np.array(world.logits.source)
    others = [j for j in range(len(c)) if j not in columns]
    fresh = x.copy()
    fresh[:, others] = world.draw_features("target", len(x), rng)[:, others]
    away = (x - fresh)[:, others] @ c[others]
    fresh[:, others] += away[:, None] * c[others] / (c[others] @ c[others])
    return fresh


@pytest.mark.parametrize("columns", COLUMN_SETS)
def test_gains_against_rows(columns, target_rows):
    """E[(m_s - f)^2] is the mean product over two rows that share the score and the columns."""
    world, x = GaussianWorld(), target_rows
    other = same_score_rows(world, x, columns, np.random.default_rng(3))
    f = world.loss.prediction(world.logit("source", x))
    product = (world.risk("target", x) - f) * (world.risk("target", other) - f)
    agree(product, GaussianAnswers(world).gain("target", columns))


def test_budgets_add_up_to_the_squared_error():
    for world in (GaussianWorld(metric="brier"), SHIFTED_W):
        here = GaussianAnswers(world).recoverable().here
        assert tuple(here.variables) == ("W", "Z1", "Z2", "Z3")
        assert here.total + here.irreducible == pytest.approx(world.corners().mean_111, abs=1e-8)


def test_the_model_is_the_source_risk_so_home_has_nothing_to_win():
    truth = GaussianAnswers(GaussianWorld()).recoverable()
    assert truth.at_home.total == pytest.approx(0, abs=1e-12)
    assert truth.on_target_mix == pytest.approx(0, abs=1e-12)
    assert truth.irreducible_on_target_mix == pytest.approx(
        GaussianWorld(metric="brier").corners().mean_110, abs=1e-8
    )
    assert truth.at_home.irreducible == pytest.approx(
        GaussianWorld(metric="brier").corners().mean_000, abs=1e-8
    )


def test_a_random_effect_leaves_a_recalibration_at_home():
    """Averaged over the effect the risk is flatter than the model: a function of the score."""
    world = ClusteredWorld(metric="brier").marginal
    truth = GaussianAnswers(world).recoverable()
    assert truth.at_home.recalibration > 0.002
    assert sum(truth.at_home.variables.values()) == pytest.approx(0, abs=1e-12)
    corners = world.corners()
    at_home, here = truth.at_home, truth.here
    assert at_home.total + at_home.irreducible == pytest.approx(corners.mean_000, abs=1e-8)
    assert here.total + here.irreducible == pytest.approx(corners.mean_111, abs=1e-8)


def test_three_columns_and_the_score_tell_the_fourth():
    """Two columns leave one direction open."""
    answers = GaussianAnswers(GaussianWorld())
    everything = answers.gain("target", (0, 1, 2, 3))
    assert answers.gain("target", (1, 2, 3)) == pytest.approx(everything, abs=1e-12)
    assert rest_of(GaussianWorld(), "target", (0, 1, 2)).sd_u_given_t == 0
    assert answers.gain("target", (0, 1)) < everything - 1e-4
