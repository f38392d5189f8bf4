"""The latent world: its truths are what many rows show, and they add up."""

import numpy as np
import pytest
from scipy import linalg, stats
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.preprocessing import PolynomialFeatures

from experiments.worlds.answers import Above
from experiments.worlds.by_name import answers_of, make_world
from experiments.worlds.latent import COEFFICIENTS, CUTS, LAWS, MODEL, NAMES, Law, moved
from experiments.worlds.latent_reversed import _given, _log_between
from whygap._metrics.pairs import pair_means
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


@pytest.mark.parametrize(("mean", "ends"), [(-40.0, (2.0, np.inf)), (40.0, (-3.0, -2.0))])
def test_classes_that_hardly_occur_keep_their_probabilities(mean, ends):
    far = float(_log_between(np.array(ends), np.array([mean]), 1.5)[0])
    near, beyond = sorted(abs(end - mean) / 1.5 for end in ends)
    wanted = stats.norm.logsf(near) + np.log1p(
        -np.exp(stats.norm.logsf(beyond) - stats.norm.logsf(near))
    )
    assert far == pytest.approx(wanted, rel=1e-12)


def test_rows_far_out_in_the_source_do_not_spoil_a_truth(monkeypatch):
    """Source probabilities of classes, taken as differences of numbers near 1, would be noise."""
    risks = ByDomain(np.array([0.5, -0.2, 0.6, 0.5, -0.4]), np.array([0.5, -0.2, 0.2, 0.5, -0.7]))
    means, spreads = np.array([0.2, 0.3, 0.0, 0.5, 0.2]), np.array([1.1, 0.9, 0.85, 1.1, 1.25])
    model, alike = np.array([0.5, -0.2, 0.6, 0.3, -0.6]), linalg.toeplitz((-0.3) ** np.arange(5))
    laws = ByDomain(Law(0 * means, alike), Law(means, np.outer(spreads, spreads) * alike))
    for name, value in {"COEFFICIENTS": risks, "LAWS": laws, "MODEL": model}.items():
        monkeypatch.setattr(f"experiments.worlds.latent_answers.{name}", value)
        monkeypatch.setattr(f"experiments.worlds.latent_reversed.{name}", value)
    world = make_world("latent", "log_loss", {"task": "multiclass", "order": "outcome first"})
    answers, v, rows = answers_of(world), [0, 1, 2, 3], 400_000
    law, rng = moved(v, laws), np.random.default_rng(0)
    x = rng.multivariate_normal(law.mean, law.cov, rows)
    outcome = world.outcome(x @ risks.source + rng.standard_normal(rows))
    cuts, code = np.array([-np.inf, *CUTS["multiclass"], np.inf]), outcome.astype(int)
    logs, ends = [], np.stack([cuts[code], cuts[code + 1]])
    for domain in ("source", "target"):
        slopes, intercepts, left = _given(domain, v)
        logs.append(_log_between(ends, x[:, v] @ slopes[1] + intercepts[1], left[1, 1] ** 0.5))
    weight = np.exp(logs[1] - logs[0])
    (loss,) = world.given_metric.per_row(world.shown(x @ model), outcome)
    shown = float(weight @ loss / weight.sum())
    error = float(np.std(weight * (loss - shown)) / rows**0.5)
    assert abs(shown - answers.value(answers.after(v))) < 4 * error
