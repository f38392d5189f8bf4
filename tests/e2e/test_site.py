"""The documentation: it builds without a warning, and its examples run."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "docs" / "run_examples.py"
FENCE = "```python\n"
PAGES = sorted(
    page for page in (ROOT / "docs").rglob("*.md") if FENCE in page.read_text(encoding="utf-8")
)
START = ROOT / "docs" / "start.md"


def run_page(page: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, SCRIPT, "--check", page], capture_output=True, text=True, cwd=ROOT
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_the_examples_of_every_page_run(page):
    done = run_page(page)
    assert done.returncode == 0, done.stderr
    count = page.read_text(encoding="utf-8").count(FENCE)
    assert done.stdout == f"{page.name}: {count} examples ran\n"


def test_without_names_every_page_with_examples_is_run():
    found = runpy.run_path(str(SCRIPT))["pages"]()
    assert found == PAGES
    assert START in found


def test_an_example_that_fails_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1 / 0)\n```\n", encoding="utf-8")
    assert "ZeroDivisionError" in run_page(page).stderr


def test_outputs_are_put_on_the_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(6 * 7)\n```\n\n```text\nold\n```\n", encoding="utf-8")
    subprocess.run([sys.executable, SCRIPT, page], check=True, capture_output=True)
    assert "```text\n42\n```" in page.read_text(encoding="utf-8")


def test_the_site_builds_without_a_warning(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path / "site"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "start" / "index.html").exists()
