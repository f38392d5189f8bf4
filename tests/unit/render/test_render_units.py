"""Numbers as they are written: digits that the interval supports, never a clear end as 0."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from result_factory import make_gap

from whygap.estimate import Estimate
from whygap.render.units import (
    Units,
    joined,
    level_name,
    metric_unit,
    percent,
    percent_span,
    units_of,
)

POINTS, PLAIN = Units(is_share=True, decimals=1), Units(is_share=False, decimals=3)


@pytest.mark.parametrize(
    ("ends", "text"),
    [
        ((0.0004, 0.009), "+0.04 to +0.9"),  # clear: written with the digit that shows it
        ((-0.009, -0.0004), "-0.9 to -0.04"),
        ((-0.0004, 0.009), "0.0 to +0.9"),  # not clear
        ((0.0, 0.009), "0.0 to +0.9"),
        ((0.000001, 0.009), "0.0 to +0.9"),  # too near 0 for two more digits
        ((0.001, 0.009), "+0.1 to +0.9"),
        ((math.nan, 0.009), "undefined to +0.9"),
    ],
)
def test_an_end_of_a_clear_interval_is_not_written_as_0(
    ends: tuple[float, float], text: str
) -> None:
    assert POINTS.span(*ends) == text


def test_sizes_keep_that_digit_too() -> None:
    assert POINTS.size_span(-0.009, -0.0004) == "0.04 to 0.9"
    assert POINTS.size_span(-0.11, -0.00002) == "0.002 to 11.0"
    assert PLAIN.span(0.0003, 0.02, signed=False) == "0.0003 to 0.020"


def test_a_number_known_less_well_has_fewer_digits() -> None:
    assert PLAIN.suited(Estimate(0.5, 0.3)).change(0.512) == "+0.51"
    assert PLAIN.suited(Estimate(0.5, 30.0)).change(41.2) == "+41"
    assert PLAIN.suited(Estimate(0.5, 0.0003)) == PLAIN  # never more than the gap has
    assert PLAIN.suited(Estimate(0.5, 0.0)) == PLAIN
    assert POINTS.suited(Estimate(0.5, 0.3)) == POINTS


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (Estimate(0.0204, 0.01), "0.1% to 4%"),  # clear: written with the digit that shows it
        (Estimate(-0.0204, 0.01), "-4% to -0.1%"),
        (Estimate(0.0180, 0.01), "0% to 4%"),  # not clear
        (Estimate(0.3, 0.01), "28% to 32%"),
    ],
)
def test_a_clear_share_is_not_written_as_0_percent(estimate: Estimate, text: str) -> None:
    assert percent_span(*estimate.interval(0.95), estimate.standard_error) == text


@pytest.mark.parametrize(
    ("metric", "unit"),
    [
        ("mae", " (in units of employed)"),
        ("rmse", " (in units of employed)"),
        ("mse", " (in squared units of employed)"),
        ("r2", ""),
        ("accuracy", ""),
        ("brier", ""),
    ],
)
def test_metrics_in_units_of_the_outcome_say_so(metric: str, unit: str) -> None:
    about = make_gap(metric=metric).about
    assert metric_unit(about) == unit
    assert metric_unit(replace(about, task="binary")) == ""


@pytest.mark.parametrize(
    ("corners", "metric", "text"),
    [
        ((0.804, 0.797, 0.781, 0.732), "accuracy", "-7.2"),
        ((1.2e-8, 1.2e-8, 1.3e-8, 1.53e-8), "cost", "+3.3e-09"),
        ((1200.0, 1210.0, 1300.0, 1530.0), "cost", "+330"),
        ((2e12, 2e12, 3e12, 4e12), "cost", "+2,000B"),
        ((2e7, 2e7, 3e7, 4e7), "cost", "+20."),
        ((2e16, 2e16, 3e16, 4e16), "cost", "+2e+16"),
        ((0.0, 0.0, 0.0, 0.0), "cost", "0.000"),
    ],
)
def test_digits_follow_the_standard_error(
    corners: tuple[float, float, float, float], metric: str, text: str
) -> None:
    gap = make_gap(corners=corners, metric=metric)
    assert units_of(gap).bare(gap.total.value, signed=True)[: len(text)] == text


def test_numbers_without_units() -> None:
    assert percent(0.684) == "68%"
    assert percent(-0.001) == "0%"
    assert percent(0.00423, 0.0001) == "0.42%"
    assert percent(float("inf")) == "unbounded"
    assert percent(float("nan")) == "undefined"
    assert percent_span(-math.inf, math.inf) == "unbounded"
    assert level_name(0.95) == "95%"
    assert level_name(0.999) == "99.9%"
    assert joined(["a", "b", "c", "d", "e"]) == "a, b, c and 2 others"
    assert joined(["a"]) == "a"
