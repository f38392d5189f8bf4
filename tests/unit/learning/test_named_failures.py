"""Failures of models at prediction, and of choosing a learner, name the nuisance."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from small_study import make_study

import whygap as wg
from whygap.errors import FitError
from whygap.learning.menu import Menu
from whygap.settings import Settings


class Breaks(LogisticRegression):
    """Fits, and fails when asked."""

    def predict_proba(self, table):
        raise ZeroDivisionError("no answer" if len(table) else "no rows")


class Nothing(LogisticRegression):
    """Fits, and answers with missing numbers."""

    def predict_proba(self, table):
        return np.full((len(table), 2), np.nan)


@pytest.mark.parametrize(
    ("classifier", "got"),
    [
        (Breaks(), "ZeroDivisionError: no answer"),
        (Nothing(), "predictions that are not finite numbers"),
    ],
)
def test_a_model_that_cannot_predict_is_named(classifier, got):
    learner = {"classifier": classifier, "regressor": LinearRegression()}
    settings = wg.Settings(learner=learner, progress=False)
    with pytest.raises(FitError, match=re.escape("Predicting p_0 failed on blocks [")) as caught:
        wg.explain(make_study(), detail=(), settings=settings)
    assert got in str(caught.value)


def test_choosing_that_fails_is_named():
    def probes():
        raise ValueError("nothing to probe")

    expected = "Choosing a learner for m failed with W, Z"
    with pytest.raises(FitError, match=re.escape(expected)) as caught:
        Menu(Settings()).learner("m", probes, columns="W, Z", target="outcome")
    assert isinstance(caught.value.__cause__, ValueError)
