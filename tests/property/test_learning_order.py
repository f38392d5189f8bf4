"""The order of rows, columns, column sets and workers decides nothing (blocks held fixed)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learning_designs import cut, shifted_design
from small_study import covariate_tables, fast, make_study

import whygap as wg
from whygap._explain import subset_values
from whygap.domains import ByDomain
from whygap.learning.blocks import Blocks
from whygap.learning.features import make_features
from whygap.learning.models import Fast
from whygap.learning.primitives import MeanTask, fit_means, fit_ratios
from whygap.learning.trees import Boosted
from whygap.nuisances.held_out import out_of_fold
from whygap.tables.design import Player

QUICK = settings(max_examples=12, deadline=None)
seeds = st.integers(0, 2**32 - 1)
LEARNERS = (Fast(penalty=1e-2), Boosted(rounds=8))


def mean_and_ratio(design, blocks, learner, columns):
    """One conditional mean and one density ratio, in the table's own row order."""
    features = make_features(design, blocks)
    outcome = design.outcome.source[blocks.order.source]
    task = MeanTask("p_0", "probability", columns, "source", outcome, blocks.complements())
    mean = out_of_fold(fit_means(features, learner, task), "source")
    ratio = fit_ratios(features, learner, columns, "pi")
    return mean, out_of_fold(ratio, "source")


def same_up_to_ties(one, two, learner) -> bool:
    """Trees break exact ties between two columns by their order; nothing else depends on it."""
    if isinstance(learner, Fast):
        return np.allclose(one, two, rtol=1e-6)
    return np.abs(one - two).mean() <= 0.1 * one.std() + 1e-12


def renumbered(blocks: Blocks, new_place: ByDomain) -> Blocks:
    """The same blocks after row i of a domain has moved to place new_place[i]."""
    return replace(blocks, order=new_place.zip(blocks.order, lambda place, order: place[order]))


@QUICK
@given(seed=seeds, which=st.sampled_from(LEARNERS))
def test_permuting_rows_permutes_results(seed, which):
    design = shifted_design((200, 160))
    blocks = cut(design)
    before = mean_and_ratio(design, blocks, which, (0, 1, 2))
    rng = np.random.default_rng(seed)
    order = design.rows.map(rng.permutation)
    moved = design.take(order)
    after = mean_and_ratio(moved, renumbered(blocks, order.map(np.argsort)), which, (0, 1, 2))
    for one, two in zip(before, after, strict=True):
        assert np.allclose(one[order.source], two, rtol=1e-6)


@QUICK
@given(order=st.permutations(range(3)), which=st.sampled_from(LEARNERS))
def test_permuting_columns_leaves_results_alone(order, which):
    design = shifted_design((200, 160))
    blocks = cut(design)
    before = mean_and_ratio(design, blocks, which, (0, 1, 2))
    moved = replace(
        design,
        features=design.features.map(lambda x: x[:, order]),
        columns=tuple(design.columns[j] for j in order),
        players=tuple(Player(f"p{j}", (j,)) for j in range(1, 3)),
    )
    after = mean_and_ratio(moved, blocks, which, (0, 1, 2))
    for one, two in zip(before, after, strict=True):
        assert same_up_to_ties(one, two, which)


@QUICK
@given(columns=st.permutations(range(3)), size=st.integers(0, 3), which=st.sampled_from(LEARNERS))
def test_the_order_within_a_column_set_does_not_matter(columns, size, which):
    design = shifted_design((200, 160))
    blocks = cut(design)
    chosen = tuple(columns[:size])
    before = mean_and_ratio(design, blocks, which, tuple(sorted(chosen)))
    after = mean_and_ratio(design, blocks, which, chosen)
    for one, two in zip(before, after, strict=True):
        assert same_up_to_ties(one, two, which)


@pytest.fixture(scope="module")
def all_subset_values():
    return subset_values(make_study(), "outcome", SUBSETS, fast())


SUBSETS = [["a"], ["b"], ["a", "b"], ["c"], ["b", "c"]]


@settings(max_examples=2, deadline=None)
@given(order=st.permutations(range(len(SUBSETS))))
def test_permuting_subsets_permutes_their_values(all_subset_values, order):
    values = subset_values(make_study(), "outcome", [SUBSETS[k] for k in order], fast())
    assert [v.value for v in values] == [all_subset_values[k].value for k in order]
    assert [v.standard_error for v in values] == [
        all_subset_values[k].standard_error for k in order
    ]


@settings(max_examples=2, deadline=None)
@given(order=st.permutations(range(4)))
def test_permuting_subsets_permutes_covariate_values(order):
    subsets = [["g"], [], ["g", "h"], ["h"]]
    study = make_study(*covariate_tables())
    one = subset_values(study, "covariate", subsets, fast())
    two = subset_values(study, "covariate", [subsets[k] for k in order], fast())
    assert [(v.value, v.standard_error) for v in two] == [
        (one[k].value, one[k].standard_error) for k in order
    ]


def test_two_workers_give_the_numbers_of_one():
    study = make_study()
    one, two = (
        wg.explain(study, detail="shares", settings=fast(learner="auto", n_jobs=jobs))
        for jobs in (1, 2)
    )
    assert one.to_frame().equals(two.to_frame())
    assert one.shares["outcome"].values["a"].value == two.shares["outcome"].values["a"].value
