"""From replicates to coverage: counted by hand."""

from __future__ import annotations

import math

import pytest

from experiments.pages import (
    coverage_cell,
    grid,
    number,
    planned_columns,
    plugin_cell,
    table,
    width_cell,
)
from experiments.replicates import Config
from experiments.summary import band, summarise, to_csv

CONFIG = Config(rows=(100, 50), published="fast")
TRUTH = {"aggregate gap": 1.0, "outcome value {Z1}": 0.5, "outcome share Z9": 0.1}


def line(seed, gap, value, defined=True):
    """One replicate; an estimate is [value, standard error, low, high, plug-in]."""
    estimates = {"aggregate gap": [gap, 1.0, gap - 1, gap + 1, gap + 5]}
    if value is not None:
        estimates["outcome value {Z1}"] = [value, 0.1, None, None, value]
    return {"config": "x", "seed": seed, "defined": {"outcome": defined}, "estimates": estimates}


def rows_by_name(lines):
    return {row.quantity: row for row in summarise(CONFIG, lines, TRUTH)}


def test_coverage_bias_and_width_are_what_they_say():
    gap = rows_by_name([line(0, 0.5, 0.4), line(1, 1.5, 0.4), line(2, 3.5, 0.4)])["aggregate gap"]
    assert gap.coverage == pytest.approx(2 / 3)
    assert gap.mean == pytest.approx(5.5 / 3)
    assert gap.width == pytest.approx(2.0)
    assert gap.bias_over_sd == pytest.approx((5.5 / 3 - 1) / gap.sd)
    assert gap.plugin_coverage == 0.0
    assert (gap.rows_source, gap.rows_target, gap.settings) == (100, 50, "published=fast")


def test_undefined_replicates_are_counted_apart():
    lines = [line(0, 1, 0.45), line(1, 1, 9.0, defined=False)]
    value = rows_by_name(lines)["outcome value {Z1}"]
    assert value.undefined == 1
    assert value.mean == pytest.approx(0.45)
    assert value.coverage == value.coverage_all == 1.0  # unbounded intervals cover
    assert rows_by_name(lines)["aggregate gap"].undefined == 0


def test_a_quantity_that_was_never_shown_has_no_coverage():
    value = rows_by_name([line(0, 1, 0.4, defined=False)])["outcome value {Z1}"]
    assert math.isnan(value.coverage)
    assert value.verdict == "never shown"
    assert [cell(value) for cell in (coverage_cell, plugin_cell, width_cell)] == ["never shown"] * 3


def test_quantities_without_estimates_are_left_out():
    assert "outcome share Z9" not in rows_by_name([line(0, 1, 0.4)])


def test_the_band_is_binomial():
    low, high = band(0.9, 200)
    assert (low, high) == (0.84, 0.95)
    assert band(0.9, 1) == (0.0, 1.0)


def test_cells_below_the_band_are_bold():
    lines = [line(seed, 10.0 + seed / 100, 0.4) for seed in range(20)]
    gap = rows_by_name(lines)["aggregate gap"]
    assert gap.verdict == "below"
    assert coverage_cell(gap).startswith("**.00** (+")
    text = grid([gap], ["aggregate gap", "unknown"], [("ours", gap.config), ("none", "other")])
    assert text.splitlines()[0] == "| quantity | truth | ours | none |"
    assert text.splitlines()[2].startswith("| aggregate gap | 1.0000 | **.00**")
    assert text.splitlines()[2].endswith("| not run |")


def test_planned_configurations_say_how_many_replicates_are_there():
    other = Config(rows=(200, 100))
    rows = summarise(CONFIG, [line(0, 1, 0.4), line(1, 1, 0.4)], TRUTH)
    plan = [(CONFIG, 100), (other, 100)]
    assert planned_columns(plan, rows, lambda c: f"n={c.rows[0]}") == [
        ("n=100 (R=2)", CONFIG.label),
        ("n=200 (R=0)", other.label),
    ]


def test_the_plug_in_has_cells_of_its_own():
    gap = rows_by_name([line(seed, 1.0 + seed / 100, 0.4) for seed in range(20)])["aggregate gap"]
    assert plugin_cell(gap).startswith(("**", "."))
    assert float(width_cell(gap)) == pytest.approx(gap.width, abs=5e-4)


def test_numbers_and_tables():
    assert [number(x) for x in (0.5, -0.25, 1.0, math.nan, math.inf)] == [
        ".500", "-.250", "1.000", "–", "∞",
    ]  # fmt: skip
    assert table(["a", "b"], [["x", "1"]]) == "| a | b |\n| --- | ---: |\n| x | 1 |"


def test_csv_has_a_line_per_quantity():
    text = to_csv(summarise(CONFIG, [line(0, 1, 0.4)], TRUTH))
    head, *body = text.strip().split("\n")
    assert head.startswith("config,world,metric,rows_source")
    assert len(body) == 2
