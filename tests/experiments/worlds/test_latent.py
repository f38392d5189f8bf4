"""The latent world: its truths are what many rows show, and they add up."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.preprocessing import PolynomialFeatures

from experiments.worlds.answers import Above
from experiments.worlds.by_name import answers_of, make_world
from experiments.worlds.latent import COEFFICIENTS, LAWS, MODEL, NAMES, moved
from whygap._metrics import pair_means
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


@pytest.mark.parametrize(("task", "metric"), [("binary", "auc"), ("multiclass", "log_loss")])
def test_with_the_outcome_first_the_corner_is_what_reweighted_rows_show(task, metric):
    world = make_world("latent", metric, {"task": task, "order": "outcome first"})
    answers, corners, v, rows = answers_of(world), world.corners(), [0, 1], 200_000
    law, rng = moved(v), np.random.default_rng(0)
    x = rng.multivariate_normal(law.mean, law.cov, rows)
    outcome = world.outcome(x @ COEFFICIENTS.source + rng.standard_normal(rows))
    # P_d(class | W), learnt from rows of each domain rather than from their law
    weight = _class_given(v, "target", x, outcome, world) / _class_given(
        v, "source", x, outcome, world
    )
    terms = world.given_metric.per_row(world.shown(x @ MODEL), outcome)
    mass = weight / weight.sum()
    means = pair_means(terms, mass) if world.given_metric.pairs else terms @ mass
    assert float(world.given_metric.of(means)) == pytest.approx(corners.mean_110, abs=0.006)
    points = answers.points()
    assert sum(points.baseline.values()) == pytest.approx(corners.baseline, abs=1e-10)
    assert sum(points.covariate.values()) == pytest.approx(corners.covariate, abs=1e-10)
    assert corners.baseline + corners.outcome + corners.covariate == pytest.approx(corners.gap)


def _class_given(v, domain, x, outcome, world):
    rng = np.random.default_rng(1)
    seen = rng.multivariate_normal(LAWS[domain].mean, LAWS[domain].cov, 200_000)
    label = world.outcome(seen @ COEFFICIENTS[domain] + rng.standard_normal(200_000))
    model = LogisticRegression().fit(PolynomialFeatures(3).fit_transform(seen[:, v]), label)
    risks = model.predict_proba(PolynomialFeatures(3).fit_transform(x[:, v]))
    return risks[np.arange(len(x)), outcome.astype(int)]


def test_a_real_outcome_first_is_what_a_regression_in_the_source_shows():
    world = make_world("latent", "mse", {"task": "regression", "order": "outcome first"})
    rows, rng = 400_000, np.random.default_rng(0)
    design = world.draw(ByDomain(rows, rows), rng)
    both = (design.features, design.outcome)
    given = [np.column_stack([x[:, [0, 1]], y]) for x, y in zip(*both, strict=True)]
    loss = (design.outcome.source - design.prediction.source) ** 2
    model = LinearRegression().fit(PolynomialFeatures(2).fit_transform(given[0]), loss)
    shown = model.predict(PolynomialFeatures(2).fit_transform(given[1])).mean()
    assert shown == pytest.approx(world.corners().mean_110, abs=0.01)
