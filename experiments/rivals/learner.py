"""Out-of-fold conditional means for the rivals that need them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whygap.domains import Array, IntArray
from whygap.learning.standalone import Predictor, fit_mean


@dataclass(frozen=True, slots=True, eq=False)
class CrossFitted:
    """Out-of-fold means at the rows themselves (n,), and the function of every fold."""

    fitted: Array
    predictors: tuple[Predictor, ...]

    def elsewhere(self, features: Array) -> Array:
        """At other rows: the average over folds."""
        return np.asarray(np.mean([predict(features) for predict in self.predictors], axis=0))


def fold_numbers(units: IntArray, folds: int, rng: np.random.Generator) -> IntArray:
    """A fold for every row; rows of one unit (a cluster) share theirs."""
    count = int(units.max()) + 1
    return np.asarray(rng.permutation(np.arange(count) % folds)[units], dtype=np.int64)


def cross_fitted(
    features: Array, response: Array, weights: Array, fold: IntArray, seed: int
) -> CrossFitted:
    """E[response | features], each row by the fit on the other folds."""
    fitted = np.zeros(len(features))
    predictors = []
    for k in np.unique(fold):
        train = fold != k
        predictor = fit_mean(features[train], response[train], weights[train], seed=seed)
        fitted[~train] = predictor(features[~train])
        predictors.append(predictor)
    return CrossFitted(fitted, tuple(predictors))
