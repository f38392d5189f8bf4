"""Publishing: pages in the docs from whatever replicates are kept, and nothing else."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from experiments import coverage, untuned
from experiments.beside_worlds import worlds_table
from experiments.engine import REPLICATE, code_digest
from experiments.simulation import config_truths

ROOT = Path(__file__).resolve().parents[3]


def lines(config, truths, count, engine):
    """Replicates as right estimates would leave them."""
    rng = np.random.default_rng(0)
    found = []
    for seed in range(count):
        estimates = {}
        for name, truth in truths.items():
            value = truth + 0.1 * rng.normal()
            estimates[name] = [value, 0.1, value - 0.164, value + 0.164, value + 0.3]
        line = {"config": config.label, "seed": seed, "engine": engine, "cpu_seconds": 1.0}
        parts = ("covariate", "outcome")
        line |= {"defined": dict.fromkeys(parts, True), "ranks": {}, "learners": {}}
        found.append(json.dumps(line | {"estimates": estimates}))
    return "\n".join(found) + "\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """The script in an empty project with two studies of a few replicates."""
    root = tmp_path_factory.mktemp("project")
    (root / "docs").mkdir()
    for module, world, metric, rows, engine in (
        (coverage, "gaussian", "brier", 500, code_digest(REPLICATE)),
        (untuned, "null", "accuracy", 2000, "another"),
    ):
        config = next(
            c
            for c, _ in module.plan(quick=False)
            if (c.world, c.metric, c.rows[0]) == (world, metric, rows) and not c.settings
        )
        folder = root / "studies" / module.__name__.rpartition(".")[2]
        folder.mkdir(parents=True)
        text = lines(config, config_truths(config), 20, engine)
        (folder / "replicates.jsonl").write_text(text, encoding="utf-8")
    shutil.copy(ROOT / "studies" / "publish.py", root / "studies" / "publish.py")
    return root


def publish(project, *arguments):
    script = project / "studies" / "publish.py"
    return subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True)


@pytest.fixture(scope="module")
def published(project):
    done = publish(project)
    assert done.returncode == 0, done.stderr
    return project / "docs" / "evidence", done.stdout


def test_pages_show_what_is_there_and_what_was_not_run(published):
    evidence, _ = published
    text = (evidence / "coverage.md").read_text(encoding="utf-8")
    head = next(line for line in text.splitlines() if line.startswith("| quantity"))
    assert head.startswith("| quantity | truth | n=500 (R=20) | n=1,000 (R=0) |")
    assert head.endswith("| n=16,000 (R=0) |")
    row = next(line for line in text.splitlines() if line.startswith("| outcome value {Z1}"))
    assert row.count("not run") == 5
    assert "## Accuracy\n\nNot run." in text
    for title in ("### Debiased", "### Plug-in", "### Width"):
        assert title in text
    plugin = text.partition("### Plug-in")[2]
    biased = next(line for line in plugin.splitlines() if line.startswith("| outcome value {Z1}"))
    assert "| **." in biased, "the plug-in values are 3 standard errors off"
    assert f"State of the engine: {code_digest(REPLICATE)}." in text
    assert (evidence / "coverage_brier.svg").exists()


def test_null_worlds_have_rates(published):
    text = (published[0] / "untuned.md").read_text(encoding="utf-8")
    assert "| identical | 2,000+1,200 | 0 of 20 (0%) | 0 of 20 (0%) | – | 20 |" in text
    assert "| recalibrated | 2,000+1,200 | not run | not run | not run | 0 |" in text


def test_the_index_links_pages_and_names_the_missing(published):
    text = (published[0] / "index.md").read_text(encoding="utf-8")
    assert "[coverage](coverage.md)" in text
    assert "(comparators.md)" not in text
    assert "Not run yet: semisynthetic," in text


def test_replicates_of_another_engine_are_pointed_at(published):
    assert "20 of 20 kept replicates were made by another state of the engine" in published[1]


def test_figures_that_a_page_no_longer_has_are_removed(project, published):
    evidence, _ = published
    page = project / "studies" / "scaling" / "scaling.md"
    page.parent.mkdir()
    page.write_text("# Cost\n\n![a](new.svg)\n", encoding="utf-8")
    (page.parent / "new.svg").write_text("<svg/>", encoding="utf-8")
    (evidence / "scaling.md").write_text("![a](old.svg)\n", encoding="utf-8")
    (evidence / "old.svg").write_text("<svg/>", encoding="utf-8")
    assert publish(project, "--copy").returncode == 0
    assert (evidence / "new.svg").exists()
    assert not (evidence / "old.svg").exists()


def test_an_unknown_study_is_refused(project):
    done = publish(project, "covrage")
    assert done.returncode == 1
    assert done.stderr.startswith("There is no study 'covrage'. Studies are: coverage, ")


def test_worlds_stand_beside_each_other(project, published):
    text = worlds_table([project / "studies" / name / "summary.csv" for name in ("coverage", "no")])
    (line,) = text.splitlines()[2:]
    assert line.startswith("| Gaussian (the paper's) | brier | 500+500 | ")
    assert worlds_table([]) == "Not run."
