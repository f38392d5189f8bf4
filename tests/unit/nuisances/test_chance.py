"""What rules reach by chance: noise shows hardly any, clusters count once, few rows tell enough."""

from __future__ import annotations

import numpy as np
import pytest

from whygap.domains import ByDomain
from whygap.estimate import Sample
from whygap.nuisances import chance
from whygap.nuisances.chance import Family, Told, confirmed_from, family, held_from
from whygap.nuisances.conditions import Packed

ROWS = 300
CONDITIONS = 8


def drawn(seed: int, *, common: float = 0.0, inside: float = 0.0, rows: int = ROWS):
    """Random conditions, and values that changed for all rows and for those of conditions 0, 1."""
    rng = np.random.default_rng(seed)
    masks = ByDomain(*(rng.random((rows, CONDITIONS)) < 0.4 for _ in range(2)))
    values = ByDomain(*(rng.standard_normal(rows) for _ in range(2)))
    hit = masks.target[:, 0] & masks.target[:, 1]
    return masks, ByDomain(values.source, values.target + common + inside * hit)


def families_of(masks, values, sample: Sample | None = None) -> list[Family]:
    rows = values.map(len)
    told = Told.of(
        sample or Sample.of(rows), values, np.ones(rows.target), np.random.default_rng(1)
    )
    return [family(by_condition(masks), told, 0.02, 0.95, pairs=pairs) for pairs in (False, True)]


def by_condition(masks):
    return masks.map(lambda mask: [Packed.of(one) for one in mask.T])


def shown(families: list[Family]) -> set[tuple[int, ...]]:
    return {
        rule
        for one, bar in zip(families, confirmed_from(families, 0.05), strict=True)
        for rule, strength in zip(one.rules, one.strength, strict=True)
        if strength > bar
    }


@pytest.mark.parametrize("common", [0.0, 0.1, 2.0])
def test_where_all_rows_changed_alike_hardly_a_draw_shows_a_rule(common):
    """Of 50 draws, more than 7 would with probability .004 (binomial)."""
    assert sum(bool(shown(families_of(*drawn(seed, common=common)))) for seed in range(50)) <= 7


def test_a_rule_whose_rows_changed_is_confirmed_and_the_strongest():
    families = families_of(*drawn(3, inside=1.5))
    assert (0, 1) in shown(families)
    assert families[1].rules[int(np.argmax(families[1].strength))] == (0, 1)


def test_strengths_are_changes_and_contrasts_in_standard_errors():
    masks, values = drawn(4, inside=0.5)
    single, pairs = families_of(masks, values)
    assert single.count == CONDITIONS
    assert pairs.count == CONDITIONS * (CONDITIONS - 1) / 2
    inside = masks.map(lambda mask: mask[:, 2] & mask[:, 5])
    told = values.zip(inside, lambda v, rows: v * rows / len(v))
    contrast = values.zip(inside, lambda v, rows: v * (rows - inside.target.mean()) / len(v))
    z = [
        abs(sum(map(np.sum, sides))) / np.sqrt(sum(float(side @ side) for side in sides))
        for sides in (told, contrast)
    ]
    assert pairs.strength[pairs.rules.index((2, 5))] == pytest.approx(min(z), rel=0.15)


def test_rows_of_one_cluster_count_once():
    masks, values = drawn(5, inside=0.5)
    fourfold = masks.map(lambda m: np.repeat(m, 4, axis=0)), values.map(lambda v: np.repeat(v, 4))
    rows = ByDomain(4 * ROWS, 4 * ROWS)
    alone = families_of(*fourfold)[0].strength
    apart = ByDomain(np.arange(4 * ROWS) // 4, ROWS + np.arange(4 * ROWS) // 4)
    for clusters in (apart, apart.map(lambda c: c % ROWS)):
        sample = Sample.of(rows, clusters=clusters)
        together = families_of(*fourfold, sample)[0].strength
        ratio = np.median(alone / together)
        assert ratio == pytest.approx(2.0, rel=0.25), "of four equal rows three say nothing new"


def test_noise_at_some_rows_tells_nearly_the_same(monkeypatch):
    masks, values = drawn(6, rows=3000)
    every = families_of(masks, values)
    monkeypatch.setattr(chance, "_ROWS", 2000)
    some = families_of(masks, values)
    assert confirmed_from(some, 0.05) == pytest.approx(confirmed_from(every, 0.05), rel=0.1)
    assert held_from(some, 0.05) == pytest.approx(held_from(every, 0.05), rel=0.1)
    np.testing.assert_allclose(some[0].strength, every[0].strength, rtol=0.2)


def test_intervals_hold_more_than_one_rule_alone_and_less_than_all_apart():
    families = families_of(*drawn(7))
    for one, held in zip(families, held_from(families, 0.05), strict=True):
        assert 1.96 < held <= 1.02 * one.critical(0.025)


def test_rules_that_are_left_out_raise_the_bar():
    single, pairs = families_of(*drawn(8, inside=1.5))
    more = Family(pairs.rules, pairs.strength, pairs.chance, pairs.own, left_out=10_000)
    assert confirmed_from([single, more], 0.05)[1] > confirmed_from([single, pairs], 0.05)[1]
