from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import special

from experiments.rivals import linear
from whygap.domains import ByDomain
from whygap.errors import FitError
from whygap.estimate import Sample


@pytest.fixture(scope="module")
def drawn():
    rng = np.random.default_rng(3)
    block = linear.with_intercept(rng.normal(size=(600, 3)) * [1.0, 5.0, 0.2])
    slope = np.array([0.3, -0.5, 0.2, 2.0])
    happened = (rng.random(600) < special.expit(block @ slope)).astype(float)
    return block, happened


def test_logistic_without_penalty_equals_statsmodels(drawn):
    block, happened = drawn
    fit = linear.logistic(block, happened, np.ones(600), ridge=0.0)
    peer = sm.Logit(happened, block).fit(disp=False, cov_type="HC0")
    assert fit.coefficients == pytest.approx(peer.params, abs=1e-6)
    sample = Sample.of(ByDomain(600, 5))
    found = linear.one_sided(sample, "source", fit.coefficients, fit.influence)
    errors = [estimate.standard_error for estimate in found]
    assert errors == pytest.approx(peer.bse, rel=2e-3)


def test_the_default_penalty_hardly_moves_a_well_posed_fit(drawn):
    block, happened = drawn
    plain = linear.logistic(block, happened, np.ones(600), ridge=0.0).coefficients
    assert linear.logistic(block, happened, np.ones(600)).coefficients == pytest.approx(
        plain, rel=1e-3, abs=1e-3
    )


def test_weights_act_like_repeated_rows(drawn):
    block, happened = drawn
    counts = np.random.default_rng(0).integers(1, 4, 600)
    again = np.repeat(np.arange(600), counts)
    weighted = linear.logistic(block, happened, counts / counts.mean()).coefficients
    repeated = linear.logistic(block[again], happened[again], np.ones(len(again))).coefficients
    assert weighted == pytest.approx(repeated, rel=1e-3)


def test_separated_outcomes_without_penalty_are_an_error():
    block = linear.with_intercept(np.linspace(-1, 1, 50)[:, None])
    with pytest.raises(FitError) as caught:
        linear.logistic(block, (block[:, 1] > 0).astype(float), np.ones(50), ridge=0.0)
    assert str(caught.value) == (
        "A logistic regression did not converge in 100 steps. "
        "Some columns may separate the outcome; group rare levels."
    )
