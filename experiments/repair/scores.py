"""How good is a set of probabilities: accuracy, AUC, Brier score, log loss, each an Estimate.

The intervals are those of the rows that were scored, with the fitted models taken as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whygap._metrics import metric_named
from whygap.domains import Array, ByDomain
from whygap.estimate import Estimate, Sample

AUC = metric_named("auc")
SCORES = ("accuracy", "auc", "brier", "log_loss")


@dataclass(frozen=True, slots=True)
class Scores:
    """Four scores on the target's rows; differences of two `Scores` of one sample are paired."""

    accuracy: Estimate
    auc: Estimate
    brier: Estimate
    log_loss: Estimate

    def __getitem__(self, name: str) -> Estimate:
        found: Estimate = getattr(self, name)
        return found


def score_target(
    sample: Sample, probability: Array, outcome: Array, threshold: float = 0.5
) -> Scores:
    """Scores of probabilities (or labels) at the target's rows."""
    with np.errstate(divide="ignore"):
        surprise = -np.log(np.where(outcome == 1, probability, 1 - probability))
    if not np.isfinite(surprise).all():  # labels: infinite at the first wrong one
        surprise = np.full(len(outcome), np.nan)
    return Scores(
        accuracy=_target_mean(sample, ((probability >= threshold) == outcome).astype(float)),
        auc=_auc(sample, probability, outcome),
        brier=_target_mean(sample, (probability - outcome) ** 2),
        log_loss=_target_mean(sample, surprise),
    )


def _target_mean(sample: Sample, values: Array) -> Estimate:
    return Estimate.from_contributions(
        sample, source=np.zeros(len(sample.weights.source)), target=values
    )


def _auc(sample: Sample, score: Array, outcome: Array) -> Estimate:
    """Weighted AUC, ties counted half, with the influence values of DeLong et al. (1988)."""
    weights, terms = sample.weights.target, np.stack([outcome, score])
    if not 0 < float(weights @ outcome) < float(weights.sum()):
        return _target_mean(sample, np.full(len(weights), np.nan))
    influence = ByDomain(np.zeros(len(sample.weights.source)), AUC.influence(terms, weights))
    return Estimate.of(AUC.value(terms, weights), sample.influence(influence), sample.key)
