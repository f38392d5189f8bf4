"""A study of replicates: resumes, packs, and builds its page from what is there."""

from __future__ import annotations

import gzip
import importlib
import json
from dataclasses import replace

import pytest

from experiments import (
    EXPERIMENTS,
    coverage,
    metrics,
    semisynthetic,
    shares,
    simulation,
    true_risk,
    untuned,
)
from experiments.replicates import Config, run_missing
from experiments.simulation import Order, Simulation, run_simulation
from whygap._version import ENGINE

TINY = Config(rows=(300, 300), settings={"learner": "fast"}, parts=())


@pytest.fixture(autouse=True)
def plain_page(monkeypatch):
    """The page shows what it was given; templates have tests of their own."""

    def write(path, command, note, **view):
        path.write_text(f"{command}\n{note}\n{view}", encoding="utf-8")
        return path

    monkeypatch.setattr(simulation, "write_page", write)


def view(rows, lines, folder):
    return {"rows": len(rows), "counts": {label: len(found) for label, found in lines.items()}}


def study(count=2):
    return Simulation("tiny", [(TINY, count)], view)


def packed(folder):
    with gzip.open(folder / "replicates.jsonl.gz", "rt") as file:
        return [json.loads(text) for text in file]


def test_a_study_runs_packs_and_goes_on(tmp_path):
    order = Order(tmp_path, quick=True)
    folder = tmp_path / "tiny-quick"
    page = run_simulation(study(), order)
    assert page == folder / "tiny.md"
    text = page.read_text()
    assert f"'rows': 4, 'counts': {{'{TINY.label}': 2}}" in text
    assert text.startswith("python -m experiments tiny --quick\n")
    assert f"Made by engine {ENGINE}." in text
    first = (folder / "replicates.jsonl.gz").read_bytes()
    run_simulation(study(), replace(order, jobs=0))
    assert (folder / "replicates.jsonl.gz").read_bytes() == first
    run_simulation(study(3), order)
    assert [line["seed"] for line in packed(folder)] == [0, 1, 2]
    assert not (folder / "replicates.jsonl").exists()
    assert (folder / "summary.csv").read_text().count("\n") == 5


def test_lines_made_elsewhere_are_used(tmp_path):
    folder = tmp_path / "tiny"
    run_missing(TINY, range(2), folder / "replicates.jsonl")
    loose = folder / "replicates.jsonl"
    loose.write_text(loose.read_text() + '{"config": "other", "seed": 0}\n', encoding="utf-8")
    page = run_simulation(study(200), Order(tmp_path, jobs=0))
    assert f"{{'{TINY.label}': 2}}" in page.read_text()
    assert len(packed(folder)) == 3, "lines of other configurations are kept"


def test_replicates_of_another_study_can_be_borrowed(tmp_path):
    run_simulation(Simulation("lender", [(TINY, 2)], view), Order(tmp_path))
    borrower = Simulation("tiny", [(TINY, 2)], view, borrowed=("lender",))
    page = run_simulation(borrower, Order(tmp_path, jobs=0))
    assert f"{{'{TINY.label}': 2}}" in page.read_text()


@pytest.mark.parametrize(
    "module", [coverage, metrics, shares, true_risk, untuned], ids=lambda m: m.__name__
)
def test_every_configuration_of_a_plan_has_a_label_of_its_own(module):
    labels = [config.label for config, _ in module.plan(quick=False)]
    assert len(labels) == len(set(labels))


def test_the_semisynthetic_plan_knows_what_is_missing(tmp_path):
    planned = semisynthetic.plan(quick=False, folder=tmp_path)
    assert [count for _, count in planned] == [0] * 5


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_study_of_the_command_line_can_be_run(name):
    assert callable(importlib.import_module(f"experiments.{name.split()[0]}").run)
