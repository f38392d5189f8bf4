"""Density ratios: odds times n_0/n_1, from classifiers chosen by log loss."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from learning_designs import cut, featured, make_design
from scipy import stats
from sklearn.metrics import log_loss

from whygap.domains import ByDomain
from whygap.learning.choose import FAMILIES, choose
from whygap.learning.menu import Menu, ratio_probes
from whygap.learning.models import Fast, Mean
from whygap.learning.primitives import domain_rows, fit_ratios, odds
from whygap.learning.trees import Boosted
from whygap.nuisances.held_out import out_of_fold
from whygap.settings import Settings

AUTO = FAMILIES["auto"]
FAST = Fast(penalty=1e-2)


def normal_design(rows=(1500, 500), shift=1.0, seed=0):
    """One shifted normal column and one of noise: the log ratio is shift x - shift^2/2."""
    rng = np.random.default_rng(seed)
    source, target = rng.normal(size=(rows[0], 2)), rng.normal(size=(rows[1], 2))
    target[:, 0] += shift
    return make_design(source, target)


def true_ratio(x, shift=1.0):
    return stats.norm.pdf(x, shift) / stats.norm.pdf(x)


def fitted_ratio(design, learner, columns=(0, 1), domain="source"):
    features = featured(design)
    fits = fit_ratios(features, learner, columns, "pi_wz")
    return out_of_fold(fits, domain)


@pytest.mark.parametrize("rows", [(1500, 500), (500, 1500), (900, 900)])
@pytest.mark.parametrize("learner", [FAST, Boosted(rounds=20, leaves=4)], ids=lambda x: x.name)
def test_the_ratio_has_mean_one_over_the_source_whatever_the_sizes(rows, learner):
    ratio = fitted_ratio(normal_design(rows), learner)
    assert ratio.mean() == pytest.approx(1, abs=0.12)


def test_a_known_ratio_is_recovered():
    design = normal_design((4000, 2000))
    truth = true_ratio(design.features.source[:, 0])
    ratio = fitted_ratio(design, FAST)
    assert np.mean((ratio - truth) ** 2) < 0.1 * np.var(truth)


def test_the_ratio_at_target_rows_is_the_same_function():
    design = normal_design((4000, 2000))
    truth = true_ratio(design.features.target[:, 0])
    ratio = fitted_ratio(design, FAST, domain="target")
    assert np.corrcoef(np.log(ratio), np.log(truth))[0, 1] > 0.98


def test_weights_count_as_rows():
    design = normal_design((800, 800))
    heavy = ByDomain(np.ones(800), np.full(800, 3.0))
    plain = fitted_ratio(design, FAST)
    weighted = fitted_ratio(replace(design, weights=heavy), FAST)
    assert np.allclose(plain, weighted, rtol=1e-6)


@pytest.mark.parametrize("learner", [FAST, Mean(), Boosted()])
def test_without_columns_the_ratio_is_one(learner):
    assert np.allclose(fitted_ratio(normal_design(), learner, columns=()), 1)


@pytest.mark.parametrize("learner", [FAST, Boosted(rounds=40)], ids=lambda x: x.name)
def test_identical_domains_have_a_ratio_near_one(learner):
    ratio = fitted_ratio(normal_design((2000, 2000), shift=0.0), learner)
    assert abs(ratio.mean() - 1) < 0.05
    assert ratio.std() < 0.5


@pytest.mark.parametrize("learner", [FAST, Boosted(rounds=80)], ids=lambda x: x.name)
def test_separable_domains_give_a_finite_ratio(learner):
    design = normal_design((300, 300), shift=50.0)
    for domain in ("source", "target"):
        ratio = fitted_ratio(design, learner, domain=domain)
        assert np.isfinite(ratio).all()
        assert (ratio > 0).all()
    assert fitted_ratio(design, learner).mean() < 0.05


def test_odds_stay_finite():
    assert np.isfinite(odds(np.array([0.0, 0.5, 1.0]))).all()
    assert odds(np.array([0.75])) == pytest.approx([3.0])


def test_training_rows_of_both_domains_are_labelled():
    design = normal_design((50, 40))
    features = featured(design)
    rows = domain_rows(features, frozenset([0, 1]), (0,))
    inputs, label = rows.inputs, rows.target
    assert len(inputs) == len(label) == len(rows.weight)
    assert set(inputs.raw[label == 1, 0]) <= set(design.features.target[:, 0])
    assert set(inputs.raw[label == 0, 0]) <= set(design.features.source[:, 0])


def test_the_score_is_the_log_loss_of_the_classifier():
    features = featured(normal_design((600, 400)))
    (probe, *_) = ratio_probes(features, [(0, 1)])
    choice = choose([probe], FAMILIES["fast"], 0)
    assert choice.score_name == "log loss"
    (sight,) = probe.sights
    found = Fast(1e-2).fit(sight.train).predict(sight.held_out)
    by_hand = log_loss(sight.target, found)
    assert choice.scores["fast, penalty 0.01"] == pytest.approx(by_hand, rel=1e-5)


def test_the_choice_recovers_a_known_ratio():
    design = normal_design((3000, 2000))
    features = featured(design)
    choice = choose(ratio_probes(features, [(0, 1)]), AUTO, 0)
    fits = fit_ratios(features, choice.learner, (0, 1), "pi")
    truth = true_ratio(design.features.source[:, 0])
    assert np.mean((out_of_fold(fits, "source") - truth) ** 2) < 0.25 * np.var(truth)
    assert choice.scores["chosen"] <= 1.005 * min(choice.scores.values())


def test_a_few_rows_get_no_enormous_odds():
    """A level that only target rows have invites them; linear terms are penalised as well."""
    rng = np.random.default_rng(1)
    source, target = rng.normal(size=(3000, 2)), rng.normal(0.3, 1, size=(3000, 2))
    source[:, 1], target[:, 1] = 0.0, 0.0
    source[:1, 1], target[:60, 1] = 1.0, 1.0
    design = make_design(source, target)
    wild, calm = (fitted_ratio(design, Fast(1e-2, light)).max() for light in (1e-6, 1e-3))
    assert calm < 0.7 * wild


def test_trees_are_chosen_where_the_ratio_jumps():
    rng = np.random.default_rng(0)
    source, target = rng.uniform(-1, 1, (3000, 2)), rng.uniform(-1, 1, (3000, 2))
    inside = np.all(np.abs(target) < 0.5, axis=1) | (rng.random(3000) < 0.3)
    design = make_design(source, target[inside])
    choice = choose(ratio_probes(featured(design), [(0, 1)]), AUTO, 0)
    assert "boosted" in choice.learner.name


@pytest.mark.parametrize(
    ("name", "allowed"), [("fast", {"fast"}), ("boosted", {"boosted"}), ("auto", set(AUTO))]
)
def test_the_menu_keeps_to_the_families_of_its_setting(name, allowed):
    features = featured(normal_design())
    menu = Menu(Settings(learner=name))
    learner = menu.learner(
        "pi", lambda: ratio_probes(features, [(0, 1)]), columns="W", target="domain"
    )
    assert learner.name in allowed


def test_probes_of_ratios_hold_out_whole_blocks():
    design = normal_design((200, 200))
    blocks = cut(design)
    features = featured(design)
    assert np.array_equal(features.blocks.order.source, blocks.order.source)
    for probe in ratio_probes(features, [(0, 1)]):
        (sight,) = probe.sights
        assert not set(sight.train.inputs.raw[:, 0]) & set(sight.held_out.raw[:, 0])
        assert len(sight.train.inputs) + len(sight.held_out) == 400
