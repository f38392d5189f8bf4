"""The study file: read, refused, drafted."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from whygap.errors import InputError, ModelError, SettingsError, TableError, WhygapError
from whygap.settings import DETAILS, Settings
from whygap.study_file import draft_study, read_study_file


def table(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "row_key": [f"{seed}-{i}" for i in range(rows)],
            "age": rng.normal(50, 10, rows),
            "sex": rng.choice(["f", "m"], rows),
            "hb": rng.normal(13, 2, rows),
            "risk": rng.random(rows),
            "readmitted": rng.integers(0, 2, rows),
            "patient_id": rng.integers(0, rows // 2, rows) + 1000 * seed,
            "survey_weight": rng.random(rows) + 0.5,
        }
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    table(120, 1).to_parquet(tmp_path / "before.parquet")
    table(90, 2).to_csv(tmp_path / "after.csv", index=False)
    both = pd.concat([table(120, 1).assign(site="A"), table(90, 2).assign(site="B")])
    both.to_parquet(tmp_path / "both.parquet")
    return tmp_path


BASE = """
source = "before.parquet"
target = "after.csv"
outcome = "readmitted"
baseline = ["age", "sex"]
covariates = ["hb"]
prediction = "risk"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "study.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_study_file_is_a_study_and_settings(folder: Path) -> None:
    text = BASE + 'metric = "brier"\nweights = "survey_weight"\nclusters = "patient_id"\n'
    found = read_study_file(written(folder, text + "[settings]\nseed = 7\nfolds = 3\n"))
    study, settings = found.study, found.settings
    assert settings == Settings(seed=7, folds=3)
    assert study.roles.covariates == ("hb",)
    assert study.design.metric.name == "brier"
    assert (study.design.rows.source, study.design.rows.target) == (120, 90)


def test_paths_are_relative_to_the_file(folder: Path, monkeypatch: Any, tmp_path: Path) -> None:
    path = written(folder, BASE)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert read_study_file(path).study.design.rows.source == 120


@pytest.mark.parametrize("kept", ["kept", "{folder}/other/kept"])
def test_a_checkpoint_is_kept_beside_the_file(folder: Path, monkeypatch: Any, kept: str) -> None:
    named = kept.format(folder=folder)
    path = written(folder, f'{BASE}[settings]\ncheckpoint = "{named}"\n')
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    assert read_study_file(path).settings.checkpoint == str(folder / named)


def test_one_file_for_both_domains(folder: Path) -> None:
    text = BASE.replace('"before.parquet"', '{ path = "both.parquet", where = { site = "A" } }')
    text = text.replace('"after.csv"', '{ path = "both.parquet", where = { site = "B" } }')
    text = text.replace('covariates = ["hb"]', 'drop = ["row_key", "survey_weight"]')
    study = read_study_file(written(folder, text + 'clusters = "patient_id"\n')).study
    assert (study.design.rows.source, study.design.rows.target) == (120, 90)
    assert study.roles.covariates == ("hb",)


def test_duckdb_queries_see_files_beside_the_study(folder: Path) -> None:
    text = BASE.replace('"before.parquet"', "\"SELECT * FROM 'both.parquet' WHERE site = 'A'\"")
    text = text.replace('"after.csv"', "\"FROM 'both.parquet' WHERE site = 'B'\"")
    assert read_study_file(written(folder, text)).study.design.rows.target == 90


def test_a_model_beside_the_study(folder: Path) -> None:
    (folder / "beside.py").write_text("def ask(table):\n    return (table['hb'].to_numpy() > 13)\n")
    text = BASE.replace('prediction = "risk"', 'model = "beside:ask"')
    design = read_study_file(written(folder, text)).study.design
    np.testing.assert_array_equal(design.prediction.source, table(120, 1)["hb"] > 13)


def test_a_metric_beside_the_study(folder: Path) -> None:
    (folder / "besides.py").write_text(
        "def distance(prediction, outcome):\n    return abs(prediction - outcome)\n"
    )
    study = read_study_file(written(folder, BASE + 'metric = "besides:distance"\n')).study
    assert study.design.metric.name == "distance"


def test_detail_report_targets_and_groups(folder: Path) -> None:
    text = BASE.replace('["hb"]', '["hb", "survey_weight"]')
    text += 'detail = ["points"]\nreport = "gap.html"\n'
    text += '[groups]\nlabs = ["hb"]\n[targets]\n"site B" = "after.csv"\n'
    found = read_study_file(written(folder, text))
    assert found.detail == ("points",)
    assert found.report == folder / "gap.html"
    assert found.targets == {"site B": folder / "after.csv"}
    assert [p.name for p in found.study.design.players] == ["labs", "survey_weight"]


@pytest.mark.parametrize(
    ("text", "names"), [('"all"', DETAILS), ("[]", ()), ('"points"', ("points",))]
)
def test_details_by_a_word_or_a_list(folder: Path, text: str, names: tuple[str, ...]) -> None:
    assert read_study_file(written(folder, f"{BASE}detail = {text}\n")).detail == names


REFUSED: dict[str, tuple[str, type[WhygapError], str]] = {
    "unknown key": (
        BASE + 'outcom = "y"\n',
        InputError,
        "There is no key 'outcom' in the study file 'study.toml'. Did you mean 'outcome'?",
    ),
    "unknown setting": (
        BASE + "[settings]\nfold = 3\n",
        SettingsError,
        "There is no setting 'fold'. Did you mean 'folds'?",
    ),
    "no outcome": (
        'source = "before.parquet"\ntarget = "after.csv"\n',
        InputError,
        (
            "The study file 'study.toml' does not name the outcome. "
            "A commented one is written by: whygap init."
        ),
    ),
    "a pickle cannot be allowed here": (
        BASE + "unsafe_pickle = true\n",
        InputError,
        (
            "A study file ('study.toml') cannot allow pickles. "
            "Say it where you run it: --unsafe-pickle, or unsafe_pickle=True."
        ),
    ),
    "settings is no table": (
        BASE + "settings = 3\n",
        InputError,
        (
            "The key 'settings' in the study file 'study.toml' must be a table of names and "
            "values. Got 3."
        ),
    ),
    "source is a number": (
        BASE.replace('"before.parquet"', "3"),
        TableError,
        ("A table in a study file is a path, { path, where, drop } or { database, query }. Got 3."),
    ),
    "table with an unknown key": (
        BASE.replace('"before.parquet"', '{ path = "both.parquet", were = 3 }'),
        TableError,
        (
            "A table in a study file is a path, { path, where, drop } or { database, query }. "
            "Got {'path': 'both.parquet', 'were': 3}."
        ),
    ),
    "where that no row fulfils": (
        BASE.replace('"before.parquet"', '{ path = "both.parquet", where = { site = "C" } }'),
        TableError,
        "No row of the source table has 'site' equal to 'C'.",
    ),
    "unknown detail": (
        BASE + 'detail = ["pointss"]\n',
        SettingsError,
        "There is no detail 'pointss'. Did you mean 'points'?",
    ),
    "model is a number": (
        BASE + "model = 3\n",
        InputError,
        "The key 'model' in the study file 'study.toml' must be text. Got 3.",
    ),
    "model that is not there": (
        BASE.replace('prediction = "risk"', 'model = "none.onnx"'),
        ModelError,
        "The model '{folder}/none.onnx' does not exist.",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_refused_study_files(kind: str, folder: Path) -> None:
    text, error, message = REFUSED[kind]
    with pytest.raises(error) as caught:
        _ = read_study_file(written(folder, text)).study.design
    assert str(caught.value) == message.replace("{folder}", str(folder))


def test_a_file_that_is_not_toml(folder: Path) -> None:
    path = written(folder, "source = \n")
    with pytest.raises(InputError) as caught:
        read_study_file(path)
    assert str(caught.value) == (
        f"The study file '{path}' is not valid TOML. Got Invalid value (at line 1, column 10)."
    )


def test_a_file_that_is_not_there(folder: Path) -> None:
    written(folder, BASE)
    with pytest.raises(InputError) as caught:
        read_study_file(folder / "stdy.toml")
    assert str(caught.value) == (
        f"The study file '{folder / 'stdy.toml'}' does not exist. Did you mean 'study.toml'?"
    )


def test_the_generic_draft_is_toml_with_every_needed_key() -> None:
    values = tomllib.loads(draft_study())
    assert values["source"] == "source.parquet"
    assert values["baseline"] == ["age", "sex"]
    assert {"outcome", "prediction", "metric", "settings"} <= set(values)
    assert "guess" not in draft_study()


def test_a_draft_from_data_guesses_roles_and_says_so(folder: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(folder)
    text = draft_study("before.parquet", "after.csv")
    values = tomllib.loads(text)
    assert values["outcome"] == "readmitted"
    assert values["prediction"] == "risk"
    assert values["weights"] == "survey_weight"
    assert values["clusters"] == "patient_id"
    assert values["baseline"] == ["age", "sex"]
    assert values["covariates"] == ["hb"]
    assert 'outcome = "readmitted"  # guess: please check' in text
    assert '# left out, they differ in every row: ["row_key"]  # guess: please check' in text


def test_a_draft_from_data_runs_as_it_is(folder: Path) -> None:
    text = draft_study(folder / "before.parquet", folder / "after.csv")
    found = read_study_file(written(folder, text))
    study, settings = found.study, found.settings
    assert study.design.rows.source == 120
    assert settings == Settings()


def test_a_draft_names_the_positive_value_when_it_is_not_obvious(folder: Path) -> None:
    for name, seed in (("s", 1), ("t", 2)):
        odd = table(90, seed).rename(columns={"hb": 'quo"te'})
        odd["readmitted"] = np.where(odd["readmitted"] == 1, "ill", "well")
        odd.drop(columns="risk").to_parquet(folder / f"{name}.parquet")
    text = draft_study(folder / "s.parquet", folder / "t.parquet")
    values = tomllib.loads(text)
    assert values["positive"] == "well"
    assert 'quo"te' in values["covariates"]
    assert 'prediction = "prediction"  # nothing fits: please fill in' in text


def test_a_draft_needs_both_tables_or_none() -> None:
    with pytest.raises(InputError) as caught:
        draft_study("before.parquet", None)
    assert str(caught.value) == (
        "To guess roles, both tables are needed. Got only the source. "
        "Name both, or neither for a generic template."
    )


def test_a_draft_takes_no_feature_for_the_prediction(folder: Path) -> None:
    rng = np.random.default_rng(0)
    for name, seed in (("s", 1), ("t", 2)):
        share = table(90, seed).rename(columns={"risk": "share_of_time"})
        share.to_parquet(folder / f"{name}.parquet")
        both = table(90, seed).assign(death_risk=rng.random(90))
        both.to_csv(folder / f"{name}.csv")
    text = draft_study(folder / "s.parquet", folder / "t.parquet")
    assert 'prediction = "prediction"  # nothing fits: please fill in' in text
    assert "share_of_time" in tomllib.loads(text)["covariates"]
    text = draft_study(folder / "s.csv", folder / "t.csv")
    assert 'prediction = "prediction"  # nothing fits: please fill in' in text
    assert {"risk", "death_risk"} <= set(tomllib.loads(text)["covariates"])
    assert '# left out, they differ in every row: ["", "row_key"]  # guess' in text


def test_a_table_far_away_in_a_study_file(folder: Path) -> None:
    text = 'source = "s3://bucket/a.csv"\ntarget = "after.csv"\noutcome = "y"\n'
    with pytest.raises(TableError) as caught:
        read_study_file(written(folder, text))
    assert str(caught.value) == (
        "The source table is not on this machine. Got s3://bucket/a.csv. Download it first, or "
        'read it yourself and pass the table:\n    source = pandas.read_csv("s3://bucket/a.csv")\n'
        "    study = whygap.Study(source=source, ...)"
    )
