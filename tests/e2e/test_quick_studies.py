"""The studies at their quick sizes: two by the command line, the others by call."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments import EXPERIMENTS


def check_page(page: Path, name: str) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert f"whygap study {name} --quick" in text
    assert "nan" not in text
    for figure in page.parent.glob("*.svg"):
        assert figure.name in text


def test_the_help_names_every_study(shell):
    done = shell("study", "--help")
    assert done.code == 0, done.err
    assert [name for name in EXPERIMENTS if name.split()[0] not in done.out] == []


@pytest.mark.parametrize("name", ["coverage", "comparators"])
def test_the_quick_command_runs_end_to_end(shell, name, tmp_path):
    done = shell("study", name, "--quick", "-j", 1, "-o", tmp_path)
    assert done.code == 0, done.err
    check_page(tmp_path / f"{name}-quick" / f"{name}.md", name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["scaling", "semisynthetic", "shares", "untuned"])
def test_quick_sizes_run_end_to_end(name, tmp_path):
    check_page(EXPERIMENTS[name](tmp_path, quick=True), name)
