"""Fits on source rows alone are made once for several targets; found ones are as good as new."""

from __future__ import annotations

import numpy as np
import pytest
from small_study import fast, make_study, make_table

from whygap._explain import explain_with
from whygap.learning.menu import Menu
from whygap.learning.source_fits import SourceFits

SOURCE = make_table(400, 0.0, 1)


def explained(target, fits, detail="points"):
    settings = fast()
    return explain_with(
        make_study(SOURCE, target), detail, settings, Menu(settings, source_fits=fits)
    )


def numbers(gap):
    points = gap.points["covariate"]
    return [e.value for e in gap.parts.values()] + [e.value for e in points.values()]


def test_a_second_target_finds_every_source_fit_and_has_the_same_bits():
    first, second = make_table(300, 1.0, 2), make_table(250, 0.5, 3)
    fits = SourceFits()
    explained(first, fits)
    known = set(fits.models)
    shared = explained(second, fits)
    assert set(fits.models) == known
    assert numbers(shared) == numbers(explained(second, SourceFits()))


@pytest.mark.parametrize("change", ["a level", "a gap"])
def test_a_target_with_something_of_its_own_is_given_terms_for_it(change):
    fits = SourceFits()
    explained(make_table(300, 0.0, 2), fits)
    known = set(fits.models)
    odd = make_table(300, 0.0, 3)
    if change == "a level":
        odd.loc[:60, "c"] = "new"
    else:
        odd.loc[:60, "b"] = np.nan
    explained(odd, fits)
    assert not known & (set(fits.models) - known)
    assert len(fits.models) > len(known)


def test_another_source_shares_nothing():
    fits = SourceFits()
    target = make_table(300, 0.0, 2)
    explained(target, fits)
    known = len(fits.models)
    settings = fast()
    other = make_study(make_table(400, 0.0, 9), target)
    explain_with(other, "points", settings, Menu(settings, source_fits=fits))
    assert len(fits.models) == 2 * known
