"""Blocks: disjoint, stratified, clusters together; halvings disjoint and without the row's own."""

from __future__ import annotations

import re
from itertools import combinations, product

import numpy as np
import pytest
from learning_designs import cut, make_design, shifted_design

from whygap.domains import ByDomain
from whygap.errors import TableError

DOMAINS = ("source", "target")


def rows_of(blocks, domain, block):
    return blocks.order[domain][blocks.rows(domain, block)]


@pytest.mark.parametrize(("folds", "domain"), list(product((3, 4, 5, 7), DOMAINS)))
def test_blocks_are_disjoint_and_hold_every_row(folds, domain):
    design = shifted_design()
    blocks = cut(design, folds=folds)
    found = np.concatenate([rows_of(blocks, domain, k) for k in range(blocks.count)])
    assert len(found) == design.rows[domain]
    assert np.array_equal(np.sort(found), np.arange(design.rows[domain]))


@pytest.mark.parametrize("domain", DOMAINS)
def test_blocks_are_as_large_as_each_other_and_share_the_outcome_evenly(domain):
    design = shifted_design((1003, 507))
    blocks = cut(design, folds=5)
    outcome = design.outcome[domain]
    sizes = [len(rows_of(blocks, domain, k)) for k in range(5)]
    positives = [outcome[rows_of(blocks, domain, k)].sum() for k in range(5)]
    assert max(sizes) - min(sizes) <= 2
    assert max(positives) - min(positives) <= 1


def test_rows_of_one_cluster_share_a_block():
    rng = np.random.default_rng(3)
    design = shifted_design((600, 500))
    clusters = ByDomain(rng.integers(0, 90, 600), rng.integers(1000, 1080, 500))
    grouped = make_design(*design.features, outcome=design.outcome, clusters=clusters)
    blocks = cut(grouped, folds=5)
    for domain in DOMAINS:
        label = np.empty(design.rows[domain], int)
        for k in range(5):
            label[rows_of(blocks, domain, k)] = k
        for cluster in np.unique(clusters[domain]):
            assert len(set(label[clusters[domain] == cluster])) == 1
        assert np.bincount(label).min() > 0.1 * design.rows[domain]


def test_few_clusters_of_unequal_size_leave_no_block_empty():
    """Six hospitals, one of which has more than half of the rows."""
    sizes = (550, 200, 100, 60, 50, 40)
    rng, clusters = np.random.default_rng(0), np.repeat(np.arange(6), sizes)
    source, target = rng.normal(size=(2, 1000, 2))
    design = make_design(source, target, clusters=ByDomain(clusters, clusters + 10))
    for seed in range(30):
        blocks = cut(design, seed, folds=5)
        filled = [len(rows_of(blocks, "source", k)) for k in range(5)]
        assert sorted(filled) in ([60, 90, 100, 200, 550], [50, 100, 100, 200, 550])


def test_a_block_without_clusters_is_said_to_want_some():
    rng, clusters = np.random.default_rng(0), np.repeat(np.arange(3), 100)
    source, target = rng.normal(size=(2, 300, 2))
    design = make_design(source, target, clusters=ByDomain(clusters, clusters + 10))
    with pytest.raises(TableError) as caught:
        cut(design, folds=5)
    assert "300 rows" in str(caught.value)
    assert "in 3 clusters. Use fewer folds, or more rows and clusters." in str(caught.value)


def test_rows_of_a_cluster_in_both_tables_share_a_block():
    design = shifted_design((600, 500))
    clusters = ByDomain(np.arange(600) // 2, 100 + np.arange(500) // 2)
    blocks = cut(make_design(*design.features, outcome=design.outcome, clusters=clusters), folds=5)
    found = {}
    for domain, block in product(DOMAINS, range(5)):
        rows = rows_of(blocks, domain, block)
        assert abs(len(rows) - design.rows[domain] / 5) < 0.04 * design.rows[domain]
        for cluster in clusters[domain][rows]:
            assert found.setdefault(cluster, block) == block


def test_the_seed_decides_the_blocks():
    design = shifted_design()
    one, again, other = cut(design, 1), cut(design, 1), cut(design, 2)
    assert np.array_equal(one.order.source, again.order.source)
    assert not np.array_equal(one.order.source, other.order.source)


@pytest.mark.parametrize("folds", [3, 4, 5, 7, 10, 20])
def test_halves_are_disjoint_and_leave_out_the_evaluated_block(folds):
    blocks = cut(shifted_design((800, 700)), folds=folds)
    for block in range(blocks.count):
        pairs = blocks.halvings(block)
        assert len(set(pairs)) == 3
        for one, two in pairs:
            assert one
            assert two
            assert not one & two
            assert block not in one | two
            assert one | two == blocks.complement(block)
            assert abs(len(one) - len(two)) <= 1
            assert {one, two} <= set(blocks.halves())


def test_three_halvings_of_five_blocks_need_ten_fits():
    blocks = cut(shifted_design(), folds=5)
    assert len(blocks.halvings(0)) == 3
    assert len(blocks.halves()) == 10


def test_halvings_of_many_blocks_are_unlike_each_other():
    """Two that share all but one of their blocks would have hardly anything to disagree on."""
    blocks = cut(shifted_design((800, 700)), folds=10)
    firsts = [one for one, _ in blocks.halvings(0)]
    assert max(len(a & b) for a, b in combinations(firsts, 2)) <= 2


def test_a_fold_of_two_blocks_is_left_out_as_one():
    blocks = cut(shifted_design((800, 700)), folds=3)
    assert blocks.count == 6
    assert blocks.complement(2) == blocks.complement(3) == {0, 1, 4, 5}
    assert len(blocks.complements()) == 3


def test_rows_come_back_in_their_own_order():
    design = shifted_design()
    blocks = cut(design, folds=5)
    for domain in DOMAINS:
        sorted_rows = blocks.order[domain]
        assert np.array_equal(sorted_rows[blocks.back[domain]], np.arange(design.rows[domain]))


@pytest.mark.parametrize("domain", DOMAINS)
def test_training_rows_are_a_stratified_part_of_every_block(domain, monkeypatch):
    design = shifted_design((4000, 3000))
    whole = cut(design, folds=5)
    monkeypatch.setattr("whygap.learning.blocks.MAX_TRAINING_ROWS", 1000)
    some = cut(design, folds=5)
    chosen = []
    for block in range(5):
        rows = rows_of(some, domain, block)
        assert np.array_equal(np.sort(rows), rows_of(whole, domain, block))
        assert whole.training_rows(domain, {block}) == (whole.rows(domain, block),)
        trained = some.order[domain][some.training_rows(domain, {block})[0]]
        assert set(trained) <= set(rows)
        share = design.outcome[domain][rows].mean()
        assert abs(design.outcome[domain][trained].mean() - share) < 1 / len(trained) + 1e-3
        chosen.append(len(trained))
    assert 990 <= sum(chosen) <= 1000


def test_the_seed_decides_the_training_rows(monkeypatch):
    monkeypatch.setattr("whygap.learning.blocks.MAX_TRAINING_ROWS", 1000)
    design = shifted_design((4000, 3000))
    one, again, other = (cut(design, seed) for seed in (1, 1, 2))
    rows = [b.order.source[b.training_rows("source", {0})[0]] for b in (one, again, other)]
    assert np.array_equal(rows[0], rows[1])
    assert not np.array_equal(rows[0], rows[2])


def test_too_few_rows_for_the_folds_is_said():
    outcome = ByDomain(np.array([1.0] * 3 + [0.0] * 37), np.array([1.0, 0.0] * 20))
    design = make_design(np.zeros((40, 1)), np.zeros((40, 1)), outcome=outcome)
    message = (
        "The source table is too small for 5 folds: each needs at least 5 rows with both outcome "
        "values. Got 40 rows, 3 of them positive. Use fewer folds, or more rows."
    )
    with pytest.raises(TableError, match=re.escape(message)):
        cut(design, folds=5)
