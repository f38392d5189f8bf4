"""Advice from a revision that was measured: which choice is named, and in which words."""

from __future__ import annotations

from dataclasses import replace

import pytest
from result_factory import make_gap
from revision_factory import make_revision

from whygap.estimate import Estimate
from whygap.render.advice import suggestions
from whygap.render.reading import reading_of
from whygap.render.revision import Curve, curve_of


def curve_with(gains: dict[tuple[str, int], Estimate]) -> Curve:
    """A revision's curve with other gains: kind, k -> gain."""
    curve = curve_of(make_revision())
    choices = [replace(c, gain=gains.get((c.kind, c.k), c.gain)) for c in curve.choices]
    return replace(curve, choices=tuple(choices))


@pytest.mark.parametrize(
    ("baseline", "words"),
    [
        (("age", "sex"), "Refit the source's risk with age and sex on outcomes from the target: "),
        ((), "Recalibrate the source's risk on outcomes from the target: "),
    ],
)
def test_the_least_revision_is_no_recalibration_of_the_model(
    baseline: tuple[str, ...], words: str
) -> None:
    reading = reading_of(make_gap(baseline=baseline), 0.95)
    curve = curve_with({("targeted", 0): Estimate(0.09, 0.01)})
    assert suggestions(reading, curve)[0].startswith(words)


def test_a_larger_gain_that_is_not_clear_hides_no_clear_one() -> None:
    unclear = Estimate(0.09, 0.08)
    gains = {("retrained", 6): unclear, ("reweighted", 1): unclear}
    curve = curve_with({**gains, ("reweighted", 2): Estimate(0.02, 0.005)})
    assert suggestions(reading_of(make_gap(), 0.95), curve)[:2] == [
        (
            "Revise the model on schooling and ancestry with outcomes from the target: measured on "
            "target rows kept apart, AUC +0.041 (+0.031 to +0.051)."
        ),
        (
            "Without outcomes from the target, retrain on reweighted source rows: AUC +0.020 "
            "(+0.010 to +0.030)."
        ),
    ]


def test_a_loss_that_falls_is_called_a_gain_in_it() -> None:
    steps = suggestions(reading_of(make_gap(), 0.95), curve_of(make_revision(), "brier"))
    assert "kept apart, gain in Brier score +0.045 (+0.035 to +0.055)." in steps[0]
