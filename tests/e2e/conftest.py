"""A small world on disk, a result made from it, and two ways to call the command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Done
from command_line import call as call

QUICK = ("--set", "learner=fast", "--set", "folds=3", "--set", "halvings=1", "--seed", "1")


def in_shell(*arguments: object, cwd: Path | None = None) -> Done:
    """Run the command line as its own process."""
    command = [sys.executable, "-m", "whygap.cli", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=300)
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def shell():
    return in_shell


@pytest.fixture(scope="session")
def world(tmp_path_factory) -> Path:
    """A folder with source.parquet, target.parquet and study.toml, drawn by the command itself."""
    folder = tmp_path_factory.mktemp("world")
    command = ("simulate", "gaussian", "--rows", "1500", "--seed", "3", "--into", folder)
    done = in_shell(*command)
    assert done.code == 0, done.err
    return folder


@pytest.fixture(scope="session")
def result(world) -> Path:
    """gap.json of that world, all details, written by the command itself."""
    path = world / "gap.json"
    done = in_shell("explain", world / "study.toml", "-o", path, *QUICK)
    assert done.code == 0, done.err
    return path
