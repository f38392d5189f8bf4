"""The comparators' study: seeds kept and read again, findings stated by code, the page."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import special

from experiments import comparators
from experiments.comparator_findings import BEST_POSSIBLE, findings
from experiments.comparator_seeds import Seeds, mean_of
from experiments.comparators import importance_csv, tables
from experiments.simulation import Order

COVARIATE, OUTCOME = comparators.SCENES
NAMES = {"covariate": ("Z1", "Z2"), "outcome": ("Z1", "Z2", "Z3", "Z4", "Z5")}
TRUTH = {"covariate": (0.508, 0.492), "outcome": (0.294, 0.195, 0.02, 0.014, 0.014)}


def seeds_of(scene, importances, accuracy=None, seeds=4):
    """Seeds around given importances, with a little noise."""
    rng = np.random.default_rng(0)
    names = NAMES[scene.part]
    lines = []
    for seed in range(seeds):
        noisy = {
            method: dict(zip(names, np.array(values) * (1 + 0.01 * rng.normal()), strict=True))
            for method, values in importances.items()
        }
        line = {"seed": seed, "importances": noisy, "original": 0.75}
        if accuracy is not None:
            shift = 0.001 * rng.normal()
            line["accuracy"] = {m: [a + shift for a in values] for m, values in accuracy.items()}
        lines.append(line)
    return Seeds(scene, 1000, names, TRUTH[scene.part], lines)


def paper_a(**changes):
    told = {
        "whygap": (0.51, 0.49),
        "mean_change": (1.0, 1.0),
        "oaxaca_blinder": (0.2, -0.6),
        "wu_shift": (-0.014, -0.016),
    }
    return seeds_of(COVARIATE, told | changes)


def paper_b(**changes):
    flat = (0.01, 0.02, 0.03, 0.01, 0.01)
    told = {
        "whygap": (0.29, 0.2, 0.02, 0.01, 0.01),
        "parametric_change": (-1.8, -2.8, -0.4, 0.0, 0.0),
        "parametric_acc": flat,
        "random_forest_acc": flat,
        "oaxaca_blinder": flat,
    }
    return seeds_of(OUTCOME, told, dict.fromkeys(told, (0.8, 0.8, 0.805)) | changes)


def verdicts(seeds):
    return [(finding.claim, finding.verdict) for finding in findings(seeds)]


def test_the_papers_findings_are_recognised():
    assert verdicts(paper_a()) == [
        ("MeanChange calls everything important", "yes"),
        ("Oaxaca-Blinder puts Z2 first", "yes"),
        ("WuShift puts Z2 first", "yes"),
        ("whygap puts Z1 first", "yes"),
    ]
    assert [verdict for _, verdict in verdicts(paper_b())] == ["yes"] * 4


@pytest.mark.parametrize(
    ("method", "values", "place", "verdict"),
    [
        ("mean_change", (1.0, 0.3), 0, "no"),
        ("oaxaca_blinder", (0.6, -0.2), 1, "no"),
        ("wu_shift", (-0.0150, -0.0150), 2, "not told"),
        ("whygap", (0.4, 0.6), 3, "no"),
    ],
)
def test_a_finding_that_does_not_hold_is_called_so(method, values, place, verdict):
    assert verdicts(paper_a(**{method: values}))[place][1] == verdict


def test_a_rival_that_revises_better_is_named():
    found = findings(paper_b(random_forest_acc=(0.80, 0.83, 0.805)))[2]
    assert found.verdict == "no"
    assert found.evidence.startswith(
        "The least favourable difference, to RandomForestAcc, is -.0300 (95% interval "
    )


def test_accuracies_below_the_papers_are_called_so():
    found = findings(paper_b(whygap=(0.80, 0.78, 0.80)))[3]
    assert (found.claim, found.verdict) == (
        "It is as accurate as the paper's (.80, .80, .81)",
        "no",
    )
    assert "No model can expect more than .804 in this world." in found.evidence


def test_the_best_possible_accuracy_is_that_of_the_true_law():
    x = np.random.default_rng(0).uniform(-4, 4, (400_000, 6))
    risk = special.expit(x @ [0.2, -0.4, 0.8, 0.1, 0.1, 0.1])
    assert np.maximum(risk, 1 - risk).mean() == pytest.approx(BEST_POSSIBLE, abs=0.001)


def test_without_shares_nothing_is_claimed():
    seeds = paper_b()
    silent = [
        {**line, "importances": {m: v for m, v in line["importances"].items() if m != "whygap"}}
        for line in seeds.lines
    ]
    without = Seeds(seeds.scene, seeds.rows, seeds.names, seeds.truth, silent)
    assert [finding.verdict for finding in findings(without)] == ["yes", "not told", "not told"]
    assert "| **whygap** | – | – | – | – | – | no answer in any seed |" in tables([without])


def test_intervals_over_seeds_are_students():
    found = mean_of(np.array([1.0, 2.0, 3.0]))
    assert (found.low, found.high) == pytest.approx((2 - 2.484, 2 + 2.484), abs=1e-3)
    assert mean_of(np.array([1.0])).sign == 0


def test_the_page_shows_every_method_and_its_figures(tmp_path):
    scenes = [paper_a(), paper_b()]
    comparators._draw(scenes, tmp_path)
    text = tables(scenes, pictures=True)
    for scene in comparators.SCENES:
        assert (tmp_path / scene.figure).exists()
        assert f"]({scene.figure})" in text
    for title in ("MeanChange", "WuShift", "ParametricChange", "RandomForestAcc", "**whygap**"):
        assert f"| {title} |" in text
    assert "| the model as it is | .750 (.750 to .750) |" in text
    assert "| .80 | .80 | .81 |" in text
    assert importance_csv([paper_a()]).count("\n") == 1 + 4 * 2


def test_finished_seeds_are_kept_and_not_run_again(tmp_path, monkeypatch):
    rows = {"Z1": 0.6, "Z2": 0.4}
    kept = tmp_path / "comparators-quick" / "replicates.jsonl"
    kept.parent.mkdir()
    made = []

    def replicate(config, seed):
        made.append((config.world, seed))
        methods = dict.fromkeys(("whygap", "mean_change", "oaxaca_blinder", "wu_shift"), rows)
        return {"config": config.label, "seed": seed, "importances": methods}

    monkeypatch.setattr(comparators, "replicate", replicate)
    planned = comparators.plan(quick=True)[:1]
    monkeypatch.setattr(comparators, "SCENES", comparators.SCENES[:1])
    assert comparators.seeds_of(kept.parent, planned, Order(tmp_path, jobs=0)) == []
    for _ in range(2):
        (found,) = comparators.seeds_of(kept.parent, planned, Order(tmp_path))
    assert made == [("comparison_a", 0), ("comparison_a", 1)]
    assert [json.loads(line)["seed"] for line in kept.read_text().splitlines()] == [0, 1]
    assert found.importances("whygap").shape == (2, 2)
    assert found.truth == pytest.approx((0.508, 0.492), abs=0.002)


def test_full_and_quick_plans_do_not_mix():
    full, quick = (comparators.plan(quick=q) for q in (False, True))
    assert [count for _, count in full] == [20, 20]
    assert not {c.label for c, _ in full} & {c.label for c, _ in quick}


@pytest.mark.slow
def test_a_replicate_asks_every_method_and_revises():
    config, _ = comparators.plan(quick=True)[1]
    line = comparators.replicate(config, 0)
    assert set(line["importances"]) == {"whygap", *OUTCOME.rivals}
    assert set(line["accuracy"]) == set(line["importances"])
    assert all(len(curve) == 3 for curve in line["accuracy"].values())
    assert line["original"] < line["retrained"]


@pytest.mark.nightly
def test_the_papers_findings_hold(tmp_path):
    planned = [(c, 4) for c, _ in comparators.plan(quick=False)]
    seeds = comparators.seeds_of(tmp_path, planned, Order(tmp_path))
    found = dict(verdict for scene in seeds for verdict in verdicts(scene))
    assert found["MeanChange calls everything important"] == "yes"
    assert found["Oaxaca-Blinder puts Z2 first"] == "yes"
    assert found["ParametricChange puts Z2 first"] == "yes"
    assert seeds[1].first_places("whygap")["Z1"] == 1.0
    assert all(mean.high >= 0 for m in OUTCOME.rivals for mean in seeds[1].behind_us(m))
