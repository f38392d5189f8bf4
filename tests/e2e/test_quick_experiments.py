"""The experiments at their quick sizes: two by the command line, the others by call."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from experiments import EXPERIMENTS, run
from experiments.simulation import Order

ROOT = Path(__file__).resolve().parents[2]


def experiments(*arguments) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "experiments", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


def check_page(page: Path, name: str) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert f"python -m experiments {name} --quick" in text
    assert "nan" not in text
    for figure in page.parent.glob("*.svg"):
        assert figure.name in text


def test_the_help_names_every_experiment():
    done = experiments("--help")
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert [name for name in EXPERIMENTS if name not in told] == []


def test_an_unknown_experiment_is_refused():
    done = experiments("covrage")
    assert done.returncode == 2
    assert "there is no experiment 'covrage'; there are: casestudy insurance, " in done.stderr


@pytest.mark.parametrize("name", ["coverage", "comparators"])
def test_the_quick_command_runs_end_to_end(name, tmp_path):
    done = experiments(name, "--quick", "--output", tmp_path)
    assert done.returncode == 0, done.stderr
    page = tmp_path / f"{name}-quick" / f"{name}.md"
    assert done.stdout == f"{page}\n"
    check_page(page, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["scaling", "semisynthetic", "shares", "true_risk", "untuned"])
def test_quick_sizes_run_end_to_end(name, tmp_path):
    check_page(run(name, Order(tmp_path, quick=True)), name)
