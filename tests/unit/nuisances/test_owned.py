"""Errors that no row shows: what learners may get wrong on average, and which one was chosen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from learning_designs import shifted_design

from whygap.domains import ByDomain
from whygap.equations import outcome_value
from whygap.estimate import Estimate, Sample
from whygap.learning.choose import VARIANCE_CHARGE, Choice
from whygap.learning.menu import Menu
from whygap.learning.models import Fast
from whygap.nuisances.cross_fit import cross_fit
from whygap.nuisances.outcome import prepare_outcome
from whygap.nuisances.owned import SOURCES, owning, squared_bias
from whygap.nuisances.recoverable import prepare_gain
from whygap.nuisances.source_risk import COMPARED, fit_source_risks
from whygap.settings import Settings

PROBES = [(0,), (1, 2)]
SAMPLE = Sample.of(ByDomain(50, 40))


def crossfit_of(noise=0.0, source_risk=None):
    settings = Settings(learner="fast", progress=False)
    menu = Menu(settings)
    for kind in (COMPARED, "m", "m_s, target", "m_s, source"):
        menu.choices[kind] = Choice(Fast(1e-3), noise=noise)
    design = replace(shifted_design((600, 500), 4), source_risk=source_risk)
    return cross_fit(design, settings, np.random.SeedSequence(0), menu)


def outcome_part(crossfit):
    return prepare_outcome(crossfit, PROBES, fit_source_risks(crossfit)[0])


def estimate(value, seed=0):
    rng = np.random.default_rng(seed)
    source, target = rng.normal(size=50), rng.normal(size=40)
    found = Estimate.from_contributions(SAMPLE, source=source, target=target)
    return found + (value - found.value)


def test_the_size_is_the_charge_times_the_variance_of_one_twin():
    rng = np.random.default_rng(0)
    twins, adds = rng.normal(size=(3, 2, 40_000)), np.full(40_000, -0.5)
    assert squared_bias(twins, adds) == pytest.approx(-0.5 * VARIANCE_CHARGE, rel=0.02)
    assert squared_bias(np.ones((1, 2, 5)), np.ones(5)) == 0


def test_errors_of_one_source_cancel_in_a_difference_and_add_up_apart():
    one, other = owning(estimate(1.0), {"p_1": 2.0}), owning(estimate(1.0), {"p_0": 2.0})
    assert (one - one).standard_error == pytest.approx(0, abs=1e-12)
    assert (one - other).standard_error == pytest.approx(np.sqrt(8), rel=1e-9)


@pytest.mark.parametrize(("domain", "place"), [("target", "m_s here"), ("source", "m_s at home")])
def test_a_budget_owns_more_the_more_its_twins_vary(domain, place):
    game = prepare_gain(crossfit_of(), domain, PROBES)
    few, many = (game.value(s).influence.bias[SOURCES.index(place)] for s in ((), (0, 1, 2, 3)))
    assert many < few < 0


def test_the_denominator_owns_what_both_risks_may_get_wrong():
    part = outcome_part(crossfit_of())
    bias = dict(zip(SOURCES, part.denominator.influence.bias, strict=True))
    assert bias["p_1"] < 0
    assert bias["p_0"] < 0
    plain = outcome_value.denominator(part.values).standard_error
    owned = np.hypot(bias["p_1"], bias["p_0"])
    assert part.denominator.standard_error > plain
    same = part.denominator.with_errors(bias=np.zeros(0)).standard_error
    assert part.denominator.standard_error == pytest.approx(np.hypot(same, owned), rel=1e-9)


def test_a_numerator_owns_p_1_like_the_denominator_less_what_m_may_get_wrong():
    part = outcome_part(crossfit_of())
    place = SOURCES.index("p_1")
    whole = part.denominator.influence.bias[place]
    few, many = (part.numerator(s).influence.bias[place] for s in ((), (0, 1)))
    assert whole < few < many, "the more columns m sees, the more its errors are those of p_1"


def test_a_numerator_owns_of_the_source_risk_what_m_follows():
    part = outcome_part(crossfit_of())
    place = SOURCES.index("p_0")
    owned = part.numerator(()).influence.bias[place]
    assert owned < 0
    rng = np.random.default_rng(0)
    known = ByDomain(rng.random(600), rng.random(500))
    settled = outcome_part(crossfit_of(source_risk=known))
    assert settled.numerator(()).influence.bias[place] == 0


def test_the_noise_of_the_choice_is_in_every_interval_that_rests_on_it():
    sure, unsure = (outcome_part(crossfit_of(noise)) for noise in (0.0, 0.05))
    for of in (lambda p: p.denominator, lambda p: p.numerator((0,))):
        assert of(unsure).value == of(sure).value
        assert of(unsure).standard_error > of(sure).standard_error
    for domain in ("target", "source"):
        sure, unsure = (prepare_gain(crossfit_of(n), domain, PROBES) for n in (0.0, 0.05))
        added = unsure.value((0,)).standard_error ** 2 - sure.value((0,)).standard_error ** 2
        assert added == pytest.approx(0.05**2, rel=1e-6)
