"""Columns as numbers: levels aligned, rare ones pooled, dates stated, nothing dropped silently."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
import pytest
from table_factory import source_and_target

from whygap.notes import Note
from whygap.study import Study
from whygap.tables.design import Column, Design


def design_of(source: Any, target: Any, **changes: Any) -> Design:
    roles = {"outcome": "y", "prediction": "risk", "clusters": "patient", **changes}
    return Study(source=source, target=target, **roles).design


def with_column(name: str, source: Any, target: Any, **changes: Any) -> Design:
    first, second = source_and_target()
    first[name] = np.resize(np.array(source, dtype=object), len(first))
    second[name] = np.resize(np.array(target, dtype=object), len(second))
    if all(isinstance(v, int | float) for v in (*source, *target)):
        first[name], second[name] = first[name].astype(float), second[name].astype(float)
    return design_of(first, second, covariates=[name], **changes)


def values_of(design: Design, name: str) -> tuple[np.ndarray, np.ndarray]:
    position = [c.name for c in design.columns].index(name)
    return design.features.source[:, position], design.features.target[:, position]


def texts(design: Design, level: str | None = None) -> list[str]:
    return [str(note) for note in design.notes if level in (None, note.level)]


def test_levels_are_sorted_and_aligned_across_domains() -> None:
    design = with_column("kind", ["b", "c", None], ["a", "b", None])
    assert design.columns == (Column("kind", "category", ("a", "b", "c")),)
    source, target = values_of(design, "kind")
    np.testing.assert_array_equal(source[:3], [1, 2, np.nan])
    np.testing.assert_array_equal(target[:3], [0, 1, np.nan])
    assert texts(design, "warning") == [
        "Column 'kind': level 'c' (80 of 240 source rows) not seen in target: no overlap there.",
        "Column 'kind': level 'a' (60 of 180 target rows) not seen in source: no overlap there.",
    ]


def test_rare_levels_are_pooled_and_the_rule_is_said() -> None:
    levels = ["common", "usual", *[f"rare {i:02d}" for i in range(30)]]
    many = (["common"] * 60 + ["usual"] * 60 + levels[2:] * 4)[:240]
    design = with_column("town", many, many[:180])
    column = design.columns[0]
    assert column.levels == ("common", "usual", "(other)")
    rare = sum(level.startswith("rare") for level in many + many[:180])
    assert texts(design)[0] == (
        f"Column 'town': 30 of 32 levels with fewer than 10 rows each ({rare / 420:.1%} of the "
        "rows) are pooled into '(other)'."
    )


def test_few_levels_are_never_pooled() -> None:
    values = ["a"] * 239 + ["b"]
    assert with_column("kind", values, values[-180:]).columns[0].levels == ("a", "b")


def test_a_level_named_like_the_pool_keeps_its_name() -> None:
    rare = [f"r{i}" for i in range(25)]
    many = (["(other)"] * 100 + ["b"] * 60 + rare * 4)[:240]
    assert with_column("k", many, many[:180]).columns[0].levels == ("(other)", "b", "(other)*")


def test_ten_thousand_levels_are_cheap() -> None:
    rng = np.random.default_rng(0)
    tables = []
    for rows in (60_000, 40_000):
        code = (10_000 * rng.random(rows) ** 6).astype(int)
        tables.append(
            pd.DataFrame(
                {
                    "postcode": [f"P{i:05d}" for i in code],
                    "y": rng.integers(0, 2, rows),
                    "risk": rng.random(rows),
                }
            )
        )
    study = Study(source=tables[0], target=tables[1], outcome="y", prediction="risk")
    started = time.process_time()
    design = study.design
    assert time.process_time() - started < 5
    assert 2 < len(design.columns[0].levels) < 200


def test_a_column_of_rare_levels_only_is_left_out_with_a_warning() -> None:
    source, target = (
        table.assign(code=[f"c{i // 2}" for i in range(len(table))])
        for table in source_and_target()
    )
    design = design_of(source, target)
    assert "code" not in [c.name for c in design.columns]
    assert texts(design)[0] == (
        "Left out, all levels are rare (group them into larger ones): 'code'."
    )


def test_numbers_booleans_and_missing_values() -> None:
    design = design_of(*source_and_target())
    kinds = {c.name: c.kind for c in design.columns}
    assert kinds == {
        "age": "numeric",
        "sex": "category",
        "visits": "numeric",
        "smoker": "numeric",
        "region": "category",
        "day": "numeric",
        "weight": "numeric",
    }
    source, _ = source_and_target()
    np.testing.assert_array_equal(values_of(design, "age")[0], source["age"])
    np.testing.assert_array_equal(values_of(design, "smoker")[0], source["smoker"])
    assert np.isnan(values_of(design, "region")[0]).sum() == source["region"].isna().sum()


def test_dates_are_days_since_1970_and_it_is_said() -> None:
    design = design_of(*source_and_target())
    days = (source_and_target()[0]["day"] - pd.Timestamp("1970-01-01")).dt.days
    np.testing.assert_array_equal(values_of(design, "day")[0], days)
    assert "Column 'day' is used as days since 1970-01-01." in texts(design, "info")


def test_times_of_day_and_durations() -> None:
    source, target = (
        table.assign(wait=pd.to_timedelta(table["visits"], unit="h"), at=table["day"].dt.time)
        for table in source_and_target()
    )
    source["at"] = [pd.Timestamp("2020-01-01 06:30").time()] * len(source)
    design = design_of(source, target)
    np.testing.assert_allclose(values_of(design, "wait")[0], source["visits"] / 24)
    assert set(values_of(design, "at")[0]) == {6.5 * 3600}
    assert set(texts(design)) >= {
        "Column 'wait' is used as days.",
        "Column 'at' is used as seconds since midnight.",
    }


def test_ordered_categories_in_one_table_only() -> None:
    source, target = source_and_target()
    order = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
    source["grade"] = pd.Series(np.resize(["low", "mid", "high"], len(source))).astype(order)
    target["grade"] = np.resize(["mid", "high"], len(target))
    design = design_of(source, target)
    column = next(c for c in design.columns if c.name == "grade")
    assert (column.kind, column.levels) == ("ordinal", ("low", "mid", "high"))
    np.testing.assert_array_equal(values_of(design, "grade")[1][:2], [1, 2])


def test_contradicting_orders_are_dropped() -> None:
    source, target = source_and_target()
    for table, levels in ((source, ["a", "b", "c"]), (target, ["c", "b", "a"])):
        order = pd.CategoricalDtype(levels, ordered=True)
        table["grade"] = pd.Series(np.resize(["a", "b", "c"], len(table))).astype(order)
    design = design_of(source, target)
    column = next(c for c in design.columns if c.name == "grade")
    assert (column.kind, column.levels) == ("category", ("a", "b", "c"))
    assert "Column 'grade' has different orders in the two tables: read as unordered." in texts(
        design, "warning"
    )


def test_numbers_in_one_table_and_text_in_the_other() -> None:
    source, target = source_and_target()
    source["code"] = np.resize([1, 2], len(source))
    target["code"] = np.resize(["1", "2", "x"], len(target))
    design = design_of(source, target, covariates=["code"])
    assert design.columns[0].levels == ("1", "2", "x")
    assert texts(design)[0] == (
        "Column 'code' holds numbers in source and text in the other table: read as text."
    )


def test_mixed_python_objects_are_read_as_text() -> None:
    design = with_column("odd", [1, "a", None], ["a", 2.5, None])
    assert design.columns[0].levels == ("1", "2.5", "a")


def test_text_that_is_nearly_all_numbers_is_hinted() -> None:
    design = with_column("lab", [*map(str, range(15)), "?"], [*map(str, range(15)), "?"])
    assert texts(design)[0] == (
        "Column 'lab' is text although nearly all its values are numbers; not so: '?'."
    )


def test_infinite_values_become_missing_and_are_counted() -> None:
    design = with_column("x", [1.0, np.inf, 2.0], [1.0, 2.0])
    assert np.isnan(values_of(design, "x")[0]).sum() == 80
    assert texts(design)[0] == (
        "Column 'x': 80 infinite values (or beyond 1e+100) are treated as missing."
    )


def test_numbers_too_large_to_square_become_missing_and_are_counted() -> None:
    design = with_column("x", [1.0, -1e200, 2.0], [1.0, 2.0])
    assert np.isnan(values_of(design, "x")[0]).sum() == 80
    assert texts(design)[0] == (
        "Column 'x': 80 infinite values (or beyond 1e+100) are treated as missing."
    )


@pytest.mark.parametrize("size", [1e-200])
def test_only_proportions_of_weights_matter(size: float) -> None:
    source, target = source_and_target()
    pair = [
        table.assign(w=np.where(table["visits"] > 3, 2.0, 1.0) * size) for table in (source, target)
    ]
    design = Study(
        source=pair[0],
        target=pair[1],
        outcome="y",
        prediction="risk",
        weights="w",
        covariates=["visits"],
    ).design
    assert design.weights is not None
    for values in design.weights:
        assert set(values) == {0.5, 1.0}


def test_intervals_of_pandas_cut_are_categories() -> None:
    source, target = (
        table.assign(band=pd.cut(table["visits"], [-1, 2, 5, 9])) for table in source_and_target()
    )
    column = design_of(source, target, covariates=["band"]).columns[0]
    assert (column.kind, column.levels) == ("ordinal", ("(-1, 2]", "(2, 5]", "(5, 9]"))


def test_constant_and_empty_columns_are_left_out_with_a_note() -> None:
    source, target = source_and_target(same=1, other="x", empty=None)
    design = design_of(source, target)
    one_value, no_value = "one single value in both tables", "missing in every row of both tables"
    assert design.notes[:2] == (
        Note("left_out", "info", {"reason": one_value, "columns": ("same", "other")}),
        Note("left_out", "warning", {"reason": no_value, "columns": ("empty",)}),
    )


def test_rows_without_outcome_or_prediction_are_counted() -> None:
    source, target = source_and_target()
    source["y"] = source["y"].astype(float)
    source.loc[:1, "y"] = np.nan
    target.loc[10:29, "risk"] = np.nan
    design = design_of(source, target)
    assert (design.rows.source, design.rows.target) == (238, 160)
    assert [(note.level, str(note)) for note in design.notes[:2]] == [
        ("info", "2 of 240 source rows (0.8%) have a missing outcome ('y') and are left out."),
        (
            "warning",
            "20 of 180 target rows (11.1%) have a missing prediction ('risk') and are left out.",
        ),
    ]
    assert design.clusters is not None
    assert len(design.clusters.target) == 160


def test_a_named_whole_number_that_differs_everywhere_is_kept_with_a_warning() -> None:
    source, target = (table.assign(row=np.arange(len(table))) for table in source_and_target())
    design = design_of(source, target, covariates=["row", "visits"])
    assert "Column 'row' differs in every row, like an identifier." in texts(design, "warning")


def test_leakage_is_hinted() -> None:
    source, target = source_and_target()
    for table in (source, target):
        table["copy"] = np.where(table["y"] == 1, "ill", "well")
        table["later"] = table["y"] * 10.0 + np.arange(len(table)) % 7
        table.loc[table.index[table["y"] == 1][0], "later"] = 3.0
    design = design_of(source, target)
    (copied,) = texts(design, "problem")
    assert copied == (
        "Column 'copy' alone gives the outcome in every row: it is the outcome itself, or recorded "
        "after it."
    )
    (later,) = texts(design, "warning")
    assert later == (
        "Column 'later' alone predicts the outcome almost perfectly: it may be the outcome itself, "
        "or recorded after it."
    )


def test_categories_spread_over_columns_are_hinted_and_left_alone() -> None:
    def spread(table: pd.DataFrame) -> pd.DataFrame:
        third = np.arange(len(table)) % 4
        return table.assign(**{f"job_{k}": (third == k).astype(int) for k in range(3)})

    source, target = map(spread, source_and_target())
    hint = (
        "Columns 'job_0', 'job_1', 'job_2' look like one category spread over 3 columns; to give "
        "it one share: groups={'job': [...]}."
    )
    design = design_of(source, target)
    assert hint in texts(design, "info")
    assert "job_0" in [p.name for p in design.players]
    grouped = design_of(source, target, groups={"job": ["job_0", "job_1", "job_2"]})
    assert hint not in texts(grouped)
    assert "job" in [p.name for p in grouped.players]
    as_baseline = design_of(source, target, baseline=["job_0", "job_1", "job_2"])
    assert hint not in texts(as_baseline)


def test_swapped_tables_are_hinted() -> None:
    source, target = source_and_target()
    target["risk"] = target["y"] * 0.8 + 0.1
    note = next(n for n in design_of(source, target).notes if str(n).startswith("accuracy"))
    assert note.level == "warning"
    assert str(note).startswith("accuracy is better in target (1.000) than in source (0.")
    assert str(note).endswith(": if the model was trained on target, swap the two tables.")


def test_a_better_target_by_chance_is_only_said() -> None:
    source, _ = source_and_target()
    target = source.assign(patient=source["patient"] + 1000)
    first = int(np.flatnonzero((target["risk"] >= 0.5) != (target["y"] == 1))[0])
    target.loc[first, "risk"] = float(target.loc[first, "y"])
    note = next(n for n in design_of(source, target).notes if str(n).startswith("accuracy"))
    assert note.level == "info"


def test_labels_for_a_metric_of_probabilities_are_hinted() -> None:
    source, target = (table.assign(risk=table["y"]) for table in source_and_target())
    assert "All predictions are 0 or 1, but brier is meant for probabilities." in texts(
        design_of(source, target, metric="brier"), "warning"
    )


OUTCOMES: dict[str, tuple[Any, Any, Any]] = {
    "0 and 1": (0, 1, None),
    "booleans": (False, True, None),
    "floats": (0.0, 1.0, None),
    "-1 and 1": (-1, 1, None),
    "no and yes": ("no", "yes", None),
    "No and Yes": ("No", "Yes", None),
    "1 and 2, 2 positive": (1, 2, 2),
    "1 and 2, 1 positive": (2, 1, 1),
    "texts": ("well", "ill", "ill"),
    "numbers in text": ("0", "1", None),
    "booleans, False positive": (True, False, False),
}


@pytest.mark.parametrize("kind", OUTCOMES)
@pytest.mark.parametrize("as_label", [False, True])
def test_outcomes_and_labels(kind: str, as_label: bool) -> None:
    negative, positive, named = OUTCOMES[kind]
    truth = source_and_target()
    source, target = (
        table.assign(y=[positive if y else negative for y in table["y"]]) for table in truth
    )
    if as_label:
        source, target = (table.assign(risk=table["y"]) for table in (source, target))
    design = design_of(source, target, positive=named)
    np.testing.assert_array_equal(design.outcome.source, truth[0]["y"])
    expected = truth[1]["y"] if as_label else truth[1]["risk"]
    np.testing.assert_array_equal(design.prediction.target, expected)


def test_weights_clusters_and_known_risk() -> None:
    source, target = source_and_target(known=0.25)
    source.loc[:4, "weight"] = 0.0
    target["patient"] = source["patient"].to_numpy()[: len(target)]
    design = design_of(source, target, weights="weight", source_risk="known")
    assert design.weights is not None
    assert design.clusters is not None
    assert design.source_risk is not None
    np.testing.assert_array_equal(design.weights.source, source["weight"])
    assert set(design.source_risk.target) == {0.25}
    same = source["patient"].to_numpy()[:, None] == source["patient"].to_numpy()
    np.testing.assert_array_equal(design.clusters.source[:, None] == design.clusters.source, same)
    np.testing.assert_array_equal(design.clusters.source[: len(target)], design.clusters.target)
    shared = len(set(target["patient"]))
    assert "5 source rows have weight zero." in texts(design, "info")
    assert (
        f"{shared} clusters ('patient') have rows in both tables: folds keep such rows together, "
        "and standard errors count that they are alike."
    ) in texts(design, "info")


def test_long_cluster_numbers_stay_apart() -> None:
    source, target = source_and_target()
    source["patient"] = 2**60 + np.arange(len(source))
    target["patient"] = 2**61 + np.arange(len(target))
    clusters = design_of(source, target).clusters
    assert clusters is not None
    assert len(np.unique(clusters.source)) == len(source)


@pytest.mark.parametrize(
    ("of_source", "of_target", "start"),
    [
        ("uint64", "uint64", 2**63),  # beyond what signed whole numbers hold
        ("uint64", "int64", 2**53),
        ("int64", "uint64", 2**53),
    ],
)
def test_long_cluster_numbers_without_a_sign_stay_apart(
    of_source: str, of_target: str, start: int
) -> None:
    source, target = source_and_target()
    source["patient"] = np.arange(start, start + len(source), dtype=of_source)
    target["patient"] = np.arange(start, start + len(target), dtype=of_target)
    clusters = design_of(source, target).clusters
    assert clusters is not None
    np.testing.assert_array_equal(clusters.source, np.arange(len(source)))
    np.testing.assert_array_equal(clusters.target, np.arange(len(target)))


def test_cluster_numbers_that_no_type_holds_together_stay_apart() -> None:
    source, target = source_and_target()
    source["patient"] = np.arange(2**63, 2**63 + len(source), dtype="uint64")
    target["patient"] = -np.arange(1, len(target) + 1)
    clusters = design_of(source, target).clusters
    assert clusters is not None
    assert len(np.unique(np.concatenate(list(clusters)))) == len(source) + len(target)


def test_numbers_with_a_comma_among_words_are_numbers_too() -> None:
    source, target = source_and_target()
    for table in (source, target):
        table["lab"] = [f"1.{k % 40 + 100},5" if k % 41 else "-" for k in range(len(table))]
    assert "Column 'lab' is text although nearly all its values are numbers; not so: '-'." in [
        str(note) for note in design_of(source, target).notes
    ]
