"""Rules of alarm over a year of weekly looks: the chance of a false alarm, whatever looks share."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from whygap._watch.alarms import broken
from whygap._watch.rules import Rule, allowance
from whygap.estimate import Estimate

YEARS, WEEKS = 4000, 52


@pytest.mark.parametrize("shared", [0.0, 0.15, 0.8])
def test_at_most_one_null_year_in_twenty_has_a_false_alarm_whatever_looks_share(shared):
    """Estimates of a year by their joint law: `shared` of their variance is the source's."""
    rng = np.random.default_rng(1)
    own = rng.normal(size=(YEARS, WEEKS)) * np.sqrt(1 - shared)
    estimates = own + rng.normal(size=(YEARS, 1)) * np.sqrt(shared)
    share = [allowance(look, 0.05, WEEKS) for look in range(1, WEEKS + 1)]
    false = (estimates + stats.norm.isf(share) < 0).any(axis=1).mean()
    assert false <= 0.05
    rule = Rule(part="outcome", below=0.0)
    for look, value in enumerate(estimates[0], start=1):
        alarm = broken(rule, Estimate(value, 1.0), share[look - 1]) is not None
        assert alarm == (value + stats.norm.isf(share[look - 1]) < 0)
