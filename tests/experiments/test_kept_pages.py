"""Pages from whatever replicates are kept, and nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from experiments import EXPERIMENTS, coverage, run, untuned
from experiments.simulation import Order, config_truths

ROOT = Path(__file__).resolve().parents[2]


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
def evidence(tmp_path_factory):
    """Two experiments with a few kept replicates, and their pages."""
    root = tmp_path_factory.mktemp("evidence")
    for module, world, metric, rows, engine in (
        (coverage, "gaussian", "brier", 500, 2),
        (untuned, "null", "accuracy", 2000, "71ce0671"),
    ):
        config = next(
            c
            for c, _ in module.plan(quick=False)
            if (c.world, c.metric, c.rows[0]) == (world, metric, rows) and not c.settings
        )
        name = module.__name__.rpartition(".")[2]
        (root / name).mkdir()
        text = lines(config, config_truths(config), 20, engine)
        (root / name / "replicates.jsonl").write_text(text, encoding="utf-8")
        run(name, Order(root, jobs=0))
    return root


def test_pages_show_what_is_there_and_what_was_not_run(evidence):
    text = (evidence / "coverage" / "coverage.md").read_text(encoding="utf-8")
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
    assert "Made by engine 2." in text
    assert (evidence / "coverage" / "coverage_brier.svg").exists()


def test_null_worlds_have_rates(evidence):
    text = (evidence / "untuned" / "untuned.md").read_text(encoding="utf-8")
    assert "| identical | 2,000+1,200 | 0 of 20 (0%) | 0 of 20 (0%) | – | 20 |" in text
    assert "| recalibrated | 2,000+1,200 | not run | not run | not run | 0 |" in text
    assert "Made by engine 1." in text


@pytest.mark.parametrize("page", sorted(ROOT.glob("evidence/*/*.md")), ids=lambda p: p.stem)
def test_a_kept_page_says_which_engine_and_which_command_made_it(page):
    text = page.read_text(encoding="utf-8")
    assert re.search(r"engine \d", text)
    name = page.stem.replace("casestudy_", "casestudy ")
    if name in EXPERIMENTS:
        assert f"    python -m experiments {name}" in text
    else:
        assert f"Made by `python -m experiments {name}`, a program that is no longer kept" in text
