"""A small world on disk, a result made from it, and two ways to call the command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from command_line import Done
from command_line import call as call

from experiments.worlds import gaussian

STUDY = """\
source = "source.parquet"
target = "target.parquet"
outcome = "y"
baseline = ["W"]
covariates = ["Z1", "Z2", "Z3"]
prediction = "prediction"
metric = "accuracy"
"""
QUICK = ("--set", "learner=fast", "--set", "folds=3", "--seed", "1")


def in_shell(*arguments: object, cwd: Path | None = None) -> Done:
    """Run the command line as its own process."""
    command = [sys.executable, "-m", "whygap", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=300)
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def shell():
    return in_shell


@pytest.fixture(scope="session")
def world(tmp_path_factory) -> Path:
    """A folder with source.parquet, target.parquet and study.toml, of the coverage world."""
    folder = tmp_path_factory.mktemp("world")
    for name, table in zip(("source", "target"), gaussian.tables(1500, 3), strict=True):
        pq.write_table(table, folder / f"{name}.parquet")
    (folder / "study.toml").write_text(STUDY)
    return folder


@pytest.fixture(scope="session")
def result(world) -> Path:
    """gap.json of that world, all details, written by the command itself."""
    path = world / "gap.json"
    done = in_shell("explain", world / "study.toml", "-o", path, *QUICK)
    assert done.code == 0, done.err
    return path
