"""v_Z's nuisances in the paper's Gaussian world."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from experiments.worlds.gaussian import GaussianWorld
from whygap.domains import ByDomain
from whygap.learning.menu import Menu
from whygap.nuisances.covariate import prepare_covariate
from whygap.nuisances.cross_fit import cross_fit
from whygap.nuisances.source_risk import fit_source_risks
from whygap.settings import Settings


def drawn_part(seed):
    design = GaussianWorld().draw(ByDomain(1500, 1500), np.random.default_rng(seed))
    settings = Settings(learner="fast", progress=False)
    crossfit = cross_fit(design, settings, np.random.SeedSequence(seed), Menu(settings))
    return prepare_covariate(crossfit, [(0,), (1, 2)], fit_source_risks(crossfit)[0])


@pytest.fixture(scope="module")
def part():
    return drawn_part(0)


def from_the_metric_itself(part):
    loss = part.crossfit.design.loss.source
    return replace(part, fitted_loss=dict.fromkeys(part.fitted_loss, loss), whole=None)


def test_errors_of_the_fitted_metric_cancel_where_little_is_missing(part):
    nearly_everything = (0, 2)  # true value .999, numerator .00001
    parts = [part, *(drawn_part(seed) for seed in (1, 2, 3))]
    ours = [p.numerator(nearly_everything).plugin for p in parts]
    others = [from_the_metric_itself(p).numerator(nearly_everything).plugin for p in parts]
    assert np.mean(ours) < 0.6 * np.mean(others)


def test_the_full_set_leaves_nothing(part):
    assert part.numerator((0, 1, 2)).value == 0.0
