"""Real tables from the study files in docs/examples, without any preparation.

The tables are not shipped: these tests look for them in WHYGAP_DATA, then in ../shared/data beside
the repository, and are skipped where they are not found.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs" / "examples"
SURVEY = "acs_public_coverage_2018.parquet"
HOSPITAL = "hospital_readmission.parquet"


def data_with(name: str) -> Path:
    """The folder that holds this table."""
    named = os.environ.get("WHYGAP_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    if not (folder / name).exists():
        pytest.skip(f"the table {name} is not here; name its folder in WHYGAP_DATA")
    return folder


def beside_its_table(study: str, table: str, folder: Path) -> Path:
    """A copy of the examples with the real data beside it, where the study files expect them."""
    data = data_with(table)
    shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True)
    (folder / "data").symlink_to(data.resolve(), target_is_directory=True)
    return folder / study


def explained(shell, study: Path) -> dict:
    """The result of `whygap explain`, details left out, run in a process of its own."""
    out = study.parent / "gap.json"
    done = shell("explain", study, "--detail", "none", "-o", out, "--json")
    assert done.code == 0, done.err
    assert "Traceback" not in done.err
    return json.loads(out.read_text())


def assert_adds_up(gap: dict) -> None:
    parts = gap["parts"]
    assert list(parts) == ["baseline", "covariate", "outcome"]
    whole = sum(part["value"] for part in parts.values())
    assert whole == pytest.approx(gap["total"]["value"], abs=1e-9)
    for estimate in (gap["total"], *parts.values()):
        assert 0 < estimate["standard_error"] < 0.05


@pytest.mark.slow
def test_a_survey_with_weights_and_households(shell, tmp_path):
    gap = explained(shell, beside_its_table("insurance.toml", SURVEY, tmp_path))
    assert_adds_up(gap)
    about = gap["about"]
    rows, effective = about["rows"], about["effective_rows"]
    assert (rows["source"], rows["target"]) == (6332, 7136)
    assert 0.3 < effective["source"] / rows["source"] < 0.9
    assert 0.3 < effective["target"] / rows["target"] < 0.9
    table = pq.read_table(tmp_path / "data" / SURVEY, columns=["state", "public_coverage"])
    assert table.num_rows > rows["source"] + rows["target"]


@pytest.mark.slow
def test_encounters_of_patients(shell, tmp_path):
    gap = explained(shell, beside_its_table("readmission.toml", HOSPITAL, tmp_path))
    assert_adds_up(gap)
    rows = gap["about"]["rows"]
    assert rows["source"] + rows["target"] == 99_340
    facts = {note["kind"]: note["facts"] for note in gap["notes"]}
    assert facts["shared_clusters"]["column"] == "patient_id"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("study", "table"), [("insurance.toml", SURVEY), ("readmission.toml", HOSPITAL)]
)
def test_what_check_says_of_them(shell, tmp_path, study, table):
    done = shell("check", beside_its_table(study, table, tmp_path), "--set", "learner=fast")
    assert done.code == 0, done.out + done.err
    for title in ("Rows", "Roles", "Overlap", "Cost", "Verdict"):
        assert title in done.out
    assert "clusters" in done.out


def test_the_study_files_name_only_what_is_beside_them():
    for study in EXAMPLES.glob("*.toml"):
        text = study.read_text(encoding="utf-8")
        assert '"data/' in text
        assert f'"{os.sep}' not in text
