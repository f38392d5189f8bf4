"""A study of replicates: resumes, packs, and builds its page from what is there."""

from __future__ import annotations

import gzip
import json

import pytest

from experiments import EXPERIMENTS, coverage, semisynthetic, shares, untuned
from experiments.replicates import Config, run_missing
from experiments.simulation import Simulation, run_simulation, study_folder

TINY = Config(rows=(300, 300), settings={"learner": "fast"}, parts=())


def words(rows, lines, folder):
    counts = {label: len(found) for label, found in lines.items()}
    return f"# Page\n\n{len(rows)} rows, {counts}"


def study(count=2):
    return Simulation("tiny", [(TINY, count)], words, "whygap study tiny")


def packed(folder):
    with gzip.open(folder / "replicates.jsonl.gz", "rt") as file:
        return [json.loads(text) for text in file]


def test_a_study_runs_packs_and_goes_on(tmp_path):
    folder = study_folder(tmp_path, "tiny", quick=True)
    assert folder.name == "tiny-quick"
    page = run_simulation(study(), folder, jobs=1, report=lambda _: None)
    text = page.read_text()
    assert f"4 rows, {{'{TINY.label}': 2}}" in text
    assert "    whygap study tiny" in text
    first = (folder / "replicates.jsonl.gz").read_bytes()
    run_simulation(study(), folder, jobs=0, report=lambda _: None)
    assert (folder / "replicates.jsonl.gz").read_bytes() == first
    run_simulation(study(3), folder, jobs=1, report=lambda _: None)
    assert [line["seed"] for line in packed(folder)] == [0, 1, 2]
    assert not (folder / "replicates.jsonl").exists()
    assert (folder / "summary.csv").read_text().count("\n") == 5


def test_lines_made_elsewhere_are_used(tmp_path):
    folder = study_folder(tmp_path, "tiny", quick=False)
    run_missing(TINY, range(2), folder / "replicates.jsonl")
    loose = folder / "replicates.jsonl"
    loose.write_text(loose.read_text() + '{"config": "other", "seed": 0}\n', encoding="utf-8")
    page = run_simulation(study(200), folder, jobs=0, report=lambda _: None)
    assert f"{{'{TINY.label}': 2}}" in page.read_text()
    assert len(packed(folder)) == 3, "lines of other configurations are kept"


def test_replicates_of_another_study_can_be_borrowed(tmp_path):
    lender = study_folder(tmp_path, "lender", quick=False)
    run_simulation(study(), lender, jobs=1, report=lambda _: None)
    borrower = Simulation("tiny", [(TINY, 2)], words, "x", borrowed=(lender,))
    folder = study_folder(tmp_path, "tiny", quick=False)
    page = run_simulation(borrower, folder, jobs=0, report=lambda _: None)
    assert f"{{'{TINY.label}': 2}}" in page.read_text()


@pytest.mark.parametrize("module", [coverage, shares, untuned], ids=lambda m: m.__name__)
def test_every_configuration_of_a_plan_has_a_label_of_its_own(module):
    labels = [config.label for config, _ in module.plan(quick=False)]
    assert len(labels) == len(set(labels))


def test_the_semisynthetic_plan_knows_what_is_missing(tmp_path):
    assert semisynthetic.plan(quick=False, folder=tmp_path) == []


def test_studies_have_the_names_of_the_command_line():
    assert sorted(EXPERIMENTS) == [
        "casestudy insurance",
        "casestudy readmission",
        "comparators",
        "coverage",
        "revisions",
        "scaling",
        "semisynthetic",
        "shares",
        "untuned",
    ]
