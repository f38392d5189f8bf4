"""Louisiana through folktables: raw survey codes become the columns of the other tables."""

from __future__ import annotations

import socket

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from experiments.louisiana import KEPT, coverage_columns, louisiana_table
from whygap.errors import InputError

FEATURES = 34


def people(**changes):
    """Four persons in the survey's own codes: one is too old, one too rich."""
    columns = {
        "ST": [31, 22, 22, 22],
        "AGEP": [40, 15, 65, 30],
        "PINCP": [30000.0, np.nan, 0.0, 30001.0],
        "SEX": [1, 2, 1, 1],
        "DIS": [1, 2, 2, 2],
        "ESP": [np.nan, 3, np.nan, np.nan],
        "MIG": [1.0, 3.0, 1.0, 1.0],
        "MIL": [4, np.nan, 4, 4],
        "ANC": [1, 2, 1, 1],
        "NATIVITY": [1, 2, 1, 1],
        "DEAR": [2, 2, 2, 2],
        "DEYE": [2, 1, 2, 2],
        "DREM": [2, 2, 2, 2],
        "FER": [np.nan, 2, np.nan, np.nan],
        "MAR": [3, 5, 1, 1],
        "RAC1P": [1, 2, 1, 1],
        "SCHL": [22, 16, 1, 1],
        "CIT": [1, 5, 1, 1],
        "ESR": [2, np.nan, 6, 1],
        "PUBCOV": [2, 1, 1, 1],
    }
    return pd.DataFrame(columns | changes)


def test_survey_codes_become_columns():
    table = coverage_columns(people(PINCP=[30000.0, 0.0, 0.0, 30001.0]))
    assert table.num_columns == FEATURES + 2
    one, two = table.to_pylist()
    assert (one["state"], two["state"]) == ("NE", "LA")
    assert (one["public_coverage"], two["public_coverage"]) == (0, 1)
    assert [name for name in ("married", "divorced", "never") if one[name]] == ["divorced"]
    assert (one["schl_postgrad"], two["schl_at_least_high_school_or_ged"]) == (1, 1)
    assert (two["schl_at_least_bachelor"], two["race_white"], two["CIT_not"]) == (0, 0, 1)
    assert one["ESR_partial_employed"] == 1
    assert sum(two[name] for name in two if name.startswith("ESR")) == 0, (
        "children have no work code"
    )
    assert (one["ESP"], one["FER"], two["MIL"]) == (0, 0, 0), "missing is 0"


def test_a_kept_table_is_used(tmp_path):
    pyarrow.parquet.write_table(pa.table({"state": ["LA"]}), tmp_path / KEPT)
    assert louisiana_table(tmp_path).to_pylist() == [{"state": "LA"}]


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(InputError) as caught:
        louisiana_table(tmp_path)
    assert str(caught.value) == (
        "NE to LA in 2018 needs the package folktables. Install it with pip install 'whygap[acs]'."
    )


def test_a_missing_connection_is_named(tmp_path, monkeypatch):
    pytest.importorskip("folktables")

    def refuse(*_, **__):
        raise OSError("no route to host")

    monkeypatch.setattr(socket, "create_connection", refuse)
    with pytest.raises(InputError) as caught:
        louisiana_table(tmp_path)
    assert str(caught.value) == (
        "NE to LA in 2018 is fetched from www2.census.gov, which cannot be reached. "
        "Got no route to host. Run it where it can, or put psam_p31.csv and psam_p22.csv of the "
        f"2018 1-year person files into '{tmp_path / '2018' / '1-Year'}'."
    )


def test_files_that_are_there_are_read_without_a_connection(tmp_path, monkeypatch):
    pytest.importorskip("folktables")
    monkeypatch.setattr(socket, "create_connection", None)
    folder = tmp_path / "2018" / "1-Year"
    folder.mkdir(parents=True)
    raw = people(PINCP=[30000.0, 0.0, 0.0, 30001.0])
    raw.insert(0, "SERIALNO", range(4))
    raw[raw["ST"] == 31].to_csv(folder / "psam_p31.csv", index=False)
    raw[raw["ST"] == 22].to_csv(folder / "psam_p22.csv", index=False)
    assert louisiana_table(tmp_path)["state"].to_pylist() == ["NE", "LA"]
    assert (tmp_path / KEPT).exists()
