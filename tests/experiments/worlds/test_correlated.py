"""Truths of the correlated world against simulated rows and exact sums.

Simulated means have the truth as their expectation and must lie within 4.5 standard errors of it.
"""

import numpy as np
import pytest

from experiments.worlds import correlated_gains, correlated_truth
from experiments.worlds.answers import Above
from experiments.worlds.by_name import make_world
from experiments.worlds.correlated import BASELINE, LAWS, NAMES, RISKS, CorrelatedWorld
from experiments.worlds.correlated_truth import CorrelatedAnswers, irreducible
from whygap.domains import DOMAINS, ByDomain
from whygap.errors import InputError
from whygap.tables.design import Player

ROWS = 100_000
EVERYTHING = tuple(range(len(NAMES)))


def agree(rows, truth):
    assert abs(rows.mean() - truth) < 4.5 * rows.std() / np.sqrt(len(rows))


@pytest.fixture(scope="module", params=["accuracy", "brier"])
def drawn(request):
    world = make_world("correlated", request.param, {})
    return world, world.draw(ByDomain(ROWS, ROWS), np.random.default_rng(0))


@pytest.fixture(scope="module")
def rows():
    world, rng = CorrelatedWorld(), np.random.default_rng(1)
    return ByDomain(*(world.draw_features(domain, ROWS, rng) for domain in DOMAINS))


def test_a_design_of_two_baseline_columns_and_ten_players(drawn):
    world, design = drawn
    assert design.baseline == BASELINE
    assert design.players[0] == Player("Z1", (2,))
    assert tuple(player.name for player in design.players) == world.players
    assert len(world.players) == 10


def test_overlap_is_fair(rows):
    """E_0[pi^2] is about 4.6: a fifth of the source rows count."""
    pi = CorrelatedWorld().ratio(rows.source, EVERYTHING)
    agree(pi, 1.0)
    assert 3.8 < (pi**2).mean() < 5.5


def test_corners(drawn):
    world, design = drawn
    truth = world.corners()
    agree(design.loss.source, truth.mean_000)
    agree(design.loss.target, truth.mean_111)
    assert min(abs(truth.baseline), abs(truth.covariate), abs(truth.outcome)) > 0.002


@pytest.mark.parametrize("columns", [(), (0,), (1,), BASELINE, (2,), (2, 7), (0, 3, 9), EVERYTHING])
def test_transported_means_are_means_of_reweighted_source_rows(drawn, columns):
    world, design = drawn
    weights = world.ratio(design.features.source, columns)
    agree(weights * design.loss.source, CorrelatedAnswers(world).transported_mean(columns))


@pytest.mark.parametrize("metric", ["accuracy", "brier"])
def test_points_add_up_to_the_parts(metric):
    world = CorrelatedWorld(metric=metric)
    points, corners = CorrelatedAnswers(world).points(), world.corners()
    assert sum(points.baseline.values()) == pytest.approx(corners.baseline, abs=1e-12)
    assert sum(points.covariate.values()) == pytest.approx(corners.covariate, abs=1e-12)
    assert tuple(points.covariate) == world.players


@pytest.mark.parametrize(
    "group", [Above(0.5), Above(0.3), Above(0.4, 0), Above(0.0, 2), Above(1.0, 7), Above(0.5, 9)]
)
def test_groups_against_rows(drawn, group):
    world, design = drawn
    x, slope = design.features.target, design.slope.target
    inside = group.mask(x, design.prediction.target)
    truth = CorrelatedAnswers(world).group(group)
    agree(inside * slope * (world.risk("target", x) - world.risk("source", x)), truth.contribution)
    agree(inside.astype(float), truth.target_share)


@pytest.mark.parametrize("column", [None, 2, 5])
def test_a_group_of_everybody_is_the_outcome_part(column):
    world = CorrelatedWorld()
    everybody = Above(1e-9 if column is None else -40.0, column)
    found = CorrelatedAnswers(world).group(everybody)
    assert found.contribution == pytest.approx(world.corners().outcome, abs=1e-7)
    assert found.target_share == pytest.approx(1, abs=1e-12)


def same_score_rows(domain, x, columns, rng):
    """Other rows with the same score and columns: fresh ones, moved onto what is known."""
    cov = LAWS[domain].cov
    known = np.stack([RISKS.source.slopes, *np.eye(len(NAMES))[list(columns)]])
    fresh = CorrelatedWorld().draw_features(domain, len(x), rng)
    pull = np.linalg.solve(known @ cov @ known.T, known @ cov)
    return fresh + (x - fresh) @ known.T @ pull


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("columns", [(), (2,), (7,), (2, 9), (0, 3, 10)])
def test_gains_against_rows(domain, columns, rows):
    world, x = CorrelatedWorld(), rows[domain]
    other = same_score_rows(domain, x, columns, np.random.default_rng(2))
    assert world.model(other) == pytest.approx(world.model(x))
    f = world.model(x)
    product = (world.risk(domain, x) - f) * (world.risk(domain, other) - f)
    agree(product, CorrelatedAnswers(world).gain(domain, columns))


def test_kept_budgets_add_up_to_the_squared_error():
    world = CorrelatedWorld(metric="brier")
    truth, corners = CorrelatedAnswers(world).recoverable(), world.corners()
    for budget, before in ((truth.here, corners.mean_111), (truth.at_home, corners.mean_000)):
        assert tuple(budget.variables) == NAMES
        assert budget.total + budget.irreducible == pytest.approx(before, abs=1e-5)
        assert min(budget.variables.values()) > 0


def test_kept_gains_are_those_of_the_world():
    """To their own error: axes of alike spread are turned otherwise by other processors."""
    for domain, kept in zip(DOMAINS, correlated_gains.kept(), strict=True):
        near = 5 * kept.errors["(recalibration)"]
        assert kept.recalibration == pytest.approx(correlated_gains.gain(domain, ()), abs=near)


@pytest.mark.parametrize("domain", DOMAINS)
def test_conditional_means_have_the_gains(domain, rows):
    world, x = CorrelatedWorld(), rows[domain][:5000]
    for columns in ((), (2, 9), (0, 3, 7)):
        m_s = correlated_gains.conditional_mean(domain, columns, x)
        agree((m_s - world.model(x)) ** 2, correlated_gains.gain(domain, columns))
        agree(m_s - world.risk(domain, x), 0.0)
    m_all = correlated_gains.conditional_mean(domain, EVERYTHING, x)
    assert m_all == pytest.approx(world.risk(domain, x), abs=1e-10)


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_truths_own_error_is_small(domain, rows):
    """Below a twentieth of the standard errors that true nuisances give at 8,000 rows."""
    rng, x = np.random.default_rng(3), rows[domain][:500]
    y = (rng.random(len(x)) < CorrelatedWorld().risk(domain, x)).astype(float)
    recalibrated = (y - correlated_gains.conditional_mean(domain, (), x)) ** 2
    each = {"(recalibration)": (y - CorrelatedWorld().model(x)) ** 2 - recalibrated}
    each |= {name: np.zeros(len(x)) for name in NAMES}
    walks = [rng.permutation(len(NAMES)) for _ in range(10)]
    for walk in walks:
        before = recalibrated
        for size in range(1, len(NAMES) + 1):
            columns = tuple(sorted(walk[:size].tolist()))
            after = (y - correlated_gains.conditional_mean(domain, columns, x)) ** 2
            each[NAMES[walk[size - 1]]] += (before - after) / len(walks)
            before = after
    for name, error in correlated_gains.kept()[domain].errors.items():
        assert error < 0.05 * each[name].std() / np.sqrt(8000), name


@pytest.mark.slow
@pytest.mark.parametrize("domain", DOMAINS)
def test_kept_gains_can_be_made_again(domain):
    made, kept = correlated_gains.compute(domain), correlated_gains.kept()[domain]
    for name, value in made.variables.items():
        assert value == pytest.approx(kept.variables[name], abs=5 * kept.errors[name])


def test_on_the_targets_mix(rows):
    world, x = CorrelatedWorld(), rows.target
    p_0, truth = world.risk("source", x), CorrelatedAnswers(world).recoverable()
    agree((world.model(x) - p_0) ** 2, truth.on_target_mix)
    agree(p_0 * (1 - p_0), truth.irreducible_on_target_mix)


@pytest.mark.parametrize("domain", DOMAINS)
def test_irreducible(domain, rows):
    p = CorrelatedWorld().risk(domain, rows[domain])
    agree(p * (1 - p), irreducible(domain))


def test_covariate_values_have_their_ends():
    world = CorrelatedWorld(metric="brier")
    assert world.covariate_truth(()).value == pytest.approx(0, abs=1e-12)
    assert world.covariate_truth(tuple(range(10))).value == pytest.approx(1, abs=1e-12)
    assert 0 < world.covariate_truth((5,)).value < 1


def test_mean_change_given_w_averages_to_the_covariate_part():
    world = CorrelatedWorld(metric="brier")
    law = LAWS.target
    weights = correlated_truth._w_rule()[1]
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    nodes = correlated_truth._w_rule()[0]
    assert weights @ nodes == pytest.approx(law.mean[list(BASELINE)], abs=1e-12)
    change = correlated_truth._mean_given_w(world, tuple(range(2, 12))) - (
        correlated_truth._mean_given_w(world, ())
    )
    assert weights @ change == pytest.approx(world.corners().covariate, abs=1e-8)
    assert weights @ change**2 == pytest.approx(world.covariate_truth(()).denominator, abs=1e-12)


def test_there_are_no_outcome_values():
    with pytest.raises(InputError, match="no outcome values"):
        CorrelatedWorld().outcome_truth((0,))
