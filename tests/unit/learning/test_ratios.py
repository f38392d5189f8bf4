"""Density ratios: odds times n_0/n_1, chosen by the least-squares loss of the ratio itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from learning_designs import cut, featured, make_design
from scipy import stats
from sklearn.metrics import log_loss

from whygap.domains import ByDomain
from whygap.learning.boosted import Boosted
from whygap.learning.choose_ratio import (
    RatioBlend,
    _Candidate,
    _steadiest,
    as_ratio_blend,
    choose_ratio,
    odds,
)
from whygap.learning.density_ratio import domain_inputs, fit_ratios
from whygap.learning.menu import Menu, ratio_probes
from whygap.learning.models import Blend, Fast, Mean
from whygap.nuisances.held_out import ratio_out_of_fold
from whygap.settings import Settings

FAMILIES = ("fast", "boosted", "boosted on fast")
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
    fits = fit_ratios(features, learner, columns, features.blocks.complements(), "pi_wz")
    return ratio_out_of_fold(fits, domain)


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


@pytest.mark.parametrize(
    "learner", [FAST, Mean(), Boosted(), RatioBlend((0.5, 0.5), (FAST, Boosted()))]
)
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


def test_a_blend_averages_the_odds():
    design = normal_design()
    parts = [fitted_ratio(design, learner) for learner in (FAST, Boosted(rounds=10))]
    blend = RatioBlend((0.3, 0.7), (FAST, Boosted(rounds=10)))
    assert np.allclose(fitted_ratio(design, blend), 0.3 * parts[0] + 0.7 * parts[1])
    assert blend.name == "0.30 fast + 0.70 boosted"


def test_odds_stay_finite():
    assert np.isfinite(odds(np.array([0.0, 0.5, 1.0]))).all()
    assert odds(np.array([0.75])) == pytest.approx([3.0])


def test_any_learner_is_a_blend_of_one():
    assert as_ratio_blend(FAST) == RatioBlend((1.0,), (FAST,))
    assert as_ratio_blend(Blend((1.0,), (FAST,))) == RatioBlend((1.0,), (FAST,))
    blend = RatioBlend((1.0,), (FAST,))
    assert as_ratio_blend(blend) is blend


def test_training_rows_of_both_domains_are_labelled():
    design = normal_design((50, 40))
    features = featured(design)
    inputs, label, weight = domain_inputs(features, (0,), frozenset([0, 1]))
    assert len(inputs) == len(label) == len(weight)
    assert set(inputs.raw[label == 1, 0]) <= set(design.features.target[:, 0])
    assert set(inputs.raw[label == 0, 0]) <= set(design.features.source[:, 0])


def test_the_score_is_the_log_loss_of_the_classifier():
    design = normal_design((600, 400))
    features = featured(design)
    (probe, *_) = ratio_probes(features, [(0, 1)])
    choice = choose_ratio([probe], ("fast",), 0)
    assert choice.score_name == "log loss"
    learner = Fast(1e-2, 1e-4)
    fitted = learner.fit(probe.train, probe.target, probe.weight, "probability")
    by_hand = log_loss(probe.held_out_target, fitted.predict(probe.held_out))
    assert choice.scores["fast, penalties 0.01 and 0.0001"] == pytest.approx(by_hand)


def test_the_choice_recovers_a_known_ratio():
    design = normal_design((3000, 2000))
    features = featured(design)
    choice = choose_ratio(ratio_probes(features, [(0, 1)]), FAMILIES, 0)
    fits = fit_ratios(features, choice.learner, (0, 1), features.blocks.complements(), "pi")
    truth = true_ratio(design.features.source[:, 0])
    assert np.mean((ratio_out_of_fold(fits, "source") - truth) ** 2) < 0.25 * np.var(truth)
    assert choice.scores["chosen"] <= 1.005 * min(choice.scores.values())


def test_of_equally_good_classifiers_the_steadiest_is_taken():
    """A column that marks a handful of target rows invites enormous odds; a steady one exists."""
    rng = np.random.default_rng(1)
    source, target = rng.normal(size=(3000, 2)), rng.normal(0.3, 1, size=(3000, 2))
    source[:, 1], target[:, 1] = 0.0, 0.0
    source[:2, 1], target[:60, 1] = 1.0, 1.0
    features = featured(make_design(source, target))
    choice = choose_ratio(ratio_probes(features, [(0, 1)]), ("fast",), 0)
    wild = fit_ratios(features, FAST, (0, 1), features.blocks.complements(), "pi")
    calm = fit_ratios(features, choice.learner, (0, 1), features.blocks.complements(), "pi")
    assert ratio_out_of_fold(calm, "source").max() <= ratio_out_of_fold(wild, "source").max()


def test_a_steadier_classifier_that_is_surely_worse_is_not_taken():
    """Shrunken slopes are steadier, and biased: with many rows the difference shows."""
    losses = np.random.default_rng(2).gamma(1.0, 0.5, 4000) / 4000
    best = _Candidate("best", None, losses, 30.0)
    by_chance = np.random.default_rng(3).normal(0, 0.1, 4000) / 4000
    alike = _Candidate("alike", None, losses + by_chance - by_chance.mean() + 1e-8, 20.0)
    worse = _Candidate("surely worse", None, losses * 1.002, 15.0)
    assert worse.log_loss < 1.005 * best.log_loss
    assert _steadiest([best, worse], strict=True) is best
    assert _steadiest([best, alike, worse], strict=True) is alike
    assert _steadiest([best, alike, worse], strict=False) is worse


def test_trees_are_chosen_where_the_ratio_jumps():
    rng = np.random.default_rng(0)
    source, target = rng.uniform(-1, 1, (3000, 2)), rng.uniform(-1, 1, (3000, 2))
    inside = np.all(np.abs(target) < 0.5, axis=1) | (rng.random(3000) < 0.3)
    design = make_design(source, target[inside])
    choice = choose_ratio(ratio_probes(featured(design), [(0, 1)]), FAMILIES, 0)
    assert "boosted" in choice.learner.name


@pytest.mark.parametrize(
    ("name", "allowed"), [("fast", {"fast"}), ("boosted", {"boosted"}), ("auto", set(FAMILIES))]
)
def test_the_menu_keeps_to_the_families_of_its_setting(name, allowed):
    features = featured(normal_design())
    menu = Menu(Settings(learner=name))
    learner = menu.learner(
        "pi", lambda: ratio_probes(features, [(0, 1)]), columns="W", target="domain", ratio=True
    )
    assert learner.name in allowed


def test_probes_of_ratios_hold_out_whole_blocks():
    design = normal_design((200, 200))
    blocks = cut(design)
    features = featured(design)
    assert np.array_equal(features.blocks.order.source, blocks.order.source)
    for probe in ratio_probes(features, [(0, 1)]):
        assert not set(probe.train.raw[:, 0]) & set(probe.held_out.raw[:, 0])
        assert len(probe.train) + len(probe.held_out) == 400
