"""Which variables an alarm names: those that may come first, and no others."""

from __future__ import annotations

import numpy as np
import pytest

from whygap._watch.alarms import _in_words, culprit_of, unevenness
from whygap.estimate import Estimate
from whygap.results import Affected, AffectedGroup

CHANGES = {"a": (-0.3, 0.0, 0.1), "b": (-0.1, 0.0, -0.02), "c": (-0.04, -0.04, -0.04)}
SHARES = (0.2, 0.3, 0.5)


def where_of(error, rng=None):
    """Three variables of three groups each; points are share times change, with equal errors."""
    changes = np.array([change for own in CHANGES.values() for change in own])
    points = changes * np.tile(SHARES, len(CHANGES))
    if rng is not None:
        points = points + rng.normal(0, error, len(points))
    names = [name for name, own in CHANGES.items() for _ in own]
    groups = tuple(
        AffectedGroup(
            name, f"{name} {k % 3}", SHARES[k % 3], SHARES[k % 3], Estimate(p, error), None
        )
        for k, (name, p) in enumerate(zip(names, points, strict=True))
    )
    return Affected(groups, error**2 * np.eye(len(groups)), (), 0)


def test_unevenness_is_the_variance_of_the_change_over_rows():
    found = unevenness(where_of(1e-9), list(CHANGES))
    for name, own in CHANGES.items():
        mean = np.average(own, weights=SHARES)
        variance = np.average((np.array(own) - mean) ** 2, weights=SHARES)
        assert found[name].value == pytest.approx(variance, abs=1e-12)


def test_noise_adds_nothing_on_average_and_errors_are_not_too_small():
    rng = np.random.default_rng(0)
    drawn = [unevenness(where_of(0.01, rng), list(CHANGES)) for _ in range(2000)]
    for name, true in unevenness(where_of(1e-9), list(CHANGES)).items():
        values = np.array([one[name].value for one in drawn])
        errors = np.array([one[name].standard_error for one in drawn])
        assert values.mean() == pytest.approx(true.value, abs=4 * values.std() / len(values) ** 0.5)
        assert np.mean(errors**2) ** 0.5 > 0.97 * values.std()


@pytest.mark.parametrize("error", [0.005, 0.02, 0.08])
def test_the_true_first_is_among_those_named(error):
    rng = np.random.default_rng(1)
    drawn = [unevenness(where_of(error, rng), list(CHANGES)).first(0.9) for _ in range(400)]
    assert np.mean(["a" in names for names in drawn]) > 0.88  # two standard errors below .9
    sizes = [len(names) for names in drawn]
    assert (max(sizes) == 1) == (error == 0.005)


def test_a_group_without_target_rows_counts_for_nothing():
    where = where_of(0.01)
    empty = AffectedGroup("a", "a 3", 0.1, 0.0, Estimate(0.0, 0.0), None)
    wider = Affected((*where.groups, empty), np.diag([0.01**2] * 9 + [0.0]), (), 0)
    assert unevenness(wider, ["a"])["a"].value == pytest.approx(unevenness(where, ["a"])["a"].value)


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ((), ""),
        (("a",), "most of it through a (a 0)"),
        (("a", "b"), "most of it through a or b, which cannot be told apart (a 0)"),
        (("a", "b", "c"), "most of it through a, b or c, which cannot be told apart (a 0)"),
        (("a", "b", "c", "d"), "through which variable cannot be told, a (a 0) comes first"),
    ],
)
def test_in_words(variables, words):
    assert _in_words(variables, "a 0" if variables else "") == words


def test_nothing_is_named_where_no_detail_was_asked_for():
    from small_study import FAST, make_study

    import whygap as wg

    gap = wg.explain(make_study(), detail=(), settings=FAST)
    assert culprit_of(gap, "outcome", -1.0) == culprit_of(gap, "covariate", -1.0) == ((), "")
