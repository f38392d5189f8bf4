"""Intervals of sampled shares: the noise of the rows and of the drawn subsets, each and together.

Synthetic normal influence values: every subset's numerator is a mean over source rows plus a mean
over target rows, correlated with all others through shared row effects. No fits. The arithmetic
is written out in numpy here, and agrees with what `detail` reports.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import special, stats
from shapley_games import brute_force, everything, membership, table_game

from whygap.domains import ByDomain
from whygap.estimate import Estimate, Sample
from whygap.progress import Silent
from whygap.running.game import Run
from whygap.running.shares import shares as shares_of
from whygap.settings import Settings
from whygap.shapley import SubsetPlan, linear_weights, max_t_quantile, sampling_factor
from whygap.shapley.inference import rank_intervals, simultaneous_intervals

PLAYERS = 8
SUBSETS = 80
REPLICATES = 200
LEVEL = 0.9
ROWS = ByDomain(150, 120)
SIZE = 0.05
# 99% binomial band around the level.
BAND = stats.binom.ppf([0.005, 0.995], REPLICATES, LEVEL) / REPLICATES
# Noise per row, so that the error comes from the rows, from both, or from the subsets drawn.
NOISE = {"rows": 0.1, "both": 0.01, "subsets": 1e-6}


def true_values() -> np.ndarray:
    """A saturating game with large and small players, and interactions of three."""
    rng = np.random.default_rng(1)
    member = everything(PLAYERS)
    strength = np.array([1.5, 0.9, 0.6, 0.3, 0.2, 0.1, 0.05, 0.0])
    value = 1 - np.exp(-member @ strength)
    for _ in range(6):
        value += 0.4 * member[:, rng.choice(PLAYERS, 3, replace=False)].prod(axis=1)
    return (value - value[0]) / (value[-1] - value[0])


GAME = table_game(true_values())
TRUTH = brute_force(GAME, PLAYERS)


def rows_of(seed: int) -> ByDomain[np.ndarray]:
    """Effects (rows, players + 1) of the rows of one replicate."""
    rng = np.random.default_rng([seed, 5])
    return ROWS.map(lambda n: rng.normal(size=(n, PLAYERS + 1)))


def influence(effects: np.ndarray, member: np.ndarray) -> np.ndarray:
    """Rows err along the players left out of a subset, and along a curve of its size."""
    curve = np.prod(1 - member / 2, axis=-1, keepdims=True)
    return effects @ np.concatenate([1 - member, curve], axis=-1).T / PLAYERS


@dataclass(frozen=True)
class Shares:
    """Shares of one replicate, their covariance, and the part of it that comes from the subsets."""

    values: np.ndarray
    covariance: np.ndarray
    sampling: np.ndarray

    def estimates(self) -> list[Estimate]:
        return list(map(Estimate, self.values, np.sqrt(np.diag(self.covariance))))


def solve(seed: int, noise: float) -> Shares:
    """Shares = A (denominator - numerators) / denominator; one replicate."""
    subsets = SubsetPlan(PLAYERS, seed).take(SUBSETS)
    member = membership(subsets, PLAYERS)
    by_row = rows_of(seed).map(lambda effects: noise * influence(effects, member))
    seen = SIZE * (1 - GAME(member)) + by_row.source.mean(axis=0) + by_row.target.mean(axis=0)
    gains, bottom = seen[0] - seen, seen[0]
    weights = linear_weights(subsets, PLAYERS)
    shares = weights @ gains / bottom
    factor = sampling_factor(subsets, gains, PLAYERS) / bottom
    covariance = sampling = factor.T @ factor
    for rows in by_row:
        moved = (rows[:, :1] - rows) @ weights.T - rows[:, :1] * shares
        covariance = covariance + np.cov(moved / bottom, rowvar=False) / len(rows)
    return Shares(shares, covariance, sampling)


@pytest.fixture(scope="module")
def replicates() -> dict[str, list[Shares]]:
    solved = [[solve(seed, noise) for noise in NOISE.values()] for seed in range(REPLICATES)]
    return dict(zip(NOISE, map(list, zip(*solved, strict=True)), strict=True))


@dataclass(frozen=True)
class Part:
    """The same numerators as estimates, for `shares`."""

    noise: float
    effects: ByDomain[np.ndarray]
    sample: Sample
    players: int = PLAYERS

    @property
    def denominator(self) -> Estimate:
        return self.numerator(())

    def numerator(self, players: tuple[int, ...]) -> Estimate:
        member = membership([players], PLAYERS)
        value = float(SIZE * (1 - GAME(member)[0]))
        made = self.effects.map(lambda e: self.noise * influence(e, member)[:, 0])
        return Estimate.from_contributions(
            self.sample, source=value + made.source, target=made.target, plugin=value
        )


@pytest.mark.parametrize("noise", [0.1, 0.01])
def test_what_is_written_out_here_is_what_shares_report(noise):
    part = Part(noise, rows_of(3), Sample.of(ROWS))
    names = tuple(f"z{k}" for k in range(PLAYERS))
    settings = Settings(progress=False, subsets=SUBSETS, seed=3)
    found = shares_of("outcome", [part], names, Run(settings, Silent()))
    here = solve(3, noise)
    assert found.sampling.evaluated == SUBSETS
    assert [e.value for e in found.values.values()] == pytest.approx(here.values, abs=1e-12)
    assert found.values.covariance == pytest.approx(here.covariance, rel=1e-6, abs=1e-12)
    errors = [e.sampling_error for e in found.values.values()]
    assert errors == pytest.approx(np.sqrt(np.diag(here.sampling)), rel=1e-6)
    critical = max_t_quantile(here.covariance, LEVEL)
    for share, ends in zip(
        found.values.values(), found.values.simultaneous(LEVEL).values(), strict=True
    ):
        t = stats.t.ppf(stats.norm.cdf(critical), share.degrees_of_freedom)
        assert [share.distance(end) for end in ends] == pytest.approx([t, t], rel=1e-6)


@pytest.mark.parametrize(
    ("name", "least", "most"), [("rows", 0, 0.2), ("both", 0.25, 0.98), ("subsets", 0.99, 1)]
)
def test_standard_errors_are_the_spread_of_the_shares(replicates, name, least, most):
    values = np.array([one.values for one in replicates[name]])
    variance = np.mean([np.diag(one.covariance) for one in replicates[name]], axis=0)
    assert 0.85 < np.sqrt(variance.sum() / values.var(axis=0, ddof=1).sum()) < 1.15
    from_subsets = np.mean([np.trace(one.sampling) for one in replicates[name]])
    assert least <= from_subsets / variance.sum() <= most


@pytest.mark.parametrize("name", NOISE)
def test_intervals_of_single_shares_cover(replicates, name):
    z = special.ndtri(0.5 + LEVEL / 2)
    inside = np.array(
        [
            np.abs(one.values - TRUTH) <= z * np.sqrt(np.diag(one.covariance))
            for one in replicates[name]
        ]
    )
    assert abs(inside.mean() - LEVEL) < 0.05
    assert inside.mean(axis=0).min() > BAND[0] - 0.03


@pytest.mark.parametrize(("name", "slack"), [("rows", 0.0), ("both", 0.03), ("subsets", 0.1)])
def test_simultaneous_intervals_cover_all_shares_at_once(replicates, name, slack):
    """From rows they hold as claimed.

    The error of drawn subsets is estimated from few pairs: where it is all there is, intervals of
    all shares at once are somewhat short. `subsets="auto"` goes on until it is a fifth or less.
    """
    bounds = [
        np.array(simultaneous_intervals(r.estimates(), r.covariance, LEVEL))
        for r in replicates[name]
    ]
    covered = [((b[:, 0] <= TRUTH) & (b[:, 1] >= TRUTH)).all() for b in bounds]
    assert BAND[0] - slack <= np.mean(covered) <= BAND[1]


@pytest.mark.parametrize("name", NOISE)
def test_rank_intervals_contain_the_true_ranks(replicates, name):
    rank = 1 + (TRUTH[:, None] < TRUTH).sum(axis=1)
    ranks = [rank_intervals(r.values, r.covariance, LEVEL) for r in replicates[name]]
    assert np.mean([((r[:, 0] <= rank) & (r[:, 1] >= rank)).all() for r in ranks]) >= BAND[0]
