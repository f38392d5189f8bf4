"""Many rows: influence values summed into groups, models trained on some of the rows."""

from __future__ import annotations

import numpy as np
import pytest
from small_study import fast, make_study, tables

import whygap as wg
from whygap.domains import ByDomain
from whygap.estimate import Estimate, Sample

ROWS = ByDomain(2003, 1500)
GROUPS = 100


def _estimates(sample: Sample) -> list[Estimate]:
    """Two means that share noise, and their ratio; contributions are skewed."""
    rng = np.random.default_rng(5)
    shared = ROWS.map(lambda n: rng.exponential(size=n))
    one, two = (
        Estimate.from_contributions(
            sample,
            source=shared.source + rng.normal(size=ROWS.source),
            target=shared.target**2 + rng.normal(size=ROWS.target),
        )
        for _ in range(2)
    )
    return [one, two, one / (two + 3)]


def _covariance(sample: Sample) -> np.ndarray:
    influences = [e.influence for e in _estimates(sample)]
    return np.array([[a.covariance(b) for b in influences] for a in influences])


@pytest.fixture(params=["rows", "clusters", "clusters in both tables", "weights"])
def sample(request) -> Sample:
    rng = np.random.default_rng(1)
    match request.param:
        case "clusters":
            source, target = ROWS.map(lambda n: rng.integers(0, 700, n))
            return Sample.of(ROWS, clusters=ByDomain(source, target + 700))
        case "clusters in both tables":
            return Sample.of(ROWS, clusters=ROWS.map(lambda n: rng.integers(0, 700, n)))
        case "weights":
            return Sample.of(ROWS, weights=ROWS.map(lambda n: rng.uniform(0.2, 3, n)))
        case _:
            return Sample.of(ROWS)


def test_covariances_from_random_groups_are_unbiased(sample):
    exact = _covariance(sample)
    found = np.stack(
        [_covariance(sample.grouped(GROUPS, np.random.default_rng(k))) for k in range(300)]
    )
    by_chance = found.std(axis=0) / np.sqrt(len(found))
    assert np.all(np.abs(found.mean(axis=0) - exact) < 4 * by_chance)
    assert np.all(by_chance < 0.02 * np.sqrt(np.outer(np.diag(exact), np.diag(exact))))


def test_groups_change_no_value_and_bound_what_is_kept(sample):
    grouped = sample.grouped(GROUPS, np.random.default_rng(0))
    for before, after in zip(_estimates(sample), _estimates(grouped), strict=True):
        assert before.value == after.value
        assert {len(after.influence.source), len(after.influence.target)} <= {GROUPS, 0}


def test_groups_keep_clusters_together_and_are_as_large_as_each_other():
    clusters = ByDomain(np.arange(ROWS.source) // 3, -1 - np.arange(ROWS.target) // 3)
    grouped = Sample.of(ROWS, clusters=clusters).grouped(GROUPS, np.random.default_rng(0))
    for domain in ("source", "target"):
        pairs = np.unique(np.column_stack([clusters[domain], grouped.units[domain]]), axis=0)
        assert len(pairs) == len(np.unique(clusters[domain]))
        sizes = np.bincount(pairs[:, 1])
        assert sizes.max() - sizes.min() <= 1


def test_few_rows_are_not_grouped(sample):
    assert sample.grouped(max(ROWS), np.random.default_rng(0)) is sample


@pytest.fixture(scope="module")
def study() -> wg.Study:
    return make_study(*tables(900, 700))


@pytest.fixture(scope="module")
def gap(study) -> wg.Gap:
    return wg.explain(study, detail="shares", settings=fast())


def grouped_by(monkeypatch, groups: int) -> None:
    for module in ("cross_fit", "overlap"):
        monkeypatch.setattr(f"whygap.nuisances.{module}.INFLUENCE_GROUPS", groups)


def test_covariances_of_shares_agree_with_the_exact_ones(study, gap, monkeypatch):
    groups = 300
    grouped_by(monkeypatch, groups)
    grouped = wg.explain(study, detail="shares", settings=fast())
    exact, found = (each.shares["outcome"].values.covariance for each in (gap, grouped))
    size = np.outer(np.diag(exact), np.diag(exact))
    by_chance = np.sqrt((size + exact**2) / groups)
    assert np.all(np.abs(found - exact) < 4 * by_chance)
    assert not np.array_equal(found, exact)
    for name, share in gap.shares["outcome"].values.items():
        assert grouped.shares["outcome"].values[name].value == pytest.approx(share.value, abs=1e-12)


def test_groups_are_told(study, gap, monkeypatch):
    grouped_by(monkeypatch, 200)
    grouped = wg.explain(study, detail=(), settings=fast())
    text = (
        "Standard errors rest on sums over 200 random groups of rows per domain, which makes them "
        "uncertain by about 5.0%."
    )
    assert text in [str(note) for note in grouped.notes]
    assert not any("random groups" in str(note) for note in gap.notes)


def test_fewer_training_rows_are_told_and_all_rows_are_averaged(study, gap, monkeypatch):
    monkeypatch.setattr("whygap.learning.blocks.MAX_TRAINING_ROWS", 400)
    some = wg.explain(study, detail="shares", settings=fast())
    text = (
        "Models were trained on 396 of 900 source rows and 394 of 700 target rows, drawn at "
        "random; all rows serve in the averages."
    )
    assert text in [str(note) for note in some.notes]
    assert some.about.rows == gap.about.rows
    assert some.total.value == pytest.approx(gap.total.value, abs=1e-12)
    assert some.parts["outcome"].value != gap.parts["outcome"].value
    distance = some.parts["outcome"].value - gap.parts["outcome"].value
    assert abs(distance) < 2 * gap.parts["outcome"].standard_error
    assert not any("trained on" in str(note) for note in gap.notes)


def test_more_training_rows_than_rows_change_nothing(study, gap, monkeypatch):
    monkeypatch.setattr("whygap.learning.blocks.MAX_TRAINING_ROWS", 900)
    same = wg.explain(study, detail="shares", settings=fast())
    assert same.to_frame().equals(gap.to_frame())
