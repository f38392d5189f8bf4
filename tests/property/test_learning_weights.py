"""A row of weight k counts as k rows, wherever that is exact; a row of weight 0 as none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learning_designs import cut, make_design
from sklearn.linear_model import LinearRegression, LogisticRegression

from whygap.domains import DOMAINS, ByDomain
from whygap.learning.blocks import Blocks
from whygap.learning.estimators import OwnEstimators
from whygap.learning.features import make_features
from whygap.learning.menu import Menu, mean_probes, ratio_probes
from whygap.learning.models import Fast
from whygap.learning.primitives import MeanTask, fit_means, fit_ratios
from whygap.settings import Settings

QUICK = settings(max_examples=6, deadline=None)
seeds = st.integers(0, 2**32 - 1)
# With almost no penalty the fit does not depend on how basis columns are scaled, which is read off
# the rows themselves, not off their weights.
FAST = Fast(penalty=1e-9, simple_penalty=1e-9)
OWN = OwnEstimators(LogisticRegression(C=1e8, tol=1e-10, max_iter=2000), LinearRegression())


def few_valued_design(rng, rows=(150, 120)):
    """Columns of a few values each: the dictionary spans the same functions either way."""
    tables = [
        np.column_stack([rng.integers(0, 2, n), rng.integers(0, 3, n)]).astype(float) for n in rows
    ]
    tables[1][:, 0] = np.where(rng.random(rows[1]) < 0.3, 1.0, tables[1][:, 0])
    outcome = ByDomain(*((rng.random(len(x)) < 0.3 + 0.2 * x[:, 0]) * 1.0 for x in tables))
    return make_design(*tables, outcome=outcome)


def repeated(design, blocks, count):
    """Every row `count` times, in the block it was in."""
    index = count.map(lambda k: np.repeat(np.arange(len(k)), k))
    copies = design.take(index)
    label = {}
    for domain in DOMAINS:
        own = np.empty(len(count[domain]), dtype=int)
        for block in range(blocks.count):
            own[blocks.order[domain][blocks.rows(domain, block)]] = block
        label[domain] = own[index[domain]]
    labels = ByDomain(label["source"], label["target"])
    cut_again = Blocks(
        blocks.count,
        labels.map(lambda b: np.argsort(b, kind="stable")),
        labels.map(lambda b: np.searchsorted(np.sort(b), np.arange(blocks.count + 1))),
    )
    return copies, cut_again


def predicted(design, blocks, learner, kind):
    """A conditional mean and a ratio, per block of the source: value by distinct row."""
    features = make_features(design, blocks)
    order = blocks.order.source
    task = MeanTask(
        "p_0",
        kind,
        (0, 1),
        "source",
        design.outcome.source[order],
        blocks.complements(),
    )
    means = fit_means(features, learner, task)
    ratios = fit_ratios(features, learner, (0, 1), "pi")
    found = {}
    for block in range(blocks.count):
        rows = design.features.source[order[blocks.rows("source", block)]]
        mean = means.predict(blocks.complement(block), "source", block)
        ratio = ratios.predict(blocks.complement(block), "source", block)
        for row, *values in zip(map(tuple, rows), mean, ratio, strict=True):
            found[(block, *row)] = values
    return found


@QUICK
@given(
    seed=seeds, kind=st.sampled_from(["probability", "real"]), learner=st.sampled_from([FAST, OWN])
)
def test_integer_weights_are_repeated_rows(seed, kind, learner):
    rng = np.random.default_rng(seed)
    design = few_valued_design(rng)
    blocks = cut(design)
    # Weights have mean 1 in each domain; with equal mean counts that leaves the odds alone.
    count = design.rows.map(lambda n: rng.permutation(np.tile([1, 2, 3], n // 3)))
    weighted = replace(design, weights=count.map(lambda k: k.astype(float)))
    one = predicted(weighted, blocks, learner, kind)
    two = predicted(*repeated(design, blocks, count), learner, kind)
    assert one.keys() == two.keys()
    for key, values in one.items():
        assert np.allclose(values, two[key], rtol=1e-4), key
    unweighted = predicted(design, blocks, learner, kind)
    assert any(not np.allclose(one[key], unweighted[key], rtol=2e-2) for key in one)


@QUICK
@given(seed=seeds)
def test_rows_without_weight_are_not_there(seed):
    rng = np.random.default_rng(seed)
    design = few_valued_design(rng)
    weight = design.rows.map(lambda n: (rng.random(n) < 0.8) * 1.0)
    spoiled = replace(
        design,
        weights=weight,
        outcome=design.outcome.zip(weight, lambda y, w: np.where(w > 0, y, 1 - y)),
    )
    blocks = cut(design)
    one = predicted(replace(design, weights=weight), blocks, FAST, "probability")
    two = predicted(spoiled, blocks, FAST, "probability")
    assert all(np.allclose(one[key], two[key], rtol=1e-6) for key in one)


@QUICK
@given(seed=seeds, factor=st.floats(1e-3, 1e3))
def test_the_unit_of_weights_does_not_matter(seed, factor):
    rng = np.random.default_rng(seed)
    design = few_valued_design(rng)
    weight = design.rows.map(lambda n: rng.uniform(0.5, 2, n))
    blocks = cut(design)
    one = predicted(replace(design, weights=weight), blocks, Fast(1e-2), "probability")
    scaled = weight.map(lambda w: factor * w)
    two = predicted(replace(design, weights=scaled), blocks, Fast(1e-2), "probability")
    assert all(np.allclose(one[key], two[key], rtol=1e-6) for key in one)


@pytest.mark.parametrize("ratio", [False, True])
def test_learners_are_chosen_by_weighted_scores(ratio):
    """Scores of rows counted twice are those of rows that are there twice."""
    rng = np.random.default_rng(3)
    design = few_valued_design(rng, (400, 300))
    blocks = cut(design)
    twice = design.rows.map(lambda n: np.full(n, 2))
    some = design.rows.map(lambda n: 1 + (np.arange(n) % 5 == 0))
    scores = {}
    for name, (table, cut_, weights) in {
        "plain": (design, blocks, None),
        "twice": (*repeated(design, blocks, twice), None),
        "some": (*repeated(design, blocks, some), None),
        "weighted": (design, blocks, some.map(lambda k: k.astype(float))),
    }.items():
        scores[name] = _scores(replace(table, weights=weights), cut_, ratio)
    assert scores["weighted"] == pytest.approx(scores["some"], rel=2e-3)
    assert scores["twice"] == pytest.approx(scores["plain"], rel=1e-6)
    off = np.abs(np.array(scores["weighted"]) / scores["plain"] - 1)
    assert off.max() > 4e-3, "the weights make a difference"


def _scores(design, blocks, ratio) -> list[float]:
    """The out-of-fold losses of every candidate of the fast learner."""
    features = make_features(design, blocks)
    order = blocks.order.source
    task = MeanTask(
        "p_0",
        "probability",
        (0, 1),
        "source",
        design.outcome.source[order],
        blocks.complements(),
    )
    menu = Menu(Settings(learner="fast"))
    menu.learner(
        "kind",
        lambda: ratio_probes(features, [(0, 1)]) if ratio else mean_probes(features, [task]),
        columns="W",
        target="y",
    )
    (record,) = menu.records
    return list(record.scores.values())
