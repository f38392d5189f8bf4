from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss, roc_auc_score

from experiments.repair.scores import score_target
from whygap.domains import ByDomain
from whygap.estimate import Sample


def drawn(rows=400, seed=0, digits=6):
    rng = np.random.default_rng(seed)
    outcome = (rng.random(rows) < 0.3).astype(float)
    probability = np.round(1 / (1 + np.exp(-(outcome + rng.normal(size=rows) - 1))), digits)
    return outcome, probability


def sample_of(rows, weights=None, clusters=None):
    return Sample.of(
        ByDomain(5, rows),
        None if weights is None else ByDomain(np.ones(5), weights),
        None if clusters is None else ByDomain(np.arange(5), clusters),
    )


@pytest.mark.parametrize("digits", [6, 1])
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_equal_scikit_learn(digits, weighted):
    outcome, probability = drawn(digits=digits)
    probability = np.clip(probability, 0.05, 0.95)
    weights = np.random.default_rng(1).uniform(0.5, 2, 400) if weighted else np.ones(400)
    found = score_target(sample_of(400, weights), probability, outcome)
    options = {"sample_weight": weights}
    assert found.auc.value == pytest.approx(roc_auc_score(outcome, probability, **options))
    assert found.brier.value == pytest.approx(brier_score_loss(outcome, probability, **options))
    assert found.log_loss.value == pytest.approx(log_loss(outcome, probability, **options))
    assert found.accuracy.value == pytest.approx(
        accuracy_score(outcome, probability >= 0.5, **options)
    )


def test_the_error_of_the_auc_is_delongs():
    outcome, probability = drawn(digits=2)
    case, control = probability[outcome == 1], probability[outcome == 0]
    wins = (case[:, None] > control) + 0.5 * (case[:, None] == control)
    delong = wins.mean(1).var(ddof=1) / len(case) + wins.mean(0).var(ddof=1) / len(control)
    found = score_target(sample_of(400), probability, outcome)
    assert found.auc.standard_error == pytest.approx(np.sqrt(delong), rel=0.01)


def test_paired_differences_are_narrower_than_unpaired_ones():
    outcome, probability = drawn()
    other = np.clip(probability + 0.01 * np.random.default_rng(0).normal(size=400), 0.001, 0.999)
    sample = sample_of(400)
    one, two = (score_target(sample, p, outcome) for p in (probability, other))
    unpaired = np.hypot(one.auc.standard_error, two.auc.standard_error)
    assert (one.auc - two.auc).standard_error < unpaired / 5
    assert (one.auc - one.auc).standard_error == 0


def test_clusters_widen_the_intervals():
    outcome, probability = drawn(rows=200)
    again = np.tile(np.arange(200), 4)
    alone = score_target(sample_of(800), probability[again], outcome[again])
    together = score_target(sample_of(800, clusters=again), probability[again], outcome[again])
    for name in ("accuracy", "auc", "brier"):
        ratio = together[name].standard_error / alone[name].standard_error
        assert ratio == pytest.approx(2.0, rel=0.02)


def test_labels_have_no_log_loss_and_one_class_no_auc():
    outcome, probability = drawn()
    labels = score_target(sample_of(400), (probability > 0.5).astype(float), outcome)
    assert np.isnan(labels.log_loss.value)
    assert np.isfinite(labels.auc.value)
    assert np.isnan(score_target(sample_of(400), probability, np.zeros(400)).auc.value)
