"""Choosing a learner: one score, one rule, for one model and for twins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from learning_designs import featured, inputs_of, make_design, shifted_design
from scipy import special

from whygap.domains import DOMAINS, ByDomain
from whygap.learning.choose import (
    FAMILIES,
    LEAVES,
    PENALTIES,
    STAGES,
    VARIANCE_CHARGE,
    Probe,
    Sight,
    choose,
)
from whygap.learning.estimators import OwnEstimators
from whygap.learning.menu import Menu, mean_probes
from whygap.learning.models import Fast, Mean, TrainingRows
from whygap.learning.primitives import MeanTask
from whygap.settings import Settings

AUTO = FAMILIES["auto"]


def probe(raw, target, kind="probability", split=1000):
    inputs = inputs_of(raw)
    train, held = slice(0, split), slice(split, None)
    rows = TrainingRows(inputs.rows(train), target[train], np.ones(split), kind)
    return Probe((Sight(rows, inputs.rows(held), target[held]),), np.ones(len(target) - split))


def world(shape, seed=0, rows=2000, columns=4):
    rng = np.random.default_rng(seed)
    raw = rng.normal(size=(rows, columns))
    return raw, (rng.random(rows) < special.expit(shape(raw))).astype(float)


def smooth(x):
    return 2 * x[:, 0] - x[:, 1]


def jagged(x):
    return 4.0 * ((x[:, 0] > 0.2) & (x[:, 1] > -0.3) & (x[:, 2] < 0.5)) - 2


def nearly_smooth(x):
    return smooth(x) + 1.8 * ((x[:, 0] > 0) & (x[:, 2] > 0) & (x[:, 3] > 0))


def noise(x):
    return np.zeros(len(x))


def singles(choice, family="fast"):
    return {k: v for k, v in choice.scores.items() if k.startswith(f"{family},")}


def test_a_smooth_world_is_given_to_the_fast_learner():
    assert isinstance(choose([probe(*world(smooth))], AUTO, 0).learner, Fast)


def test_a_jagged_world_is_given_to_trees():
    choice = choose([probe(*world(jagged))], AUTO, 0)
    assert "boosted" in choice.learner.name
    assert choice.scores["chosen"] < min(singles(choice).values()) - 0.01


@pytest.mark.parametrize("shape", [smooth, jagged, noise])
def test_the_choice_is_nearly_as_good_as_the_best_candidate(shape):
    choice = choose([probe(*world(shape, seed)) for seed in range(2)], AUTO, 0)
    assert choice.scores["chosen"] <= 1.01 * min(choice.scores.values())


def test_the_best_penalty_is_taken_however_close_the_others_are():
    """A column that spreads a little wider: what a tie would forgive is the whole of it."""
    rng = np.random.default_rng(0)
    wider = np.repeat([0.0, 1.0], 1000)
    raw = rng.normal(size=(2000, 3)) * np.where(wider, 1.15, 1.0)[:, None]
    shuffled = rng.permutation(2000)
    choice = choose([probe(raw[shuffled], wider[shuffled])], FAMILIES["fast"], 0)
    assert choice.scores["chosen"] == min(singles(choice).values())
    assert choice.learner.penalty < PENALTIES[0]


def test_of_families_that_cannot_be_told_apart_the_simplest_is_taken():
    """Trees are a little better in these rows, but not surely so."""
    choice = choose([probe(*world(nearly_smooth, seed=2))], AUTO, 0)
    assert isinstance(choice.learner, Fast)
    assert choice.scores["chosen"] > min(choice.scores.values())


def test_a_candidate_that_is_surely_worse_is_not_taken_however_simple():
    choice = choose([probe(*world(lambda x: 3 * np.sin(2 * x[:, 0])))], FAMILIES["fast"], 0)
    assert choice.learner.penalty < PENALTIES[0]
    assert choice.scores["chosen"] < choice.scores["fast, penalty 1"] - 0.01


def test_trees_grow_with_the_signal():
    quiet = choose([probe(*world(noise))], FAMILIES["boosted"], 0).learner
    loud = choose([probe(*world(jagged))], FAMILIES["boosted"], 0).learner
    assert quiet.rounds < loud.rounds


def test_every_candidate_has_a_score():
    choice = choose([probe(*world(smooth))], AUTO, 0)
    assert choice.score_name == "log loss"
    assert len(singles(choice)) == len(PENALTIES)
    for family in ("boosted", "boosted on fast"):
        for leaves in LEAVES:
            found = [c for c in choice.scores if c.startswith(f"{family}, {leaves} leaves")]
            assert 2 <= len(found) <= len(STAGES)


def test_trees_are_grown_on_only_while_that_makes_them_better():
    quiet = choose([probe(*world(noise))], FAMILIES["boosted"], 0).scores
    loud = choose([probe(*world(jagged))], FAMILIES["boosted"], 0).scores
    assert list(quiet)[:2] == [f"boosted, {leaves} leaves, {STAGES[0]} trees" for leaves in LEAVES]
    assert sum("12 leaves" in label for label in quiet) == 2
    assert sum("12 leaves" in label for label in loud) > 2


def test_candidates_are_scored_alike_alone_and_beside_others():
    one = probe(*world(smooth))
    alone = choose([one], FAMILIES["fast"], 0)
    assert singles(choose([one], AUTO, 0)) == pytest.approx(singles(alone))


def test_real_targets_are_scored_by_squared_error():
    raw, _ = world(smooth)
    one = probe(raw, smooth(raw) + raw[:, 2] ** 2, kind="real")
    choice = choose([one], FAMILIES["fast"], 0)
    assert choice.score_name == "squared error"
    assert min(choice.scores.values()) < 0.2 * np.var(smooth(raw))


def test_the_score_of_a_probability_is_its_held_out_log_loss():
    one = probe(*world(smooth))
    (sight,) = one.sights
    fitted = Fast(0.1).fit(sight.train).predict(sight.held_out)
    by_hand = -np.mean(sight.target * np.log(fitted) + (1 - sight.target) * np.log(1 - fitted))
    scores = choose([one], FAMILIES["fast"], 0).scores
    assert scores["fast, penalty 0.1"] == pytest.approx(by_hand, rel=1e-5)


def test_nothing_to_choose_without_columns_or_with_constant_targets():
    raw, label = world(noise)
    assert probe(raw[:, :0], label).is_trivial
    assert probe(raw, np.ones(len(raw))).is_trivial
    assert not probe(raw, label).is_trivial


def loss_task(features, design, columns=(0, 1, 2)):
    outcome = design.outcome.source[features.blocks.order.source]
    return MeanTask("p_0", "probability", columns, "source", outcome, features.blocks.complements())


def ask(menu, features, task):
    return menu.learner(
        "p_0", lambda: mean_probes(features, [task]), columns="W, Z", target="outcome"
    )


@pytest.mark.parametrize("name", ["fast", "boosted", "auto"])
def test_the_menu_decides_once_and_records_it(name):
    design = shifted_design()
    features = featured(design)
    menu = Menu(Settings(learner=name))
    first = ask(menu, features, loss_task(features, design))
    again = menu.learner("p_0", lambda: pytest.fail("asked twice"), columns="", target="")
    assert first is again
    (record,) = menu.records
    assert (record.name, record.target, record.columns) == ("p_0", "outcome", "W, Z")
    assert len(record.scores) >= 5


def test_the_menu_knows_your_own_and_the_trivial():
    design = shifted_design()
    features = featured(design)
    task = loss_task(features, design)
    own = Menu(Settings(seed=3, learner={"classifier": object(), "regressor": object()}))
    found = ask(own, features, task)
    assert isinstance(found, OwnEstimators)
    assert found.seed == 3
    empty = loss_task(features, design, columns=())
    assert ask(Menu(Settings()), features, empty) == Mean()


def test_probes_hold_out_rows_they_do_not_train_on():
    rows = np.arange(300.0)
    outcome = ByDomain((rows % 2 == 0).astype(float), (rows % 2 == 0).astype(float))
    design = make_design(rows[:, None], rows[:, None], outcome=outcome)
    features = featured(design)
    probes = mean_probes(features, [loss_task(features, design, columns=(0,))])
    assert len(probes) == 5
    for one in probes:
        (sight,) = one.sights
        trained_on, held = set(sight.train.inputs.raw[:, 0]), set(sight.held_out.raw[:, 0])
        assert not trained_on & held
        assert len(trained_on) == 240
        assert len(held) == 60
        assert np.array_equal(sight.train.target, (sight.train.inputs.raw[:, 0] % 2 == 0))


# Twins


def twin_task(shape, noise=1.0, rows=3000, columns=(0, 1, 2), seed=0):
    """A regression of shape(x) plus noise on the halves of source rows."""
    rng = np.random.default_rng(seed)
    features = featured(shifted_design((rows, 300)))
    target = shape(features.raw.source) + noise * rng.normal(size=rows)
    halves = features.blocks.halves()
    return features, MeanTask("mu", "real", columns, "source", target, halves)


def twin_probes(*args, **kwargs):
    features, task = twin_task(*args, **kwargs)
    return mean_probes(features, [task], twins=True)


def wavy(x):
    return np.sin(3 * x[:, 0]) * (x[:, 1] > 0)


def straight(x):
    return x[:, 0]


def test_halves_share_no_rows_with_each_other_or_the_held_out_block():
    for one in twin_probes(straight):
        first, second = (set(sight.train.inputs.raw[:, 0]) for sight in one.sights)
        held = set(one.sights[0].held_out.raw[:, 0])
        assert not first & second
        assert not held & (first | second)
        assert len(one.weight) == len(held) > 590


def test_the_score_of_twins_is_the_product_of_their_residuals():
    one, *_ = twin_probes(straight)
    choice = choose([one], FAMILIES["fast"], 0)
    a, b = (s.target - Fast(1e-2).fit(s.train).predict(s.held_out) for s in one.sights)
    by_hand = np.mean(a * b) + VARIANCE_CHARGE * np.mean((a - b) ** 2) / 2
    assert choice.score_name == "product of twin residuals"
    assert choice.scores["fast, penalty 0.01"] == pytest.approx(by_hand)


def test_twins_rarely_give_a_straight_truth_to_trees_by_chance():
    found = [
        choose(twin_probes(straight, rows=1000, seed=seed), AUTO, seed).learner.name
        for seed in range(12)
    ]
    assert found.count("fast") >= 9


def test_a_wavy_truth_needs_trees():
    choice = choose(twin_probes(wavy, noise=0.3), AUTO, 0)
    assert "boosted" in choice.learner.name
    assert choice.scores["chosen"] < min(singles(choice).values())


def test_twins_of_many_column_sets_learn_fast_and_no_worse():
    slow = twin_probes(wavy)
    quick = [replace(probe, repeated=True) for probe in slow]
    chosen = [choose(probes, FAMILIES["boosted"], 0) for probes in (slow, quick)]
    assert [choice.learner.rate for choice in chosen] == [0.2, 0.6]
    assert len(singles(chosen[1], "boosted")) <= 3 * len(LEAVES)
    assert chosen[1].scores["chosen"] <= 1.01 * chosen[0].scores["chosen"]


def test_trees_of_many_column_sets_learn_faster_and_no_worse():
    slow = probe(*world(jagged))
    both = ([slow], [replace(slow, repeated=True)])
    chosen = [choose(probes, FAMILIES["boosted"], 0) for probes in both]
    assert [choice.learner.rate for choice in chosen] == [0.2, 0.3]
    assert chosen[1].learner.rounds <= chosen[0].learner.rounds
    assert chosen[1].scores["chosen"] <= 1.01 * chosen[0].scores["chosen"]


def test_what_is_chosen_for_twins_is_nearly_unbiased():
    """The best possible score is the noise alone."""
    scores = choose(twin_probes(wavy, noise=0.3, rows=6000), AUTO, 0).scores
    signal = np.var(wavy(np.random.default_rng(0).normal(size=(9999, 3))))
    assert scores["chosen"] < 0.3**2 + 0.25 * signal


@pytest.mark.parametrize("name", ["fast", "boosted", "auto"])
def test_the_menu_judges_quadratic_uses_by_twins_and_remembers(name):
    features, task = twin_task(straight, rows=800)
    menu = Menu(Settings(learner=name))
    first = menu.twin_learner("mu", lambda: [task], features, columns="W", target="T")
    again = menu.twin_learner(
        "mu", lambda: pytest.fail("asked twice"), features, columns="", target=""
    )
    assert first is again
    assert menu.records[0].score_name == "product of twin residuals"


def test_twins_with_nothing_to_learn_are_the_mean():
    features, task = twin_task(straight, rows=800, columns=())
    menu = Menu(Settings(learner="auto"))
    assert menu.twin_learner("mu", lambda: [task], features, columns="", target="") == Mean()


def test_twins_may_have_targets_of_their_own():
    features, task = twin_task(straight, rows=800)
    targets = {half: task.targets + k for k, half in enumerate(task.trained_on)}
    (one, *_) = mean_probes(features, [replace(task, targets=targets)], twins=True)
    gap = np.unique((one.sights[1].target - one.sights[0].target).round(9))
    assert len(gap) == 1
    assert gap[0] != 0


def test_tasks_count_alike_however_many_rows_their_domains_have():
    features = featured(shifted_design((2000, 500)))
    halves = features.blocks.halves()
    tasks = [
        MeanTask("p", "real", (0, 1), domain, raw[:, 0], halves)
        for domain, raw in zip(DOMAINS, features.raw, strict=True)
    ]
    probes = mean_probes(features, tasks, twins=True)
    first = probes[: len(probes) // 2]
    assert sum(p.weight.sum() for p in first) == pytest.approx(1.0)
    assert sum(p.weight.sum() for p in probes) == pytest.approx(2.0)


def blocks_of_twins(target, seen, blocks=5):
    """Held-out blocks that two models see; what they are trained on does not matter here."""
    rows = TrainingRows(inputs_of(seen), target, np.ones(len(target)), "real")
    cut = np.array_split(np.arange(len(target)), blocks)
    return [
        Probe((Sight(rows, rows.inputs.rows(k), target[k]),) * 2, np.ones(len(k)), block)
        for block, k in enumerate(cut)
    ]


def test_a_choice_that_no_block_decides_has_no_noise():
    rng = np.random.default_rng(0)
    raw = rng.normal(size=(1000, 2))
    target = raw[:, 0] + 0.1 * rng.normal(size=1000)
    assert choose(blocks_of_twins(target, raw), ("fast",), 0).noise == pytest.approx(0, abs=1e-4)


def test_a_choice_that_hangs_on_a_block_is_counted():
    rng = np.random.default_rng(1)
    found = []
    for _ in range(20):
        raw = rng.normal(size=(300, 3))
        target = np.sin(2 * raw[:, 0]) + rng.normal(size=300)
        halves = blocks_of_twins(target, raw)
        found.append(choose(halves, FAMILIES["auto"], 0).noise)
    assert min(found) >= 0
    assert np.mean(np.array(found) > 0) > 0.3


def test_one_model_has_no_noise_of_choice():
    raw, target = world(smooth)
    assert choose([probe(raw, target)], ("fast",), 0).noise == 0
