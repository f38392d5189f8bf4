"""Boosted trees that correct a risk instead of learning one from nothing."""

from __future__ import annotations

from typing import Any, Self

import lightgbm as lgb
import numpy as np
from scipy import special
from sklearn.base import BaseEstimator, ClassifierMixin

from whygap.domains import Array, IntArray

__all__ = ["CorrectedRisk", "boosted_trees"]


def boosted_trees(rows: int, rounds: int, seed: int) -> Any:
    """An unfitted classifier of small trees; leaves shrink with the number of rows."""
    return lgb.LGBMClassifier(
        n_estimators=rounds,
        num_leaves=8,
        learning_rate=0.05,
        min_child_samples=int(np.clip(rows // 20, 5, 30)),
        random_state=seed,
        n_jobs=1,
        verbosity=-1,
    )


class CorrectedRisk(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Boosted trees whose first guess is a risk that is known already.

    The trees see every column, the starting one too, but only spend themselves on what the known
    risk gets wrong: where it is nearly right, little is left to learn.

    Args:
        start: position of the column that holds the logit of the known risk.
        rounds: boosting rounds.
        seed: of the trees.
    """

    def __init__(self, start: int = 0, rounds: int = 100, seed: int = 0) -> None:
        self.start = start
        self.rounds = rounds
        self.seed = seed

    def fit(self, X: Array, y: IntArray, sample_weight: Array | None = None) -> Self:
        """Train on rows whose starting column is a logit."""
        self.classes_ = np.array([0, 1])
        self.trees_ = boosted_trees(len(X), self.rounds, self.seed).fit(
            X, y, sample_weight=sample_weight, init_score=self._first_guess(X)
        )
        return self

    def predict_proba(self, X: Array) -> Array:
        """Columns P(Y=0), P(Y=1)."""
        correction = np.asarray(self.trees_.predict(X, raw_score=True), dtype=np.float64)
        risk = special.expit(self._first_guess(X) + correction)
        return np.column_stack([1 - risk, risk])

    def _first_guess(self, X: Array) -> Array:
        return np.nan_to_num(X[:, self.start])
