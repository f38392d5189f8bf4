"""Pools of real rows whose model says rounded scores.

Nearly every row of a pool has a score of its own, so that the score alone tells the row and the
pool's recalibration is all that can be won: no truth that drawn rows could show. A model that
rounds its score is as good a model to explain; many rows then share a score.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from experiments.worlds.atoms import Atoms
from whygap._metrics import Metric, metric_of

__all__ = ["with_rounded_scores"]

LOWEST = 0.01  # rounded scores stay this far from 0 and 1, so that log loss is finite


def with_rounded_scores(pool: Atoms, metric: str | Metric, digits: int = 1) -> Atoms:
    """The same rows under a model that rounds what it says."""
    scores = np.clip(np.round(pool.prediction, digits), LOWEST, 1 - LOWEST)
    intercept, slope = metric_of(metric).coefficients(scores, 0.5)
    return replace(pool, prediction=scores, intercept=intercept, slope=slope)
