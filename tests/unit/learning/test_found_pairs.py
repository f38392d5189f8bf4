"""Pairs that outcomes show: by the rows of one training set, for its own models alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from experiments.analysis import draw
from experiments.worlds.by_name import make_world
from whygap.domains import ByDomain
from whygap.learning.blocks import make_blocks
from whygap.learning.features import Features, make_features
from whygap.learning.models import Fast
from whygap.learning.primitives import domain_rows, fit_means
from whygap.nuisances.held_out import mean_task
from whygap.settings import Settings

PRODUCT = frozenset({2, 7})  # Z1 and Z6: what the model of this world does not know


@pytest.fixture(scope="module")
def design():
    return draw(make_world("correlated", "accuracy", {}), (1500, 1500), seed=3)


@pytest.fixture(scope="module")
def blocks(design):
    return make_blocks(design, Settings(), np.random.default_rng(0))


@pytest.fixture(scope="module")
def features(design, blocks) -> Features:
    return make_features(design, blocks, blocks.halves())


def test_the_product_is_found_in_nearly_every_half(features):
    shown = [PRODUCT in map(frozenset, pairs) for pairs in features.found.by_set.values()]
    assert len(shown) == 20
    assert sum(shown) >= 16


def test_outcomes_of_other_rows_have_no_say(design, blocks, features):
    half = blocks.halves()[0]
    rng = np.random.default_rng(1)
    inside = np.concatenate(
        [np.arange(s.start, s.stop) for s in blocks.training_rows("target", half)]
    )
    kept = np.zeros(design.rows.target, dtype=bool)
    kept[blocks.order.target[inside]] = True
    noise = rng.integers(0, 2, design.rows.target)
    outcome = ByDomain(design.outcome.source, np.where(kept, design.outcome.target, noise))
    other = make_features(replace(design, outcome=outcome), blocks, (half,))
    assert other.found.by_set["target", half] == features.found.by_set["target", half]


def test_models_use_no_pair_that_other_rows_have_found(design, blocks, features):
    half = blocks.halves()[0]
    columns = tuple(range(len(design.columns)))
    outcome = design.outcome.target
    task = mean_task(features, "m", "probability", columns, "target", outcome, (half,))
    coefficients = fit_means(features, Fast(1e-5), task).models[half].model.coefficients[1:]
    closed = features.closed("target", half)
    assert closed.any()
    assert np.abs(coefficients[closed]).max() < 1e-5
    own = {frozenset(pair) for pair in features.found.by_set["target", half]}
    terms = features.dictionary.terms
    opened = [k for k, term in enumerate(terms) if term.columns in own]
    assert np.abs(coefficients[opened]).max() > 1e-2


def test_domain_classifiers_use_what_outcomes_did_not_show(blocks, features):
    rows = domain_rows(features, blocks.complement(0), tuple(range(12)))
    closed = features.closed("source", None)
    np.testing.assert_array_equal(rows.inputs.simple < 0, closed)
    free = {frozenset(pair) for pair in features.found.free}
    shut = {t.columns for t, one in zip(features.dictionary.terms, closed, strict=True) if one}
    assert shut
    assert not shut & free


def test_few_columns_have_all_products_and_none_is_closed(design, blocks):
    few = replace(
        design,
        features=design.features.map(lambda x: x[:, :4]),
        columns=design.columns[:4],
        baseline=(0, 1),
        players=design.players[:2],
    )
    features = make_features(few, blocks, blocks.halves())
    assert not features.closed("target", None).any()
