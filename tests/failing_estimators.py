"""Estimators of a user's own that fail in one place: importable, so that workers can load them."""

from __future__ import annotations

import os

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression


class FailsElsewhere(ClassifierMixin, BaseEstimator):
    """A logistic regression that can only be fitted in the process it calls home."""

    def __init__(self, home=0):
        self.home = home

    def fit(self, X, y, sample_weight=None):
        if os.getpid() != self.home:
            raise ZeroDivisionError("not at home")
        self.model_ = LogisticRegression().fit(X, y, sample_weight)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X):
        return self.model_.predict_proba(X)


class FailsAt(LogisticRegression):
    """A logistic regression that cannot take one number of columns."""

    def __init__(self, columns=1):
        super().__init__()
        self.columns = columns

    def fit(self, X, y, sample_weight=None):
        if np.shape(X)[1] == self.columns:
            raise ArithmeticError(f"not {self.columns} columns")
        return super().fit(X, y, sample_weight)
