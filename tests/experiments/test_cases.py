"""The case studies' tables, on made-up files with the same columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from experiments import run as run_experiment
from experiments.cases import Move, insurance_study, readmission_study
from experiments.casestudy import run
from experiments.pools import is_current, load_pool, save_pool
from experiments.simulation import Order
from whygap.errors import InputError, SettingsError


def people(rows, state, rng):
    age = rng.integers(18, 64, rows)
    income = rng.integers(0, 30000, rows)
    covered = rng.random(rows) < 1 / (1 + np.exp(income / 9000 - 1.5))
    return {
        "state": [state] * rows,
        "SEX": rng.integers(1, 3, rows),
        "AGEP": age,
        "race_white": rng.integers(0, 2, rows),
        "PINCP": income,
        "DIS": rng.integers(1, 3, rows),
        "constant": np.ones(rows),
        "person_weight": np.ones(rows),
        "household": np.arange(rows),
        "public_coverage": covered.astype(int),
    }


@pytest.fixture
def insurance(tmp_path):
    rng = np.random.default_rng(0)
    parts = [pa.table(people(rows, state, rng)) for rows, state in ((3700, "NE"), (500, "WV"))]
    pyarrow.parquet.write_table(
        pa.concat_tables(parts), tmp_path / "acs_public_coverage_2018.parquet"
    )
    return tmp_path


def test_the_insurance_study_trains_on_other_rows(insurance):
    study = insurance_study(insurance, Move("NE", "WV"), rows=(300, 400))
    assert (study.design.rows.source, study.design.rows.target) == (300, 400)
    assert [p.name for p in study.design.players] == ["PINCP", "DIS"]
    assert study.source_name == "NE 2018"
    everything = insurance_study(insurance, Move("NE", "WV"), rows=(None, None))
    assert everything.design.rows.source == 3700


def test_moves_have_names_and_files():
    assert Move("NE", "WV").name == "NE to WV"
    assert Move("NE", "NE", 2018, 2024).name == "NE 2018 to NE 2024"
    assert Move("NE", "NE", 2018, 2024).file == "acs_public_coverage_2018_2024.parquet"


def test_patients_stay_together_and_in_one_domain(tmp_path):
    rng = np.random.default_rng(1)
    rows = 24000
    patient = rng.integers(0, 15000, rows)
    names = ("age", "female", "race_black", "race_hispanic", "race_asian")
    used = ("time_in_hospital", "num_lab_procedures", "num_procedures", "num_medications")
    more = ("number_outpatient", "number_emergency", "number_inpatient", "number_diagnoses")
    columns = {name: rng.integers(0, 2, rows) for name in (*names, *used, *more, "dx_ckd")}
    columns |= {
        "hf": (rng.random(15000) < 0.08).astype(int)[patient],
        "readmit_30": rng.integers(0, 2, rows),
        "patient_id": patient,
    }
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "hospital_readmission.parquet")
    study = readmission_study(tmp_path, rows=None)
    source, target = (np.unique(t["patient_id"]) for t in (study.source, study.target))
    assert not np.intersect1d(source, target).size
    assert study.design.clusters is not None
    assert len(study.source) < rows * 0.92 - 18000, "training rows are not analysed"


def test_missing_data_are_named(tmp_path, monkeypatch):
    monkeypatch.delenv("WHYGAP_DATA", raising=False)
    with pytest.raises(InputError) as caught:
        run(Order(tmp_path))
    assert str(caught.value) == (
        "This study needs data that are not shipped. "
        "Give their folder with --data DIR or in WHYGAP_DATA."
    )
    monkeypatch.setenv("WHYGAP_DATA", str(tmp_path / "empty"))
    with pytest.raises(InputError) as caught:
        run_experiment("casestudy readmission", Order(tmp_path))
    assert str(caught.value) == (
        f"The file 'hospital_readmission.parquet' is not in '{tmp_path / 'empty'}'. "
        "It holds UCI 'Diabetes 130-US hospitals 1999-2008'."
    )


def test_an_unknown_case_is_refused(tmp_path):
    with pytest.raises(SettingsError) as caught:
        run(Order(tmp_path), case="insurence")
    assert str(caught.value) == ("There is no case study 'insurence'. Did you mean 'insurance'?")


def test_a_pool_survives_its_file(insurance, tmp_path):
    from experiments.worlds.semisynthetic import from_design

    study = insurance_study(insurance, Move("NE", "WV"), rows=(None, None))
    world = from_design(study.design)
    assert not is_current(tmp_path / "pool.npz")
    again = load_pool(save_pool(world, tmp_path / "pool.npz"))
    assert is_current(tmp_path / "pool.npz")
    assert not is_current(tmp_path / "pool.npz", "other rows")
    assert again.players == world.players
    assert again.outcome_truth((0,)) == world.outcome_truth((0,))
    with pytest.raises(InputError) as caught:
        load_pool(tmp_path / "none.npz")
    assert str(caught.value) == (
        f"The pool '{tmp_path / 'none.npz'}' is not there. "
        "Run 'python -m experiments semisynthetic --data DIR' once to build it."
    )
