"""Which subsets of players are valued: one endless, reproducible, extendable stream.

The stream starts with the empty and the full set, goes on in complementary pairs, and is
*stratified by size*: stratum k holds the pairs (a set of k players, the other p - k). How many
pairs of each stratum are among the first m subsets is fixed beforehand; which ones is a simple
random draw without replacement. So every prefix (from the smallest useful one on) is a stratified
random sample whose weights can be read off the counts, asking for more only appends, small strata
are soon enumerated whole, and the stream ends when all 2^p subsets have been listed.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from whygap.domains import Subset
from whygap.errors import InputError

# Pairs drawn early from every sampled stratum: with fewer the sampling error is badly estimated.
LEAST_PAIRS = 4
# With more players there are more than 30 strata, and one pair less of each is enough: of 80
# players' sampling errors three pairs estimate 107%, four 108%, two 84%.
MANY_PLAYERS = 64
# Up to this many players nothing is sampled: all 2^p subsets are cheap, and samples too small.
ALL_PLAYERS = 5


@dataclass(frozen=True, slots=True)
class SubsetPlan:
    """The stream of subsets for `players` players; the same seed gives the same stream."""

    players: int
    seed: int = 0

    def __post_init__(self) -> None:
        if self.players < 1:
            raise InputError("Shapley shares need at least one player", got=self.players)

    @property
    def possible(self) -> float:
        """How many subsets there are: 2^p."""
        return float(2.0**self.players)

    @property
    def smallest(self) -> int:
        """The fewest subsets that give shares and, where sampled, their sampling errors.

        All 2^p for up to five players.
        """
        if self.players <= ALL_PLAYERS:
            return 1 << self.players
        strata = range(1, self.players // 2 + 1)
        pairs = sum(_early_pairs(self.players, size) for size in strata)
        return 2 * (1 + pairs)

    def round_up(self, count: int) -> int:
        """The next count at which the stream may be cut: even, useful, at most 2^p."""
        whole = max(count + count % 2, self.smallest)
        return min(whole, 1 << self.players)

    def round_down(self, count: int) -> int:
        """The last count, at most `count`, at which the stream may be cut; 0 when there is none."""
        whole = min(count - count % 2, 1 << self.players)
        return whole if whole >= self.smallest else 0

    def take(self, count: int) -> tuple[Subset, ...]:
        """The first `round_up(count)` subsets of the stream; always a prefix of a longer take."""
        return _take(self.players, self.seed, self.round_up(count))


def pairs_of_size(players: int, size: int) -> int:
    """How many complementary pairs have a member of this size."""
    sets = math.comb(players, size)
    return sets // 2 if 2 * size == players else sets


@lru_cache(maxsize=32)
def _take(players: int, seed: int, count: int) -> tuple[Subset, ...]:
    return tuple(itertools.islice(_stream(players, seed), count))


def _stream(players: int, seed: int) -> Iterator[Subset]:
    everyone = tuple(range(players))
    yield ()
    yield everyone
    draws = {size: _pairs(players, size, seed) for size in range(1, players // 2 + 1)}
    for size in _sizes(players):
        chosen = next(draws[size])
        yield chosen
        yield tuple(sorted(set(everyone) - set(chosen)))


def _early_pairs(players: int, size: int) -> int:
    possible = pairs_of_size(players, size)
    least = LEAST_PAIRS - (players > MANY_PLAYERS)
    return possible if size == 1 else min(least, possible)


def _sizes(players: int) -> Iterator[int]:
    """Sizes of the pairs in stream order: the early ones, then evenly over unfinished strata.

    An equal number of subsets per size is what leverage scores ask for (Musco and Witter 2024).
    """
    strata = range(1, players // 2 + 1)
    for size in strata:
        yield from itertools.repeat(size, _early_pairs(players, size))
    queue = [(_early_pairs(players, size), size) for size in strata]
    heapq.heapify(queue)
    while queue:
        drawn, size = heapq.heappop(queue)
        if drawn < pairs_of_size(players, size):
            yield size
            heapq.heappush(queue, (drawn + 1, size))


def _pairs(players: int, size: int, seed: int) -> Iterator[Subset]:
    """The smaller member of each pair of one stratum, in random order, without repetition."""
    rng = np.random.default_rng([seed, players, size])
    possible = pairs_of_size(players, size)
    if possible <= 2**20:  # few enough to permute their numbers; larger strata by rejection
        for number in rng.permutation(possible):
            yield _numbered(players, size, int(number))
        return
    seen: set[Subset] = set()
    while len(seen) < possible:
        chosen = tuple(sorted(int(i) for i in rng.choice(players, size, replace=False)))
        if 2 * size == players and 0 not in chosen:
            chosen = tuple(sorted(set(range(players)) - set(chosen)))
        if chosen not in seen:
            seen.add(chosen)
            yield chosen


def _numbered(players: int, size: int, number: int) -> Subset:
    """The `number`-th set of this size in dictionary order.

    The sets with player 0 come first, so for size p/2 the first half has one set of each pair.
    """
    chosen: list[int] = []
    for player in range(players):
        with_player = math.comb(players - player - 1, size - len(chosen) - 1)
        if number < with_player:
            chosen.append(player)
            if len(chosen) == size:
                break
        else:
            number -= with_player
    return tuple(chosen)
