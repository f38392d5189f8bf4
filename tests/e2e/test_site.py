"""The documentation: it builds without a warning, and its pages hold what their examples print."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "docs" / "run_examples.py"
EXAMPLES = runpy.run_path(str(SCRIPT))
PAGES = EXAMPLES["pages"]()
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))


def run_page(page: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, SCRIPT, "--check", page], capture_output=True, text=True, cwd=ROOT
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built once; tutorials are executed on the way."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, done.stderr
    return folder


# The tutorials run where the site is built.
@pytest.mark.parametrize("page", sorted({*PAGES} - {*TUTORIALS}), ids=lambda p: p.stem)
def test_every_page_holds_what_its_examples_print(page):
    done = run_page(page)
    assert done.returncode == 0, done.stderr
    count = page.read_text(encoding="utf-8").count("```python\n")
    assert done.stdout == f"{page.name}: {count} examples ran\n"


def test_the_readme_and_every_page_with_examples_are_run():
    assert ROOT / "README.md" in PAGES
    assert {ROOT / "docs" / name for name in ("start.md", "numbers.md", "metrics.md")} < set(PAGES)


def test_an_example_that_fails_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1 / 0)\n```\n", encoding="utf-8")
    assert "ZeroDivisionError" in run_page(page).stderr


def test_a_page_that_is_out_of_date_names_the_command(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(6 * 7)\n```\n\n```text\n39\n```\n", encoding="utf-8")
    done = run_page(page)
    assert done.returncode == 1
    assert f"Run: python docs/run_examples.py {page}" in done.stderr
    assert "- 39\n+ 42" in done.stderr
    subprocess.run([sys.executable, SCRIPT, page], check=True, capture_output=True)
    assert "```text\n42\n```" in page.read_text(encoding="utf-8")
    assert run_page(page).returncode == 0


@pytest.mark.parametrize(
    ("stored", "printed", "same"),
    [
        ("schooling -1.4 points", "schooling -1.6 points", True),
        ("schooling -1.4 points", "schooling -1.7 points", False),
        ("schooling -1.4 points", "schooling +1.4 points", False),
        ("schooling -1.4 points", "race -1.4 points", False),
        ("8,000 rows", " 8,001  rows", True),
        ("one line", "one line\nand another", False),
        ("0.0112 (0.0077)", "0.0112", False),
    ],
)
def test_a_number_may_differ_in_its_last_digit_and_nothing_else(stored, printed, same):
    assert (EXAMPLES["moved"](stored, printed) == []) is same


def test_the_site_builds_without_a_warning(site):
    assert (site / "start" / "index.html").exists()


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda p: p.stem)
def test_a_tutorial_holds_what_its_notebook_printed(site, page):
    made = nbformat.read(site / "tutorials" / f"{page.stem}.ipynb", 4)
    text = page.read_text(encoding="utf-8")
    cells = [cell for cell in made.cells if cell.cell_type == "code"]
    examples = list(EXAMPLES["FENCE"].finditer(text))
    assert len(cells) == len(examples) > 1
    for example, cell in zip(examples, cells, strict=True):
        printed = "".join(one.text for one in cell.outputs if one.get("name") == "stdout")
        stored = example["output"] if example["output"] is not None else printed
        lines = EXAMPLES["moved"](stored.rstrip(), printed.rstrip())
        command = f"python docs/run_examples.py docs/tutorials/{page.name}"
        assert lines == [], f"{page.name} is out of date. Run: {command}"


def test_pictures_and_results_are_shown_on_the_page_of_a_tutorial(site):
    page = (site / "tutorials" / "insurance" / "index.html").read_text(encoding="utf-8")
    assert page.count('src="data:image/png;base64,') == 1
    assert "Accuracy fell by" in page
    assert 'href="../insurance.ipynb"' in page
