"""Several rows per patient: clustered standard errors against a bootstrap of patients."""

from dataclasses import replace

import numpy as np
import pytest

from experiments.worlds.clustered import ClusteredWorld
from experiments.worlds.gaussian_nuisances import GaussianNuisances
from whygap.domains import ByDomain
from whygap.equations import corners
from whygap.equations.corners import AggregateValues


@pytest.fixture(scope="module")
def drawn():
    world = ClusteredWorld()
    return world, world.draw(ByDomain(3000, 2400), np.random.default_rng(0))


def parts(world, design):
    n, x = GaussianNuisances(world.marginal), design.features
    values = AggregateValues(
        sample=design.sample(),
        loss=design.loss,
        mu_00_w=x.map(n.mu_00_w),
        mu_0_wz=x.map(n.mu_0_wz),
        pi_w=n.pi_w(x.source),
        pi_wz=n.pi_wz(x.source),
    )
    names = ("000", "100", "110", "111")
    return corners.decompose({k: getattr(corners, f"mean_{k}")(values) for k in names})


def bootstrap_errors(world, design, rng, replicates=300):
    """Standard deviations over resampled patients, computed row by row."""
    n, x = GaussianNuisances(world.marginal), design.features
    mu_w, mu_wz = x.map(n.mu_00_w), x.map(n.mu_0_wz)
    rows_w = (design.loss.source - mu_w.source) * n.pi_w(x.source)
    rows_wz = (design.loss.source - mu_wz.source) * n.pi_wz(x.source)
    per_row = ByDomain(
        np.column_stack([design.loss.source, rows_w, rows_wz, np.zeros(len(rows_w))]),
        np.column_stack(
            [np.zeros(len(mu_w.target)), mu_w.target, mu_wz.target, design.loss.target]
        ),
    )
    found = []
    for _ in range(replicates):
        means = sum(_resampled(per_row[d], design.clusters[d], rng) for d in ("source", "target"))
        found.append([means[1] - means[0], means[2] - means[1], means[3] - means[2]])
    return np.std(found, axis=0)


def _resampled(values, clusters, rng):
    clusters = np.unique(clusters, return_inverse=True)[1]
    patients = int(clusters.max()) + 1
    times = np.bincount(rng.integers(patients, size=patients), minlength=patients)[clusters]
    return times @ values / times.sum()


def test_clustered_errors_agree_with_a_bootstrap_of_patients(drawn):
    world, design = drawn
    errors = [e.standard_error for e in parts(world, design).parts.values()]
    expected = bootstrap_errors(world, design, np.random.default_rng(1))
    ratio = np.array(errors) / expected
    assert np.all((ratio > 0.8) & (ratio < 1.25)), ratio


def test_ignoring_patients_understates_the_error(drawn):
    world, design = drawn
    clustered, rows = parts(world, design), parts(world, replace(design, clusters=None))
    assert clustered.total.standard_error > 1.25 * rows.total.standard_error
    assert clustered.total.value == pytest.approx(rows.total.value)


def test_rows_average_to_the_truth(drawn):
    world, design = drawn
    estimates, truth = parts(world, design), world.corners()
    for name, estimate in {"gap": estimates.total, **estimates.parts}.items():
        assert abs(estimate.value - getattr(truth, name)) < 4 * estimate.standard_error


def test_patients_have_several_rows_and_an_effect_of_their_own(drawn):
    _, design = drawn
    sizes = np.bincount(design.clusters.source)
    assert sizes.mean() == pytest.approx(5, abs=0.5)
    assert len(design.clusters.source) == 3000
    x = design.features.source
    mean = np.stack([np.bincount(design.clusters.source, c) / sizes for c in x.T])
    within = x - mean[:, design.clusters.source].T
    assert within.var() / x.var(axis=0).mean() == pytest.approx(0.4 * 0.8, abs=0.06)


def test_details_have_truths():
    world = ClusteredWorld(metric="brier")
    assert 0 < world.outcome_truth((0,)).value < 1
    assert 0 < world.covariate_truth((0,)).value < 1
