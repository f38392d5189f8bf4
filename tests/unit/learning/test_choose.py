"""Choosing learners: by out-of-fold loss, once per kind of nuisance, recorded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from learning_designs import featured, inputs_of, make_design, shifted_design
from scipy import special

from whygap.domains import ByDomain
from whygap.learning.boosted import Boosted
from whygap.learning.choose import (
    PENALTIES,
    Probe,
    all_trivial,
    choose_auto,
    choose_boosted,
    choose_fast,
    hopeless,
)
from whygap.learning.conditional_mean import MeanTask
from whygap.learning.menu import Menu, mean_probes
from whygap.learning.models import Fast, Mean
from whygap.learning.own import OwnEstimators
from whygap.learning.paper import PaperMenu
from whygap.settings import Settings


def probe(raw, target, kind="probability", split=1000):
    inputs = inputs_of(raw)
    train, held = slice(0, split), slice(split, None)
    return Probe(
        kind,
        replace(inputs, raw=inputs.raw[train], basis=inputs.basis[train]),
        target[train],
        np.ones(split),
        replace(inputs, raw=inputs.raw[held], basis=inputs.basis[held]),
        target[held],
        np.ones(len(target) - split),
    )


def world(shape, seed=0, rows=2000, columns=4):
    rng = np.random.default_rng(seed)
    raw = rng.normal(size=(rows, columns))
    return raw, (rng.random(rows) < special.expit(shape(raw))).astype(float)


def smooth(x):
    return 2 * x[:, 0] - x[:, 1]


def jagged(x):
    return 4.0 * ((x[:, 0] > 0.2) & (x[:, 1] > -0.3) & (x[:, 2] < 0.5)) - 2


def noise(x):
    return np.zeros(len(x))


def test_a_smooth_world_is_given_to_the_fast_learner():
    learner = choose_auto([probe(*world(smooth))], 0).learner
    assert "fast" in learner.name


def test_a_jagged_world_is_given_to_trees():
    choice = choose_auto([probe(*world(jagged))], 0)
    assert "boosted" in choice.learner.name
    fast_scores = [v for k, v in choice.scores.items() if k.startswith("fast")]
    assert choice.scores["chosen blend"] < min(fast_scores) - 0.01


@pytest.mark.parametrize("shape", [smooth, jagged, noise])
def test_the_blend_is_as_good_as_the_best_single_candidate(shape):
    choice = choose_auto([probe(*world(shape, seed)) for seed in range(2)], 0)
    single = [v for k, v in choice.scores.items() if k != "chosen blend"]
    assert choice.scores["chosen blend"] <= 1.01 * min(single)


def test_noise_is_penalised_more_than_a_signal():
    quiet = choose_fast([probe(*world(noise))]).learner
    loud = choose_fast([probe(*world(lambda x: 3 * np.sin(2 * x[:, 0])))]).learner
    assert quiet.penalty > loud.penalty
    assert {quiet.penalty, loud.penalty} <= set(PENALTIES)


def test_trees_grow_with_the_signal():
    quiet = choose_boosted([probe(*world(noise))], 0).learner
    loud = choose_boosted([probe(*world(jagged))], 0).learner
    assert quiet.rounds < loud.rounds


def test_every_candidate_has_a_score():
    choice = choose_auto([probe(*world(smooth))], 0)
    assert choice.score_name == "log loss"
    assert sum(label.startswith("fast") for label in choice.scores) == 5
    for family in ("boosted", "boosted on fast"):
        for leaves in (4, 12):
            found = [c for c in choice.scores if c.startswith(f"{family}, {leaves} leaves")]
            assert 2 <= len(found) <= 5


def test_trees_are_not_grown_on_once_they_are_hopeless():
    scores = choose_boosted([probe(*world(noise))], 0).scores
    assert "boosted, 12 leaves, 80 trees" not in scores
    assert "boosted, 12 leaves, 5 trees" in scores


def test_trees_are_grown_on_while_they_are_not_worse_than_fewer():
    assert not hopeless(0.6, [])
    assert not hopeless(0.703, [0.8, 0.7])
    assert hopeless(0.71, [0.8, 0.7])


def test_trees_with_random_cuts_are_other_trees():
    raw, outcome = world(smooth)
    one = probe(raw, outcome)
    fitted = [
        Boosted(rounds=10, random_cuts=cuts)
        .fit(one.train, one.target, one.weight, "probability")
        .predict(one.held_out)
        for cuts in (False, True, True)
    ]
    assert not np.array_equal(fitted[0], fitted[1])
    assert np.array_equal(fitted[1], fitted[2])


def test_the_fast_learner_is_scored_alike_alone_and_beside_others():
    choice = choose_auto([probe(*world(smooth))], 0)
    assert choice.scores["fast, penalty 0.01"] == pytest.approx(
        choose_fast([probe(*world(smooth))]).scores["fast, penalty 0.01"]
    )


def test_real_targets_are_scored_by_squared_error():
    raw, _ = world(smooth)
    choice = choose_fast([probe(raw, smooth(raw) + raw[:, 2] ** 2, kind="real")])
    assert choice.score_name == "squared error"
    assert min(choice.scores.values()) < 0.2 * np.var(smooth(raw))


def test_the_score_of_a_fast_learner_is_its_held_out_log_loss():
    one = probe(*world(smooth))
    scores = choose_fast([one]).scores
    fitted = (
        Fast(penalty=0.1)
        .fit(one.train, one.target, one.weight, "probability")
        .predict(one.held_out)
    )
    y = one.held_out_target
    by_hand = -np.mean(y * np.log(fitted) + (1 - y) * np.log(1 - fitted))
    assert scores["fast, penalty 0.1"] == pytest.approx(by_hand)


def test_nothing_to_choose_without_columns_or_with_constant_targets():
    raw, label = world(noise)
    assert all_trivial([probe(raw[:, :0], label)])
    assert all_trivial([probe(raw, np.ones(len(raw)))])
    assert not all_trivial([probe(raw, label)])


def loss_task(features, design, columns=(0, 1, 2)):
    outcome = design.outcome.source[features.blocks.order.source]
    return MeanTask(
        "p_0", "probability", columns, features.plain.source, outcome, features.blocks.complements()
    )


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


def test_the_menu_knows_the_paper_your_own_and_the_trivial():
    design = shifted_design()
    features = featured(design)
    task = loss_task(features, design)
    assert isinstance(ask(Menu(Settings(learner="paper")), features, task), PaperMenu)
    own = Menu(Settings(learner={"classifier": object(), "regressor": object()}))
    assert isinstance(ask(own, features, task), OwnEstimators)
    empty = loss_task(features, design, columns=())
    assert ask(Menu(Settings()), features, empty) == Mean()


def test_probes_hold_out_rows_they_do_not_train_on():
    rows = np.arange(300.0)
    outcome = ByDomain((rows % 2 == 0).astype(float), (rows % 2 == 0).astype(float))
    design = make_design(rows[:, None], rows[:, None], outcome=outcome)
    features = featured(design)
    probes = mean_probes(features, [loss_task(features, design, columns=(0,))])
    assert len(probes) == 3
    for one in probes:
        trained, held = set(one.train.raw[:, 0]), set(one.held_out.raw[:, 0])
        assert not trained & held
        assert len(trained) == 240
        assert len(held) == 60
        assert np.array_equal(one.target, (one.train.raw[:, 0] % 2 == 0))
