"""`whygap watch` killed at random: what it leaves is what an undisturbed run leaves."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import in_shell
from small_study import make_table
from watch_stream import bytes_of

MONTHS = [f"{year}-{month:02d}" for year in (2024, 2025) for month in range(1, 13)]
KILLS = 10
CHANCE = np.random.default_rng()  # another moment in every run
QUICK = ("--set", "learner=fast", "--set", "folds=3", "--detail", "none")


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Path:
    """A source, and 24 months in one table."""
    folder = tmp_path_factory.mktemp("months")
    make_table(500, 0.0, 1).to_parquet(folder / "source.parquet")
    tables = [
        make_table(120, 0.0 if k < 15 else 1.0, 100 + k).assign(month=month)
        for k, month in enumerate(MONTHS)
    ]
    pd.concat(tables, ignore_index=True).to_parquet(folder / "visits.parquet")
    (folder / "study.toml").write_text(
        'source = "source.parquet"\ntarget = "visits.parquet"\noutcome = "y"\n'
        'baseline = ["w"]\nprediction = "risk"\n'
    )
    (folder / "alerts.toml").write_text('[[rule]]\npart = "outcome"\nbelow = -0.02\n')
    return folder


def arguments(world: Path, into: Path) -> tuple[object, ...]:
    asked = ("watch", world / "study.toml", "--by", "month", "--state", into)
    return (*asked, "--rules", world / "alerts.toml", *QUICK)


def finished(into: Path) -> int:
    return len(list((into / "gaps").glob("2*.json"))) if into.exists() else 0


def kill_after(command: list[str], into: Path, more: int) -> None:
    """Let a process finish some targets, wait a moment, and kill it without warning."""
    goal = finished(into) + more
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while finished(into) < goal and process.poll() is None:
        time.sleep(0.01)
    time.sleep(CHANCE.random() * 0.3)
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.mark.slow
def test_killed_ten_times_it_ends_with_the_same_bytes(world, tmp_path):
    plain, killed = tmp_path / "plain", tmp_path / "killed"
    done = in_shell(*arguments(world, plain))
    assert done.code == 1, done.err
    names = list(bytes_of(plain))
    assert sum(name.startswith("gaps/") for name in names) == len(MONTHS)
    command = [sys.executable, "-m", "whygap", *map(str, arguments(world, killed))]
    for _ in range(KILLS):
        kill_after(command, killed, more=CHANCE.integers(3))
    assert finished(killed) < len(MONTHS)
    last = in_shell(*arguments(world, killed))
    assert (last.code, last.out.partition("(")[0]) == (1, done.out.partition("(")[0])
    assert bytes_of(killed) == bytes_of(plain)


def test_a_second_process_is_refused_and_spoils_nothing(world, tmp_path):
    into = tmp_path / "out"
    command = [sys.executable, "-m", "whygap", *map(str, arguments(world, into))]
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not finished(into):
            assert first.poll() is None
            time.sleep(0.01)
        second = in_shell(*arguments(world, into))
        assert first.poll() is None, "the first was done too soon to be in anybody's way"
    finally:
        first.kill()
        first.wait()
    assert second.code == 2
    assert second.out == ""
    assert f"Another watch is at work in '{into}'." in second.err
