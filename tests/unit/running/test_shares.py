"""From values of subsets to shares: stopping rules, interrupts, undefined shares.

The parts here are games with known Shapley values: real estimates with influence values, no fits.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field

import numpy as np
import pytest

from whygap.domains import ByDomain
from whygap.errors import SettingsError
from whygap.estimate import Estimate, Sample
from whygap.progress import Silent
from whygap.running.game import INTERRUPTED, Run, first_batch, probe_subsets, sampling_excess
from whygap.running.shares import shares
from whygap.settings import Settings
from whygap.shapley import SubsetPlan

ROWS = ByDomain(200, 150)
SIZE = 0.04
PRECISE = {"sampling_error": 1e-6}


@dataclass
class Game:
    """v(s) = base + main effects + bonuses for pairs and quintuples of neighbours; v(all) = 1."""

    players: int
    seed: int = 0
    size: float = SIZE
    noise: float = 0.02
    base: float = 0.1
    stop_after: int | None = None
    pause: float = 0.0
    asked: list[tuple[int, ...]] = field(default_factory=list)
    sample: Sample = field(default_factory=lambda: Sample.of(ROWS))

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        self.rows = [ROWS.map(lambda n: rng.normal(size=n)) for _ in range(self.players + 1)]
        main = rng.exponential(1.0, self.players)
        pairs = rng.exponential(0.6, self.players - 1)
        fives = rng.exponential(1.5, max(self.players - 4, 0))
        scale = (1 - self.base) / (main.sum() + pairs.sum() + fives.sum())
        self.main, self.pairs, self.fives = main * scale, pairs * scale, fives * scale

    def value(self, subset: tuple[int, ...]) -> float:
        chosen = set(subset)
        bonus = sum(p for k, p in enumerate(self.pairs) if {k, k + 1} <= chosen)
        bonus += sum(f for k, f in enumerate(self.fives) if set(range(k, k + 5)) <= chosen)
        return self.base + sum(self.main[k] for k in chosen) + bonus

    def shares(self) -> np.ndarray:
        """A bonus is divided evenly among those who earn it together."""
        shares = self.main.copy()
        shares[:-1] += self.pairs / 2
        shares[1:] += self.pairs / 2
        for k, bonus in enumerate(self.fives):
            shares[k : k + 5] += bonus / 5
        return shares

    @property
    def denominator(self) -> Estimate:
        return self._estimate(self.size, range(self.players + 1))

    def numerator(self, subset: tuple[int, ...]) -> Estimate:
        if self.stop_after is not None and len(self.asked) >= self.stop_after:
            raise KeyboardInterrupt
        self.asked.append(subset)
        time.sleep(self.pause)
        left = [k for k in range(self.players) if k not in subset]
        return self._estimate(self.size * (1 - self.value(subset)), left)

    def _estimate(self, value: float, players) -> Estimate:
        noise = [self.noise * self.rows[k].source for k in players] or [np.zeros(200)]
        other = [self.noise * self.rows[k].target for k in players] or [np.zeros(150)]
        made = Estimate.from_contributions(
            self.sample, source=sum(noise), target=sum(other), plugin=value
        )
        return made + (value - made.value)


@pytest.fixture
def _no_floor(monkeypatch):
    """However small a sampling error is, it counts."""
    monkeypatch.setattr("whygap.running.shares.FLOOR", 1e-9)


def named(count: int) -> tuple[str, ...]:
    return tuple(f"z{k}" for k in range(count))


def solve(game: Game, **settings):
    chosen = Settings(progress=False, **settings)
    return shares("outcome", [game], named(game.players), Run(chosen, Silent()))


def alone(share: Estimate) -> float:
    """The standard error without the sampling of subsets."""
    return float(np.sqrt(share.standard_error**2 - share.sampling_error**2))


def share_of(value: float, rows: float, subsets: float) -> Estimate:
    return Estimate(value, float(np.hypot(rows, subsets)), sampling_error=subsets)


def test_of_a_share_that_rows_do_not_tell_from_nothing_less_is_asked():
    large, error = share_of(0.5, 0.1, 0.0), 0.02
    assert sampling_excess([large, share_of(0.0019, 0.001, error)], 0.2, 0.0) == pytest.approx(1)
    clear = sampling_excess([large, share_of(0.0021, 0.001, error)], 0.2, 0.0)
    assert clear > 4
    own = share_of(0.0, 0.2, 0.06)
    assert sampling_excess([large, own], 0.2, 0.0) == pytest.approx(
        0.06 / (0.2 * own.standard_error)
    )


def test_sampling_may_widen_an_interval_by_two_percent_of_its_own_or_of_the_largest():
    large = share_of(0.5, 0.1, 0.1 * 0.2 / np.sqrt(0.96))
    assert sampling_excess([large], 0.2, 0.0) == pytest.approx(1)
    assert large.standard_error == pytest.approx(1.0206 * 0.1, rel=1e-4)
    allowed = np.sqrt((0.001 + 0.020204 * large.standard_error) ** 2 - 0.001**2)
    small = share_of(0.01, 0.001, allowed)
    assert allowed > 2 * small.standard_error * 0.2
    assert sampling_excess([large, small], 0.2, 0.0) == pytest.approx(1, rel=1e-4)
    twice = share_of(0.01, 0.001, 2 * allowed)
    assert sampling_excess([large, twice], 0.2, 0.0) == pytest.approx(2, rel=1e-4)
    assert sampling_excess([large, twice], 0.2, 2 * allowed) == pytest.approx(1, rel=1e-4)


def test_where_rows_are_very_many_three_thousandths_of_the_whole_are_enough():
    tiny = [share_of(0.6, 1e-5, 0.003), share_of(0.4, 1e-5, 0.001)]
    assert sampling_excess(tiny, 0.2, 0.0) == pytest.approx(1)
    signed = [share_of(0.6, 1e-5, 0.003), share_of(-0.4, 1e-5, 0.001)]
    assert sampling_excess(signed, 0.2, 0.0) > 2


@pytest.mark.parametrize("players", [1, 2, 3, 6])
def test_few_players_are_solved_exactly(players):
    game = Game(players)
    solved = solve(game)
    np.testing.assert_allclose([e.value for e in solved.values.values()], game.shares(), atol=1e-12)
    assert solved.base.value == pytest.approx(game.base, abs=1e-12)
    assert solved.sampling.exact
    assert solved.sampling.stopped == "all subsets were evaluated"
    assert solved.sampling.largest_error == 0
    assert len(game.asked) == len(set(game.asked)) == 2**players


def test_many_players_stop_when_the_sampling_error_is_small():
    game = Game(12)
    solved = solve(game)
    sampling = solved.sampling
    assert sampling.stopped == "the sampling error is small beside the standard errors"
    assert 64 <= sampling.evaluated < 4096
    assert not sampling.exact
    widest = max(share.standard_error for share in solved.values.values())
    for share, truth in zip(solved.values.values(), game.shares(), strict=True):
        unclear = abs(share.value) < 2 * alone(share)
        assert share.standard_error - alone(share) <= 0.0203 * widest or share.sampling_error < (
            0.2 * widest if unclear else 0.005
        )
        assert abs(share.value - truth) <= 5 * max(share.sampling_error, 1e-9)


def test_shares_and_base_add_up_to_one_when_sampled():
    solved = solve(Game(12))
    total = sum(solved.values.values(), solved.base)
    assert total.value == pytest.approx(1.0, abs=1e-10)
    assert total.standard_error == pytest.approx(0.0, abs=1e-8)


def test_a_number_of_subsets_is_kept():
    game = Game(12)
    solved = solve(game, subsets=100)
    assert solved.sampling.evaluated == 100
    assert solved.sampling.stopped == "the 100 subsets you asked for were evaluated"
    assert len(set(game.asked)) == 100


def test_asking_for_more_extends_the_same_stream():
    few, many = Game(12), Game(12)
    solve(few, subsets=64)
    solve(many, subsets=128)
    assert many.asked[: len(few.asked)] == few.asked


def test_all_subsets_can_be_asked_for():
    solved = solve(Game(8), subsets="all")
    assert solved.sampling.evaluated == 256
    assert solved.sampling.exact


def test_all_subsets_of_very_many_players_are_refused():
    with pytest.raises(SettingsError) as caught:
        solve(Game(31), subsets="all")
    assert str(caught.value) == (
        "The 'subsets' setting cannot be 'all' with more than 20 players. Got 31 players, that is "
        "about 2 billion subsets. Use subsets='auto', or group columns with groups={...}."
    )


@pytest.mark.usefixtures("_no_floor")
def test_the_time_budget_ends_the_sampling():
    game = Game(12, pause=0.005)
    started = time.monotonic()
    solved = solve(game, time_budget=0.3, **PRECISE)
    assert time.monotonic() - started < 10
    assert solved.sampling.stopped == "the time budget of 0.3 s ended"
    assert 32 <= solved.sampling.evaluated < 4096


def test_a_time_budget_that_is_over_at_once_still_gives_shares():
    plan = SubsetPlan(12, 0)
    solved = solve(Game(12), time_budget=1e-9)
    assert solved.sampling.evaluated >= plan.smallest
    assert set(solved.values) == {f"z{k}" for k in range(12)}


def test_finishing_everything_is_not_blamed_on_the_time_budget():
    assert solve(Game(3), time_budget=1e-9).sampling.stopped == "all subsets were evaluated"


@pytest.mark.usefixtures("_no_floor")
def test_ctrl_c_returns_what_is_finished():
    first, _ = first_batch(SubsetPlan(12, 0), Settings())
    game = Game(12, stop_after=first + 5)
    solved = solve(game, **PRECISE)
    assert solved.sampling.stopped == INTERRUPTED
    assert solved.sampling.evaluated == first
    plain = solve(Game(12), subsets=first)
    for name, share in solved.values.items():
        assert share.value == plain.values[name].value
        assert share.sampling_error == plain.values[name].sampling_error


def test_ctrl_c_before_there_are_enough_subsets_is_passed_on():
    with pytest.raises(KeyboardInterrupt):
        solve(Game(12, stop_after=5))


@pytest.mark.parametrize(("size", "noise"), [(0.0, 0.02), (0.001, 0.3), (-0.01, 0.01)])
def test_shares_of_nothing_are_undefined(size, noise):
    game = Game(3, size=size, noise=noise)
    solved = solve(game)
    assert not solved.defined
    assert solved.values == {}
    assert solved.base is None
    assert solved.sampling is None
    assert game.asked == [], "no subset is valued in vain"
    low, high = solved.denominator.interval(0.95)
    where = "lies below" if high < 0 else "reaches"
    assert " 99.9% interval " in solve(game, level=0.999).reason
    assert solved.reason == (
        "Shares divide up the effect of the outcome shift on the metric at each row, squared and "
        f"averaged. That size, {solved.denominator.value:.3g}, has a 95% interval from {low:.3g} "
        f"to {high:.3g}, which {where} 0, so there is nothing sure to divide."
    )


def test_repeats_are_combined_subset_by_subset():
    shared = Sample.of(ROWS)
    games = [Game(3, seed=0, size=size, sample=shared) for size in (0.04, 0.05, 0.09)]
    chosen = Settings(progress=False)
    solved = shares("outcome", games, named(3), Run(chosen, Silent()))
    assert solved.denominator.value == pytest.approx(0.05)
    np.testing.assert_allclose(
        [e.value for e in solved.values.values()], games[0].shares(), atol=1e-12
    )


def test_what_repeats_disagree_on_is_no_sampling_error():
    """Repeats far apart widen the intervals; they do not keep the sampling going."""
    shared = Sample.of(ROWS)
    games = [Game(12, seed=seed, sample=shared) for seed in (0, 5, 9)]
    found = shares(
        "outcome", games, named(12), Run(Settings(progress=False, sampling_error=0.1), Silent())
    )
    assert found.sampling.stopped == "the sampling error is small beside the standard errors"
    assert found.sampling.evaluated < 1024
    for share in found.values.values():
        spread = float(share.influence.repeats @ share.influence.repeats)
        assert spread > share.sampling_error**2
        assert share.standard_error**2 > spread


def test_covariances_contain_the_sampling_error():
    solved = solve(Game(12), subsets=64)
    for k, share in enumerate(solved.values.values()):
        assert solved.values.covariance[k, k] == pytest.approx(share.standard_error**2, rel=1e-9)
        assert share.sampling_error > 0
    contrast = solved.difference("z0", "z1")
    variance = (
        solved.values.covariance[0, 0]
        + solved.values.covariance[1, 1]
        - 2 * solved.values.covariance[0, 1]
    )
    assert contrast.standard_error**2 == pytest.approx(variance, rel=1e-9)


@pytest.mark.usefixtures("_no_floor")
def test_progress_counts_subsets_and_tells_the_sampling_error():
    seen = []

    class Watcher(Silent):
        def update(self, done, total, text):
            seen.append((done, total, text))

    settings = Settings(progress=False, **PRECISE)
    shares("outcome", [Game(9)], named(9), Run(settings, Watcher()))
    done = [count for count, _, _ in seen]
    assert done == sorted(done)
    assert seen[0][2] == ""
    assert any(text.startswith("sampling error 0.0") for _, _, text in seen)


def test_first_batches():
    assert first_batch(SubsetPlan(6, 0), Settings(subsets=10)) == (64, 64)
    for players in (7, 12, 31):
        plan = SubsetPlan(players, 0)
        first, limit = first_batch(plan, Settings())
        assert first == plan.round_up(max(64, 4 * players))
        assert limit == min(2**players, 2**30)
    assert first_batch(SubsetPlan(12, 0), Settings(subsets=99)) == (100, 100)


def test_learners_are_chosen_on_a_third_and_two_thirds_of_the_players():
    assert [len(s) for s in probe_subsets(31, 0)] == [10, 20]
    assert probe_subsets(1, 0) == [(0,)]
    small, large = probe_subsets(9, 4)
    assert set(small) < set(large)


@dataclass
class Wild(Game):
    """Values of single players that a few rows decide, over a clear denominator."""

    def numerator(self, subset: tuple[int, ...]) -> Estimate:
        left = super().numerator(subset)
        if len(subset) != 1:
            return left
        return self._estimate(left.value, [subset[0]] * 40_000)


def test_shares_too_wide_to_say_anything_are_undefined():
    solved = solve(Wild(3))
    assert not solved.defined
    assert solved.values == {}
    assert re.fullmatch(
        r"A share has a standard error of [\d.e+]+ times the whole, so shares would say nothing\. "
        r"A few rows carry nearly all the weight: the tables overlap too little\.",
        solved.reason,
    )
    assert solve(Game(3)).defined
