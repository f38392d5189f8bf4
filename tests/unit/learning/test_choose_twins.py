"""Learners of quadratic terms: chosen by their squared bias, which the product of twins shows."""

from __future__ import annotations

import numpy as np
import pytest
from learning_designs import featured, shifted_design

from whygap.learning.choose_twins import Rule, choose_twins
from whygap.learning.conditional_mean import MeanTask
from whygap.learning.menu import ALL_BLOCKS, Menu, twin_probes
from whygap.learning.models import Fast, Mean
from whygap.settings import Settings

FAMILIES = ("fast", "boosted", "boosted on fast")


def probes_of(shape, noise=1.0, rows=3000, columns=(0, 1, 2), seed=0):
    """Twin probes of a regression of shape(x) plus noise on source rows."""
    rng = np.random.default_rng(seed)
    design = shifted_design((rows, 300))
    features = featured(design)
    raw = features.raw.source
    target = shape(raw) + noise * rng.normal(size=rows)
    halves = features.blocks.halves(3)
    task = MeanTask("mu", "real", columns, features.plain.source, target, halves)
    return features, task, twin_probes(features, [task])


def wavy(x):
    return np.sin(3 * x[:, 0]) * (x[:, 1] > 0)


def straight(x):
    return x[:, 0]


def test_halves_share_no_rows_with_each_other_or_the_held_out_block():
    _, _, probes = probes_of(straight)
    assert len(probes) == 2
    for probe in probes:
        one, two = (set(half.train.raw[:, 0]) for half in probe.halves)
        held = set(probe.halves[0].held_out.raw[:, 0])
        assert not one & two
        assert not held & (one | two)
        assert len(probe.weight) == len(held) == 600


def test_the_score_is_the_product_of_the_twins_residuals():
    _, _, (probe, *_) = probes_of(straight)
    choice = choose_twins([probe], ("fast",), 0)
    residuals = [
        target - Fast(1e-2).fit(h.train, h.target, h.weight, "real").predict(h.held_out)
        for h, target in zip(probe.halves, probe.targets, strict=True)
    ]
    product = float(np.mean(residuals[0] * residuals[1]))
    score = choice.scores["fast, penalty 0.01"]
    assert choice.score_name == "product of twin residuals"
    assert product <= score <= product + 0.2 * np.mean((residuals[0] - residuals[1]) ** 2)


def test_a_simple_truth_is_given_to_the_simplest_candidate():
    _, _, probes = probes_of(straight)
    assert choose_twins(probes, FAMILIES, 0).learner.name == "fast"


def test_trees_rarely_get_a_straight_truth_by_chance():
    """Three families and many sizes compete; two standard errors keep luck from deciding."""
    found = [
        choose_twins(probes_of(straight, rows=1000, seed=seed)[2], FAMILIES, seed).learner.name
        for seed in range(12)
    ]
    assert found.count("fast") >= 11


def test_more_blocks_are_more_probes():
    features, task, _ = probes_of(straight, rows=800)
    assert len(twin_probes(features, [task])) == 2
    assert len(twin_probes(features, [task], ALL_BLOCKS)) == 5


def test_a_wavy_truth_needs_trees():
    _, _, probes = probes_of(wavy, noise=0.3)
    choice = choose_twins(probes, FAMILIES, 0)
    assert "boosted" in choice.learner.name
    assert choice.scores["chosen blend"] < choice.scores["fast, penalty 0.01"]


def test_what_is_chosen_is_nearly_unbiased():
    """The best possible score is the noise alone."""
    _, _, probes = probes_of(wavy, noise=0.3, rows=6000)
    scores = choose_twins(probes, FAMILIES, 0).scores
    assert scores["chosen blend"] < 0.3**2 + 0.25 * np.var(
        wavy(np.random.default_rng(0).normal(size=(9999, 3)))
    )


@pytest.mark.parametrize("name", ["fast", "boosted", "auto"])
def test_the_menu_chooses_twins_by_their_bias_and_remembers(name):
    features, task, _ = probes_of(straight, rows=800)
    menu = Menu(Settings(learner=name))
    first = menu.twin_learner("mu", lambda: [task], features, columns="W", target="T")
    again = menu.twin_learner(
        "mu", lambda: pytest.fail("asked twice"), features, columns="", target=""
    )
    assert first is again
    assert menu.records[0].score_name == "product of twin residuals"


def test_without_twins_learners_are_chosen_for_prediction():
    features, task, _ = probes_of(straight, rows=800)
    plain = MeanTask(
        "mu", "real", task.columns, task.view, task.targets, features.blocks.complements()
    )
    menu = Menu(Settings(learner="fast", twins=False))
    menu.twin_learner("mu", lambda: [plain], features, columns="W", target="T")
    assert menu.records[0].score_name == "squared error"


def test_nothing_to_learn_is_the_mean():
    features, task, _ = probes_of(straight, rows=800, columns=())
    menu = Menu(Settings(learner="auto"))
    assert menu.twin_learner("mu", lambda: [task], features, columns="", target="") == Mean()


def test_weights_are_positive_and_sum_to_one():
    _, _, probes = probes_of(lambda x: np.sin(2 * x[:, 0]) + (x[:, 1] > 0), noise=0.5)
    blend = choose_twins(probes, FAMILIES, 0).learner
    assert sum(blend.weights) == pytest.approx(1)
    assert min(blend.weights) >= 0.1


def test_domains_may_have_other_targets_by_training_set():
    features, task, _ = probes_of(straight, rows=800)
    targets = {half: task.targets + k for k, half in enumerate(task.trained_on)}
    moved = MeanTask("mu", "real", (0,), task.view, targets, task.trained_on)
    (probe, *_) = twin_probes(features, [moved])
    gap = np.unique((probe.targets[1] - probe.targets[0]).round(9))
    assert len(gap) == 1
    assert gap[0] != 0


def test_tasks_count_alike_however_many_rows_their_domains_have():
    features = featured(shifted_design((2000, 500)))
    halves = features.blocks.halves(3)
    tasks = [
        MeanTask("p", "real", (0, 1), view, raw[:, 0], halves)
        for view, raw in zip(features.plain, features.raw, strict=True)
    ]
    probes = twin_probes(features, tasks, ALL_BLOCKS)
    totals = [sum(p.weight.sum() for p in probes[k : k + 5]) for k in (0, 5)]
    assert len(probes) == 10
    assert totals == pytest.approx([1.0, 1.0])


def test_undersmoothing_takes_the_smallest_of_alike_penalties():
    _, _, probes = probes_of(straight)
    firm, loose = (
        choose_twins(probes, ("fast",), 0, Rule(undersmooth=undersmooth)).learner.learners[0]
        for undersmooth in (False, True)
    )
    assert loose.penalty < firm.penalty


def test_trees_must_lead_by_as_much_as_the_rule_says():
    _, _, probes = probes_of(wavy)
    assert choose_twins(probes, ("fast", "boosted"), 0, Rule(lead=1e6)).learner.name == "fast"
    assert "boosted" in choose_twins(probes, ("fast", "boosted"), 0).learner.name
