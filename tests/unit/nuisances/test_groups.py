"""Groups of rows: levels, ranges, missing values, pooled levels; labels that mean their rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from small_study import fast, make_study, tables

from whygap.domains import ByDomain
from whygap.nuisances.groups import MODEL_LABEL, group_column, grouped_columns, where_groups
from whygap.progress import Silent
from whygap.results import AffectedGroup
from whygap.running.analysis import Analysis
from whygap.tables.design import MODEL_SCORE, Column


def groups_of(study, **settings) -> dict[str, list[AffectedGroup]]:
    crossfit = Analysis.begin(study.design, fast(support="all", **settings), Silent()).crossfits[0]
    found: dict[str, list[AffectedGroup]] = {}
    for group in where_groups(crossfit, grouped_columns(crossfit)):
        found.setdefault(group.variable, []).append(group)
    return found


def grouped(values, column: Column | None = None):
    """Groups of a column whose first half is the source's."""
    values = np.asarray(values, dtype=float)
    half = len(values) // 2
    pair = ByDomain(values[:half], values[half:])
    one = group_column(column or Column("x", "numeric"), pair)
    return one.labels, np.concatenate(list(one.codes))


def test_few_values_are_levels_and_many_are_ranges():
    labels, codes = grouped([3, 1, 2, 1, 3, 3])
    assert labels == ("1", "2", "3")
    assert codes.tolist() == [2, 0, 1, 0, 2, 2]
    labels, codes = grouped(np.arange(60))
    assert labels[0] == "at most 9"
    assert labels[1] == "above 9 to 19"
    assert labels[-1] == "above 49"
    assert np.bincount(codes).tolist() == [10] * 6


def test_large_numbers_are_written_out():
    labels, _ = grouped([1234567, 7654321])
    assert labels == ("1234567", "7654321")
    labels, _ = grouped(np.arange(60) * 1000 + 100_000)
    assert labels[0] == "at most 109000"


@pytest.mark.parametrize("sign", [1, -1])
def test_a_column_that_is_nearly_always_one_value_has_two_groups(sign):
    values = np.where(np.arange(200) % 10 == 0, sign * np.arange(1, 201), 0)
    labels, codes = grouped(values)
    assert len(labels) == 2
    assert sorted(np.bincount(codes)) == [20, 180]


def test_labels_of_ranges_mean_exactly_their_rows():
    values = np.random.default_rng(0).normal(size=500)
    labels, codes = grouped(values)
    for k, label in enumerate(labels):
        if label.startswith("at most "):
            inside = values <= float(label.removeprefix("at most "))
        elif " to " in label:
            low, high = map(float, label.removeprefix("above ").split(" to "))
            inside = (values > low) & (values <= high)
        else:
            inside = values > float(label.removeprefix("above "))
        np.testing.assert_array_equal(codes == k, inside)


def test_missing_values_are_a_group_of_their_own():
    labels, codes = grouped([1, np.nan, 2, np.nan, 1, 2])
    assert labels == ("1", "2", "missing")
    assert codes.tolist() == [0, 2, 1, 2, 0, 1]
    labels, codes = grouped(np.full(4, np.nan))
    assert labels == ("missing",)
    assert codes.tolist() == [0] * 4


def test_rare_levels_are_pooled_and_counted():
    names = tuple("abcdefghijk")
    counts = [9, 8, 7, 6, 5, 4, 3, 3, 1, 1, 1]
    codes = np.repeat(np.arange(11), counts)
    labels, found = grouped(codes, Column("x", "category", names))
    assert labels == (*"abcdefgh", "3 other levels")
    assert np.bincount(found).tolist() == [*counts[:8], 3]


def test_ordered_levels_are_cut_into_ranges_by_name():
    names = tuple(f"grade {k}" for k in range(12))
    labels, codes = grouped(np.arange(120) % 12, Column("x", "ordinal", names))
    assert labels[0] == "at most grade 1"
    assert labels[-1] == "above grade 9"
    assert np.bincount(codes).tolist() == [20] * 6


def test_dates_times_and_truth_values_read_as_such():
    date = Column("x", "numeric", meaning="date")
    labels, _ = grouped(np.arange(60) + 18_000, date)
    assert labels[0] == "until 2019-04-23"
    assert labels[1] == "after 2019-04-23 to 2019-05-03"
    labels, _ = grouped(np.arange(60) * 60, Column("x", "numeric", meaning="time"))
    assert labels[-1] == "after 00:49"
    labels, _ = grouped([0, 1, 1, 0], Column("x", "numeric", meaning="boolean"))
    assert labels == ("False", "True")


def test_the_meaning_of_a_column_comes_from_its_type():
    source, target = (
        t.assign(
            seen=pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(len(t)), "D"),
            smokes=np.arange(len(t)) % 2 == 0,
        )
        for t in tables()
    )
    found = groups_of(make_study(source, target))
    assert found["seen"][0].label == "until 2020-02-28"
    assert [g.label for g in found["smokes"]] == ["False", "True"]


@pytest.fixture(scope="module")
def study():
    return make_study()


def test_the_models_own_prediction_has_groups(study):
    found = groups_of(study)
    assert [g.label for g in found[MODEL_LABEL]] == ["0", "1"]
    assert len(found[MODEL_SCORE]) == 6
    risk, threshold = study.design.prediction.target, study.design.threshold
    assert found[MODEL_LABEL][1].target_share == pytest.approx(np.mean(risk >= threshold))


def test_labels_as_predictions_are_not_grouped_twice():
    rounded = [t.assign(risk=(t["risk"] > 0.5).astype(int)) for t in tables()]
    found = groups_of(make_study(*rounded))
    assert MODEL_LABEL in found
    assert MODEL_SCORE not in found


def test_shares_and_contributions_are_those_of_the_rows(study):
    analysis = Analysis.begin(study.design, fast(support="all"), Silent())
    crossfit = analysis.crossfits[0]
    groups = where_groups(crossfit, grouped_columns(crossfit))
    values = crossfit.aggregate
    residual = values.loss.zip(values.mu_0_wz, np.subtract)
    x = next(g for g in groups if (g.variable, g.label) == ("c", "x"))
    inside = ByDomain(*((t["c"] == "x").to_numpy() for t in tables()))
    expected = np.mean(inside.target * residual.target)
    expected -= np.mean(inside.source * residual.source * values.pi_wz)
    assert x.points.value == pytest.approx(expected, abs=1e-14)
    assert x.change.value == pytest.approx(expected / inside.target.mean(), abs=1e-13)
    assert x.source_share == pytest.approx(inside.source.mean())


def test_groups_without_rows_in_one_table_have_points_but_may_have_no_change():
    source, target = tables()
    only = [np.where(np.arange(len(t)) % 7 == 0, "only", t["c"]) for t in (source, target)]
    found = groups_of(make_study(source.assign(c=only[0]), target))
    (group,) = [g for g in found["c"] if g.label == "only"]
    assert (group.target_share, group.change) == (0, None)
    assert group.points.standard_error > 0
    found = groups_of(make_study(source, target.assign(c=only[1])))
    (group,) = [g for g in found["c"] if g.label == "only"]
    assert group.source_share == 0
    assert group.change is not None


def test_groups_without_weight_have_no_change():
    source, target = tables()
    design = make_study(source, target).design
    weights = ByDomain(*((t["c"] == "x").to_numpy(float) for t in (source, target)))
    weighted = replace(design, weights=weights)
    crossfit = Analysis.begin(weighted, fast(support="all"), Silent()).crossfits[0]
    found = [g for g in where_groups(crossfit, grouped_columns(crossfit)) if g.variable == "c"]
    assert [g.target_share for g in found] == pytest.approx([1, 0, 0])
    assert [g.change is None for g in found] == [False, True, True]
    assert [g.points.value for g in found[1:]] == [0, 0]


def test_groups_that_no_row_is_in_are_left_out():
    always = [t.assign(risk=0.9) for t in tables()]
    found = groups_of(make_study(*always))
    assert [g.label for g in found[MODEL_LABEL]] == ["1"]
    assert [g.label for g in found[MODEL_SCORE]] == ["0.9"]
