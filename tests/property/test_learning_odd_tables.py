"""Odd tables: whatever the columns hold, fits are finite and in range."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learning_designs import cut, make_design

from whygap.domains import ByDomain
from whygap.learning.features import make_features
from whygap.learning.menu import Menu, mean_probes, ratio_probes
from whygap.learning.models import Fast
from whygap.learning.primitives import MeanTask, fit_means, fit_ratios
from whygap.learning.trees import Boosted
from whygap.nuisances.held_out import out_of_fold, twins
from whygap.settings import Settings

QUICK = settings(max_examples=25, deadline=None)
FAST, TREES = Fast(penalty=1e-3), Boosted(rounds=8)
LEARNERS = [FAST, TREES, replace(TREES, start=FAST)]
COLUMNS = [
    "normal",
    "constant",
    "separating",
    "ten thousand levels",
    "levels of one domain",
    "missing in one fold",
    "missing in one domain",
    "missing everywhere",
    "huge",
    "tiny",
    "one large value",
]
ROWS = (120, 100)


def column(name, rng):
    """(kind, source values, target values) of one odd column; holes of a fold are made later."""
    source, target = rng.normal(size=ROWS[0]), rng.normal(size=ROWS[1])
    match name:
        case "constant":
            return "numeric", np.full(ROWS[0], 3.0), np.full(ROWS[1], 3.0)
        case "separating":
            return "numeric", source, target + 1000
        case "ten thousand levels":
            return "category", *(rng.integers(0, 10_000, n).astype(float) for n in ROWS)
        case "levels of one domain":
            return "category", *(rng.integers(5 * d, 5 * d + 5, ROWS[d]) * 1.0 for d in (0, 1))
        case "missing in one domain":
            return "numeric", source, np.full(ROWS[1], np.nan)
        case "missing everywhere":
            return "numeric", np.full(ROWS[0], np.nan), np.full(ROWS[1], np.nan)
        case "huge":
            return "numeric", 1e15 * source, 1e15 * target
        case "tiny":
            return "numeric", 1e-15 * source, 1e-15 * target
        case "one large value":
            source[5] = 1e9
    return "numeric", source, target


@st.composite
def designs(draw):
    names = draw(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=3))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    kinds, source, target = zip(*(column(name, rng) for name in names), strict=True)
    outcome = ByDomain(*((rng.random(n) < 0.4).astype(float) for n in ROWS))
    tables = [np.column_stack(source), np.column_stack(target)]
    design = make_design(*tables, outcome=outcome, kinds=kinds)
    blocks = cut(design)
    for place, name in enumerate(names):
        if name == "missing in one fold":
            for side, domain in zip(tables, ("source", "target"), strict=True):
                side[blocks.order[domain][blocks.rows(domain, 2)], place] = np.nan
    return replace(design, features=ByDomain(*tables)), blocks


def mean_task(design, features, kind, target=None, trained_on=None):
    blocks = features.blocks
    return MeanTask(
        "p_0",
        kind,
        tuple(range(len(design.columns))),
        "source",
        design.outcome.source[blocks.order.source] if target is None else target,
        trained_on or blocks.complements(),
    )


@QUICK
@given(made=designs(), learner=st.sampled_from(LEARNERS))
def test_conditional_means_are_finite_and_in_range(made, learner):
    design, blocks = made
    features = make_features(design, blocks)
    for kind in ("probability", "real"):
        fitted = out_of_fold(
            fit_means(features, learner, mean_task(design, features, kind)), "source"
        )
        assert np.isfinite(fitted).all()
        if kind == "probability":
            assert ((fitted >= 0) & (fitted <= 1)).all()


@QUICK
@given(made=designs(), learner=st.sampled_from(LEARNERS))
def test_ratios_are_finite_and_positive_in_both_domains(made, learner):
    design, blocks = made
    features = make_features(design, blocks)
    everything = tuple(range(len(design.columns)))
    fits = fit_ratios(features, learner, everything, "pi")
    for domain in ("source", "target"):
        ratio = out_of_fold(fits, domain)
        assert np.isfinite(ratio).all()
        assert (ratio > 0).all()


@QUICK
@given(made=designs(), learner=st.sampled_from(LEARNERS), value=st.sampled_from([0.0, 1.0, -2.5]))
def test_a_constant_target_comes_back(made, learner, value):
    design, blocks = made
    features = make_features(design, blocks)
    kind = "probability" if value in (0, 1) else "real"
    task = mean_task(design, features, kind, np.full(ROWS[0], value), blocks.halves())
    found = twins(fit_means(features, learner, task), "source")
    assert np.allclose(found, value)


@pytest.mark.parametrize("learner", ["fast", "boosted", "auto"])
@settings(max_examples=3, deadline=None)
@given(made=designs())
def test_the_menu_chooses_a_learner_for_any_table(learner, made):
    design, blocks = made
    features = make_features(design, blocks)
    columns = tuple(range(len(design.columns)))
    menu = Menu(Settings(learner=learner))
    task = mean_task(design, features, "probability")
    words = {"columns": "W, Z", "target": "outcome"}
    chosen = menu.learner("p_0", lambda: mean_probes(features, [task]), **words)
    fitted = out_of_fold(fit_means(features, chosen, task), "source")
    assert ((fitted >= 0) & (fitted <= 1)).all()
    chosen = menu.learner("pi", lambda: ratio_probes(features, [columns]), **words)
    ratio = fit_ratios(features, chosen, columns, "pi")
    assert np.isfinite(out_of_fold(ratio, "source")).all()
    twin = menu.twin_learner("p_0 twins", lambda: [task], features, **words)
    fit_means(features, twin, replace(task, trained_on=blocks.halves()))
    for record in menu.records:
        assert all(np.isfinite(score) for score in record.scores.values())
