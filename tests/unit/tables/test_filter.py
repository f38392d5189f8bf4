"""A rule as a filter: exactly the rows that were meant, whatever kind of table is given."""

from __future__ import annotations

import datetime as dt

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from whygap.errors import WhygapError
from whygap.results import Condition
from whygap.tables.design import MODEL_LABEL, MODEL_SCORE
from whygap.tables.filter import rows_that_fulfil, rule_expression

TABLE = pd.DataFrame(
    {
        "age": [20.0, 35.0, np.nan, 50.0, 35.5],
        "sex": ["F", "M", None, "F", "M"],
        "smokes": [True, False, True, True, False],
        "seen": pd.to_datetime(["2020-01-01", "2020-06-01", None, "2021-01-01", "2019-01-01"]),
        "grade": pd.Categorical(
            ["low", "high", "mid", None, "low"], ["low", "mid", "high"], ordered=True
        ),
        "code": [1, 2, 1, 3, 2],
    }
)
KINDS = {
    "pandas": lambda t: t,
    "polars": pl.from_pandas,
    "lazy polars": lambda t: pl.from_pandas(t).lazy(),
    "pyarrow": pa.Table.from_pandas,
}
RULES = {
    "a number above": ([Condition("age", "above", number=35.0)], "00011"),
    "a number at most": ([Condition("age", "at most", number=35.0)], "11000"),
    "a level": ([Condition("sex", "is", "F")], "10010"),
    "a level nobody has": ([Condition("sex", "is", "X")], "00000"),
    "missing": ([Condition("age", "missing")], "00100"),
    "missing text": ([Condition("sex", "missing")], "00100"),
    "missing date": ([Condition("seen", "missing")], "00100"),
    "true": ([Condition("smokes", "is", "True")], "10110"),
    "true as one": ([Condition("smokes", "is", "1")], "10110"),
    "after a date": ([Condition("seen", "above", "2020-01-01", 18262.0)], "01010"),
    "until a date": ([Condition("seen", "at most", "2020-01-01", 18262.0)], "10001"),
    "an ordered level": ([Condition("grade", "is", "low")], "10001"),
    "a number read as text": ([Condition("code", "is", "2")], "01001"),
    "two conditions": (
        [Condition("sex", "is", "F"), Condition("age", "above", number=35.0)],
        "00010",
    ),
    "a range": (
        [Condition("age", "above", number=20.0), Condition("age", "at most", number=35.5)],
        "01001",
    ),
}


def bits(mask) -> str:
    assert mask.dtype == bool
    return "".join("1" if one else "0" for one in mask)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", RULES)
def test_the_rows_that_were_meant(kind, rule):
    conditions, expected = RULES[rule]
    assert bits(rows_that_fulfil(conditions, KINDS[kind](TABLE))) == expected


def test_a_file_gives_the_same_rows(tmp_path):
    TABLE.to_parquet(tmp_path / "t.parquet")
    conditions, expected = RULES["two conditions"]
    assert bits(rows_that_fulfil(conditions, tmp_path / "t.parquet")) == expected


def test_truth_values_written_as_numbers_are_understood():
    ones = TABLE.assign(smokes=TABLE["smokes"].astype(int))
    assert bits(rows_that_fulfil([Condition("smokes", "is", "False")], ones)) == "01001"


def test_plain_dates_work_like_timestamps():
    plain = pa.table({"seen": pa.array([dt.date(2020, 1, 1), dt.date(2020, 1, 2), None])})
    after = Condition("seen", "above", "2020-01-01", 18262.0)
    assert bits(rows_that_fulfil([after], plain)) == "010"


def test_an_empty_text_is_a_level():
    table = pd.DataFrame({"x": ["", "a", None]})
    rule = Condition("x", "is", "")
    assert bits(rows_that_fulfil([rule], table)) == "100"
    assert str(rule) == "x is (empty)"


def test_numbers_that_counted_as_missing_do_so_again():
    table = pd.DataFrame({"x": [1.0, np.inf, 1e200, -np.inf]})
    assert bits(rows_that_fulfil([Condition("x", "missing")], table)) == "0111"
    assert bits(rows_that_fulfil([Condition("x", "above", number=0.0)], table)) == "1000"


SCORE = [Condition(MODEL_SCORE, "above", number=0.5)]


@pytest.mark.parametrize("kind", [list, pl.Series, pa.array])
def test_scores_are_given_beside_the_table(kind):
    assert bits(rows_that_fulfil(SCORE, TABLE, kind([0.1, 0.6, 0.5, 0.9, 0.2]))) == "01010"


def test_scores_may_be_a_column():
    table = TABLE.assign(p=[0.1, 0.6, 0.5, 0.9, 0.2])
    assert bits(rows_that_fulfil(SCORE, table, "p")) == "01010"
    both = [*SCORE, Condition("sex", "is", "F")]
    assert bits(rows_that_fulfil(both, table, "p")) == "00010"


REFUSED = {
    "no scores": (
        (SCORE, TABLE),
        (
            "The rule speaks of the model's score, which must be one per row of the table. Got "
            "none. rule.mask(table, prediction=...): an array, or the name of a column."
        ),
    ),
    "too few scores": (
        (SCORE, TABLE, [0.1, 0.2]),
        (
            "The rule speaks of the model's score, which must be one per row of the table. Got "
            "shape (2,) for 5 rows. rule.mask(table, prediction=...): an array, or the name of a "
            "column."
        ),
    ),
    "words as scores": (
        (SCORE, TABLE, ["a"] * 5),
        (
            "The model's scores must be numbers. Got could not convert string to float: 'a'. "
            "rule.mask(table, prediction=...): an array, or the name of a column."
        ),
    ),
    "no such score column": (
        (SCORE, TABLE, "ages"),
        "The rule needs column 'ages', which the table lacks. Did you mean 'age'?",
    ),
    "no such column": (
        ([Condition("agge", "missing")], TABLE),
        "The rule needs column 'agge', which the table lacks. Did you mean 'age'?",
    ),
    "text for a number": (
        ([Condition("sex", "above", number=3.0)], TABLE),
        (
            "The rule compares column 'sex' with a number. Got text in the table. Give it the "
            "type it has in the study."
        ),
    ),
    "a number for a date": (
        ([Condition("age", "above", "2020-01-01", 18262.0)], TABLE),
        (
            "The rule compares column 'age' with a date. Got number in the table. Give it the "
            "type it has in the study."
        ),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_compared_is_refused_in_words(case):
    arguments, message = REFUSED[case]
    with pytest.raises(WhygapError) as caught:
        rows_that_fulfil(*arguments)
    assert str(caught.value) == message


def test_a_rule_on_the_models_class():
    rule = [Condition(MODEL_LABEL, "is", level="b")]
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    assert list(rows_that_fulfil(rule, table, ["a", "b", "b"])) == [False, True, True]
    assert list(rows_that_fulfil(rule, pd.DataFrame({"said": ["b", "a"]}), "said")) == [True, False]
    with pytest.raises(WhygapError) as caught:
        rows_that_fulfil(rule, table)
    assert str(caught.value) == (
        "The rule speaks of the model's label, which must be one per row of the table. Got none. "
        "rule.mask(table, prediction=...): an array, or the name of a column."
    )


@pytest.mark.parametrize(
    ("level", "labels", "wanted"),
    [
        ("1", [1.0, 0.0, 1.0], "101"),
        ("1", [True, False, True], "101"),
        ("True", [1, 0, 1], "101"),
        ("1", ["1", "0", "1"], "101"),
        ("2.5", [2.5, 3.0, np.nan], "100"),
        ("b", pd.Series(["b", None, "a"], dtype=object), "100"),
        ("b", pd.Categorical(["b", "b", "a"]), "110"),
    ],
)
def test_the_models_labels_are_compared_as_columns_are(level, labels, wanted):
    rule = [Condition(MODEL_LABEL, "is", level=level)]
    assert bits(rows_that_fulfil(rule, pd.DataFrame({"x": [1.0, 2.0, 3.0]}), labels)) == wanted


@pytest.mark.parametrize(
    ("level", "labels", "got"),
    [
        ("b", [1.0, 0.0, 1.0], "Got numbers."),
        ("b", [0.5, 0.25, 0.75], "Got 0.5."),
        ("1", [1.0, 0.0, 0.75], "Got 0.75."),
    ],
)
def test_scores_are_no_labels(level, labels, got):
    rule = [Condition(MODEL_LABEL, "is", level=level)]
    with pytest.raises(WhygapError) as caught:
        rows_that_fulfil(rule, pd.DataFrame({"x": [1.0, 2.0, 3.0]}), labels)
    assert str(caught.value) == (
        f"The rule asks whether the model's label is '{level}'. {got} "
        "Give labels as the outcome has them, not scores."
    )


def test_labels_of_several_types_are_no_labels():
    rule = [Condition(MODEL_LABEL, "is", level="b")]
    labels = np.array([1, "b", "a"], dtype=object)
    with pytest.raises(WhygapError) as caught:
        rows_that_fulfil(rule, pd.DataFrame({"x": [1.0, 2.0, 3.0]}), labels)
    assert str(caught.value) == (
        "The model's labels are of several types. Got int, str. All must be numbers, or all text."
    )


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas])
def test_a_rule_is_an_expression_of_any_table(kind):
    plain = pd.DataFrame(
        {"sex": ["f", "m", None], "age": [20.0, 40.0, 60.0], "born": pd.to_datetime(["2001"] * 3)}
    )
    conditions = [
        Condition("sex", "is", "m"),
        Condition("age", "above", number=30.0),
        Condition("born", "at most", "2001-01-01", 11323.0),
    ]
    table = nw.from_native(kind(plain))
    assert table.filter(rule_expression(conditions))["age"].to_list() == [40.0]
    missing = rule_expression([Condition("sex", "missing")])
    assert table.filter(missing)["age"].to_list() == [60.0]
    np.testing.assert_array_equal(rows_that_fulfil(conditions, plain), [False, True, False])
