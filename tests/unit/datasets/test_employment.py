"""The shipped employment tables hold what the data card says."""

from __future__ import annotations

import subprocess
import sys
from importlib import resources
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from whygap.datasets import load_employment
from whygap.datasets.employment import EMPLOYMENT
from whygap.errors import SettingsError

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def employment():
    return load_employment()


def test_rows_and_columns_are_those_of_the_data_card(employment):
    expected = [v.name for v in EMPLOYMENT] + ["employed", "probability"]
    assert employment.source.num_rows == 8000
    assert employment.target.num_rows == 3655
    assert employment.source.column_names == expected
    assert employment.target.schema.equals(employment.source.schema)


def test_roles_cover_every_column_once(employment):
    named = [
        *employment.baseline,
        *employment.covariates,
        employment.outcome,
        employment.prediction,
    ]
    assert sorted(named) == sorted(employment.source.column_names)
    assert employment.baseline == ("age", "sex", "race")


def test_accuracy_is_the_published_models(employment):
    accuracy = {}
    for domain in ("source", "target"):
        table = getattr(employment, domain)
        called = table["probability"].to_numpy() >= 0.5
        accuracy[domain] = float(np.mean(called == table["employed"].to_numpy()))
    assert accuracy["target"] == pytest.approx(0.7316, abs=5e-5)  # all rows of the published table
    error = np.sqrt(0.8037 * 0.1963 / 8000)  # 8,000 of 34,519 rows
    assert abs(accuracy["source"] - 0.8037) < 2.58 * error


def test_values_are_complete_and_in_range(employment):
    for table in (employment.source, employment.target):
        assert all(column.null_count == 0 for column in table.columns)
        age, probability = table["age"].to_numpy(), table["probability"].to_numpy()
        assert (age.min(), age.max()) == (18, 64)
        assert 0 < probability.min() < probability.max() < 1
        assert set(table["employed"].to_pylist()) == {0, 1}


def test_categories_are_the_codebooks_texts(employment):
    for variable in EMPLOYMENT:
        kind = employment.source.schema.field(variable.name).type
        if not variable.labels:
            continue
        assert pa.types.is_dictionary(kind)
        assert kind.ordered == variable.ordered
        levels = employment.source[variable.name].chunk(0).dictionary.to_pylist()
        assert levels == list(employment.labels[variable.name].values())


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_other_kinds_hold_the_same_values(employment, kind):
    other = load_employment(kind)
    assert type(other.target).__module__.startswith(kind)
    for name in employment.target.column_names:
        assert list(other.target[name]) == employment.target[name].to_pylist()


def test_schooling_keeps_its_order_in_pandas_and_polars():
    schooling = list(load_employment().labels["schooling"].values())
    in_pandas = load_employment("pandas").source["schooling"].dtype
    assert in_pandas.ordered
    assert list(in_pandas.categories) == schooling
    in_polars = load_employment("polars").source["schooling"].dtype
    assert in_polars.categories.to_list() == schooling


def test_an_unknown_kind_is_refused_in_full_words():
    with pytest.raises(SettingsError) as caught:
        load_employment("panda")
    assert str(caught.value) == (
        "The tables can be had as 'pyarrow', 'pandas', 'polars'. Got 'panda'. "
        "Did you mean 'pandas'?"
    )


def test_the_files_are_small_and_carry_their_licence():
    folder = resources.files("whygap.datasets")
    sizes = [
        len(folder.joinpath(f"employment_{d}.parquet").read_bytes()) for d in ("source", "target")
    ]
    assert sum(sizes) < 300_000
    licence = folder.joinpath("LICENSE-employment.txt").read_text()
    assert "Apache License" in licence
    assert "Changed here" in licence


def test_the_script_refuses_a_file_that_is_not_the_wheel(tmp_path):
    wrong = tmp_path / "wrong.whl"
    wrong.write_bytes(b"not a zip")
    before = load_employment().source
    script = ROOT / "scripts" / "make_employment.py"
    done = subprocess.run([sys.executable, script, wrong], capture_output=True, text=True)
    assert done.returncode != 0
    assert load_employment().source.equals(before)
