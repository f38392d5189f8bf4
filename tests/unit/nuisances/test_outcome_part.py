"""v_Y's shared nuisances: the denominator's two risks come from one learner."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from learning_designs import shifted_design

from whygap.domains import ByDomain
from whygap.equations import outcome_value
from whygap.learning.choose import Choice
from whygap.learning.menu import Menu
from whygap.learning.models import Fast
from whygap.nuisances.cross_fit import cross_fit
from whygap.nuisances.outcome import prepare_outcome
from whygap.nuisances.source_risk import fit_source_risks
from whygap.progress import Silent
from whygap.running.analysis import Analysis
from whygap.settings import Settings

PROBES = [(0,), (1, 2)]


def prepared(source_learner, common_learner, design=None):
    """An outcome part whose choices of learners are given."""
    settings = Settings(learner="fast", progress=False)
    menu = Menu(settings)
    menu.choices["p_0 (twins)"] = Choice(source_learner, {}, "")
    menu.choices["p_1 - p_0 (twins)"] = Choice(common_learner, {}, "")
    design = design or shifted_design((600, 500), columns=4)
    crossfit = cross_fit(design, settings, np.random.SeedSequence(0), menu)
    return prepare_outcome(crossfit, PROBES, fit_source_risks(crossfit)[0])


def test_the_denominator_does_not_depend_on_the_learner_of_the_binned_risk():
    firm, loose = (prepared(Fast(penalty), Fast(1e-3)) for penalty in (1.0, 1e-4))
    assert firm.denominator.value == loose.denominator.value
    assert firm.numerator((0,)).value != loose.numerator((0,)).value


def test_with_one_learner_for_all_the_denominator_is_that_of_the_shared_values():
    part = prepared(Fast(1e-3), Fast(1e-3))
    assert part.denominator.value == pytest.approx(
        outcome_value.denominator(part.values).value, rel=1e-12
    )


def test_a_known_source_risk_takes_the_place_of_both_fits():
    rng = np.random.default_rng(0)
    known = ByDomain(rng.random(600), rng.random(500))
    design = replace(shifted_design((600, 500), columns=4), source_risk=known)
    part = prepared(Fast(1.0), Fast(1e-3), design)
    assert np.array_equal(part.values.p_0.source[0, 0], known.source)
    assert part.denominator.value == outcome_value.denominator(part.values).value


@pytest.mark.parametrize("repeats", [1, 2])
def test_the_denominator_alone_is_that_of_the_part(repeats):
    settings = Settings(learner="fast", progress=False, repeats=repeats)
    design = shifted_design((600, 500), columns=4)
    asked = [Analysis.begin(design, settings, Silent()) for _ in range(2)]
    whole, alone = asked[0].values("outcome", [()]).denominator, asked[1].outcome_denominator()
    assert (alone.value, alone.standard_error) == (whole.value, whole.standard_error)
    kinds = [set(one.menu.choices) for one in asked]
    assert kinds[0] - kinds[1] == {"m"}
