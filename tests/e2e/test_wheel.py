"""What is installed: the package with its data, and no experiment, test or evidence."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return next(folder.glob("whygap-*.whl"))


def names_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def files_of_the_package() -> set[str]:
    files = (path for path in (SOURCE / "whygap").rglob("*") if path.is_file())
    return {
        path.relative_to(SOURCE).as_posix() for path in files if "__pycache__" not in path.parts
    }


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    names = names_in(wheel)
    metadata = {name for name in names if name.split("/")[0].endswith(".dist-info")}
    assert names - metadata == files_of_the_package()


@pytest.mark.parametrize("folder", ["experiments", "tests", "evidence", "benchmarks", "docs"])
def test_what_only_developers_need_stays_out(wheel, folder):
    assert (ROOT / folder).is_dir()
    assert [name for name in names_in(wheel) if folder in Path(name).parts] == []


@pytest.mark.parametrize(
    "name",
    [
        "py.typed",
        "tables/study_template.toml",
        "render/templates/report.html",
        "render/templates/report.js",
        "render/templates/report.css",
        "render/templates/target.html",
        "render/templates/notebook.html",
        "datasets/employment.toml",
        "datasets/employment_source.parquet",
        "datasets/employment_target.parquet",
    ],
)
def test_what_the_package_reads_is_inside(wheel, name):
    assert f"whygap/{name}" in names_in(wheel)


def test_the_unpacked_wheel_reads_its_own_data(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    script = "import whygap as wg; wg.datasets.load_employment(); print(wg.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{tmp_path / 'whygap' / '__init__.py'}\n"
