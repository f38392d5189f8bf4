"""The stream of subsets: extendable, paired, stratified, complete."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from whygap.errors import InputError
from whygap.shapley import SubsetPlan
from whygap.shapley.subsets import LEAST_PAIRS, _numbered, pairs_of_size


@pytest.mark.parametrize("players", [6, 9, 12, 31])
def test_a_shorter_take_is_a_prefix_of_a_longer_one(players):
    plan = SubsetPlan(players, seed=3)
    longest = plan.take(900)
    for count in (1, 50, 51, 200, 899):
        taken = plan.take(count)
        assert taken == longest[: len(taken)]
        assert len(taken) == plan.round_up(count)


@pytest.mark.parametrize("players", range(1, 12))
def test_the_stream_lists_every_subset_once(players):
    taken = SubsetPlan(players, seed=1).take(2**players)
    assert len(taken) == len(set(taken)) == 2**players
    assert SubsetPlan(players, seed=1).take(10**9) == taken


@pytest.mark.parametrize("players", [1, 2, 3, 8, 20, 64])
def test_empty_and_full_come_first_then_complementary_pairs(players):
    taken = SubsetPlan(players, seed=5).take(300)
    everyone = tuple(range(players))
    assert taken[:2] == ((), everyone)
    for first, second in zip(taken[::2], taken[1::2], strict=True):
        assert tuple(sorted(first + second)) == everyone
        assert list(first) == sorted(set(first))


def test_strata_grow_evenly_until_they_are_enumerated():
    sizes = Counter(min(len(s), 31 - len(s)) for s in SubsetPlan(31, seed=0).take(1024))
    pairs = {size: count // 2 for size, count in sizes.items()}
    assert pairs.pop(0) == 1
    assert pairs.pop(1) == 31
    assert set(pairs) == set(range(2, 16))
    assert max(pairs.values()) - min(pairs.values()) <= 1


def test_every_pair_of_a_stratum_is_equally_likely():
    seeds = 1500
    first = Counter()
    for seed in range(seeds):
        first.update(s for s in SubsetPlan(6, seed).take(30) if len(s) == 2)
    assert len(first) == pairs_of_size(6, 2) == 15
    chance = LEAST_PAIRS / 15
    spread = math.sqrt(seeds * chance * (1 - chance))
    assert all(abs(count - seeds * chance) < 4 * spread for count in first.values())


def test_large_strata_are_drawn_without_repetition():
    taken = SubsetPlan(40, seed=2).take(3000)
    assert len(set(taken)) == len(taken) == 3000


def test_seeds_give_different_streams_and_the_same_seed_the_same():
    assert SubsetPlan(12, 0).take(100) == SubsetPlan(12, 0).take(100)
    assert SubsetPlan(12, 0).take(100) != SubsetPlan(12, 1).take(100)


def test_counts_are_rounded_to_where_the_stream_may_be_cut():
    plan = SubsetPlan(12)
    assert plan.smallest == 2 * (1 + 12 + 5 * LEAST_PAIRS) == 66
    assert [plan.round_up(count) for count in (0, 66, 67, 5000)] == [66, 66, 68, 4096]
    assert [plan.round_down(count) for count in (65, 66, 67, 5000)] == [0, 66, 66, 4096]
    assert SubsetPlan(5).smallest == SubsetPlan(5).possible == 32
    assert SubsetPlan(200).possible == 2.0**200


def test_numbers_name_all_sets_of_a_size_with_player_0_first():
    named = [_numbered(6, 3, number) for number in range(20)]
    assert len(set(named)) == 20
    assert all(0 in chosen for chosen in named[:10])


def test_no_players_is_refused():
    with pytest.raises(InputError) as caught:
        SubsetPlan(0)
    assert str(caught.value) == "Shapley shares need at least one player. Got 0."


@pytest.mark.parametrize(("players", "pairs"), [(31, 4), (64, 4), (65, 3), (200, 3)])
def test_the_smallest_sample_has_a_few_pairs_of_every_size(players, pairs):
    plan = SubsetPlan(players, seed=0)
    sizes = Counter(min(len(s), players - len(s)) for s in plan.take(1))
    assert sizes[1] == 2 * players
    assert {count for size, count in sizes.items() if size > 1} == {2 * pairs}
    assert len(plan.take(1)) == plan.smallest
