"""Few effective rows or clusters: normal intervals fall short, Student's hold."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from whygap.domains import ByDomain
from whygap.estimate import Estimate, Sample
from whygap.estimate.combine import joint_covariance
from whygap.results import Points
from whygap.shapley import max_t_quantile

REPLICATES = 6000
LEVEL = 0.9
# 99% binomial band around the level.
BAND = stats.binom.ppf([0.005, 0.995], REPLICATES, LEVEL) / REPLICATES
SHIFT = 1.25  # of a normal covariate: 250 source rows count as about 60 in the target


def ratio_at(x: np.ndarray) -> np.ndarray:
    """Density of N(SHIFT, 1) over that of N(0, 1)."""
    return np.exp(SHIFT * x - SHIFT**2 / 2)


def weighted_rows(rng: np.random.Generator) -> Estimate:
    """A part of the gap: target residuals less reweighted source residuals; truth 0.

    The metric is 1 for four rows of five, whatever the covariate.
    """
    sizes = ByDomain(250, 500)
    residual = sizes.map(lambda n: (rng.random(n) < 0.8) - 0.8)
    pi = ratio_at(rng.normal(size=sizes.source))
    return Estimate.from_contributions(
        Sample.of(sizes), source=-pi * residual.source, target=residual.target
    )


def few_clusters(rng: np.random.Generator) -> Estimate:
    """Eight hospitals of 20 rows in the source, rows alone in the target; truth 0."""
    clusters = ByDomain(np.repeat(np.arange(8), 20), np.arange(400))
    values = rng.normal(size=8)[clusters.source] + rng.normal(size=160)
    sample = Sample.of(clusters.map(len), clusters=clusters)
    return Estimate.from_contributions(sample, source=values, target=rng.normal(size=400))


@pytest.mark.parametrize("draw", [weighted_rows, few_clusters])
def test_students_intervals_hold_where_normal_ones_fall_short(
    draw: Callable[[np.random.Generator], Estimate],
) -> None:
    found = [draw(np.random.default_rng([7, k])) for k in range(REPLICATES)]
    z = stats.norm.ppf(0.5 + LEVEL / 2)
    normal = np.mean([abs(e.value) <= z * e.standard_error for e in found])
    student = np.mean([low <= 0 <= high for low, high in (e.interval(LEVEL) for e in found)])
    assert normal < BAND[0]
    assert BAND[0] <= student <= BAND[1]


def test_the_rows_are_about_sixty_effective_ones() -> None:
    rng = np.random.default_rng(7)
    weights = [ratio_at(rng.normal(size=250)) for _ in range(200)]
    assert 55 < np.mean([w.sum() ** 2 / (w**2).sum() for w in weights]) < 75


def test_all_at_once_hold_with_ten_clusters() -> None:
    """Six correlated numbers, all 0: simultaneous intervals, and who may be first."""
    replicates, names = 400, "abcdef"
    low, high = stats.binom.ppf([0.005, 0.995], replicates, LEVEL) / replicates
    loading = np.random.default_rng(5).normal(size=(6, 6))
    normal = student = first = 0
    for k in range(replicates):
        values = np.random.default_rng([3, k]).normal(size=(10, 6)) @ loading.T
        sample = Sample.of(ByDomain(10, 50))
        made = {
            name: Estimate.from_contributions(sample, source=column, target=np.zeros(50))
            for name, column in zip(names, values.T, strict=True)
        }
        joint = Points(made, joint_covariance(list(made.values())))
        critical = max_t_quantile(joint.covariance, LEVEL)
        normal += all(abs(e.value) <= critical * e.standard_error for e in made.values())
        student += all(a <= 0 <= b for a, b in joint.simultaneous(LEVEL).values())
        first += "a" in joint.first(LEVEL)
    assert normal / replicates < low
    assert low <= student / replicates <= high
    assert low <= first / replicates <= high
