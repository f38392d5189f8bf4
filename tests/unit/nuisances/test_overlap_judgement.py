"""The one judgement of overlap: what each number is worth, in full sentences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from learning_designs import make_design

from whygap.domains import ByDomain
from whygap.nuisances.separators import column_auc, find_separators
from whygap.results import Overlap, RatioRecord, Separator
from whygap.tables.design import Column

GOOD = RatioRecord("pi_wz", "all variables", 800.0, 1000, 4.0, 0.0, 0.6, 1.01, 0.01, 0.0)


def text_of(**changes) -> tuple[str, str]:
    (note,) = Overlap((replace(GOOD, **changes),)).notes()
    return note.level, str(note).removeprefix("The domains overlap poorly on all variables: ")


def test_good_overlap_needs_no_word():
    assert Overlap((GOOD,)).notes() == ()
    assert (GOOD.verdict, GOOD.level) == ("good", "info")
    assert not Overlap((GOOD,)).lacks_counterparts


WORTH = (
    "reweighted to look like the target, the source rows count as about {} (the heaviest counts "
    "41 times)."
)
NO_ROWS = (
    "the weights average 0.40 instead of 1, so about 60% of the target lies where the source has "
    "no rows."
)
OVERFITTED = (
    "the weights average 1.80 instead of 1, so they are fitted badly (too few rows for so many "
    "columns)."
)
ALONE = "{} of the target rows have no counterpart in the source"
APART = "a classifier tells the tables apart with an AUC of 0.980."


@pytest.mark.parametrize(
    ("changes", "level", "text"),
    [
        ({"effective_size": 80.0, "largest_weight": 41.2}, "warning", WORTH.format(80)),
        ({"effective_size": 22.0, "largest_weight": 41.2}, "problem", WORTH.format(22)),
        ({"mean_weight": 0.4, "mean_error": 0.02}, "problem", NO_ROWS),
        ({"mean_weight": 1.8, "mean_error": 0.02}, "warning", OVERFITTED),
        ({"without_counterpart": 0.07}, "warning", ALONE.format("7%") + "."),
        (
            {"without_counterpart": 0.3, "domain_auc": 0.98},
            "problem",
            f"{ALONE.format('30%')}; {APART}",
        ),
    ],
)
def test_each_fault_has_its_sentence_and_its_level(changes, level, text):
    assert text_of(**changes) == (level, text)
    assert replace(GOOD, **changes).verdict == "poor"


def test_weights_that_are_all_near_nothing_look_effective_and_are_not():
    tiny = replace(GOOD, effective_size=950.0, mean_weight=0.001, mean_error=0.0001)
    assert tiny.kept_share == 0.95
    assert tiny.lacks_counterparts
    assert (tiny.verdict, tiny.level) == ("poor", "problem")


def test_few_rows_that_nearly_all_count_are_no_poor_overlap():
    small = replace(GOOD, effective_size=55.0, rows=60)
    assert (small.verdict, small.faults()) == ("good", ())


def test_a_mean_that_may_be_one_is_not_held_against_the_tables():
    assert replace(GOOD, mean_weight=0.9, mean_error=0.04).faults() == ()


def test_columns_are_judged_by_what_they_look_like():
    units = Separator(
        "age", 0.97, "other units: the target's median is 12 times the source's", True
    )
    year = Separator("year", 1.0, "constant in the source")
    income = Separator("income", 0.96, "other values")
    notes = Overlap((), (units, year, income)).notes()
    assert [note.level for note in notes] == ["problem", "problem", "warning"]
    alone, leave = "alone tells the tables apart", "If it defines the tables, leave it out."
    recorded = "looks recorded differently in the two tables"
    assert list(map(str, notes)) == [
        f"Column 'age' {recorded} ({units.looks_like}). Set that right first.",
        f"Column 'year' {alone} (AUC 1.000; constant in the source). {leave}",
        f"Column 'income' {alone} (AUC 0.960; other values). {leave}",
    ]


# -- column by column ------------------------------------------------------------------------------


def pair(source, target, kind="numeric", levels=()):
    rng = np.random.default_rng(0)
    columns = [np.column_stack([rng.normal(size=len(v)), v]) for v in (source, target)]
    design = make_design(*columns)
    return replace(design, columns=(design.columns[0], Column("x", kind, levels)))


def test_units_of_a_column_around_nothing_show_in_its_spread():
    rng = np.random.default_rng(0)
    (found,) = find_separators(pair(rng.normal(size=500), 1000 * rng.normal(size=500)))
    assert found.is_mishap
    assert found.auc > 0.99
    ratio = float(found.looks_like.split(" is ")[1].split()[0].replace(",", ""))
    assert found.looks_like.startswith("other units: the target's ")
    assert 500 < ratio < 2000


def test_codes_that_count_from_another_number_are_named_though_they_overlap():
    rng = np.random.default_rng(0)
    (found,) = find_separators(pair(rng.integers(0, 2, 500), rng.integers(1, 3, 500)))
    assert found.auc < 0.9
    assert (found.level, f"{found.looks_like}: {found.values}") == (
        "problem",
        "other coding: 0 and 1 in the source, 1 and 2 in the target",
    )


def test_years_that_overlap_are_no_mishap():
    rng = np.random.default_rng(0)
    assert find_separators(pair(rng.integers(2018, 2020, 500), rng.integers(2019, 2021, 500))) == ()


def test_some_levels_written_otherwise_are_named():
    rng = np.random.default_rng(0)
    levels = ("no", "yes", "Yes")
    design = pair(rng.integers(0, 2, 500), rng.choice([0, 2], 500), "category", levels)
    (found,) = find_separators(design)
    assert found.values == "'yes' in the source, 'Yes' in the target"


def test_the_same_codes_in_other_numbers_are_a_difference_not_a_mishap():
    rng = np.random.default_rng(0)
    design = pair(rng.random(2000) < 0.01, rng.random(2000) < 0.99)
    (found,) = find_separators(design)
    assert (found.looks_like, found.level) == ("other values", "warning")


def test_missing_values_tell_tables_apart_too():
    rng = np.random.default_rng(0)
    values = ByDomain(rng.normal(size=400), np.where(np.arange(400) < 320, np.nan, 0.1))
    assert column_auc(values, "numeric") >= 0.9
