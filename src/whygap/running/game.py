"""Games: values of subsets in batches, until the Shapley values are precise enough.

Paper: Algorithm 4, with the right sampling weights, exact efficiency, and a stopping rule. A game
is anything that values subsets of players by an `Estimate`: points of the metric, explained shares
of a shift, squared error that can be won back.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from whygap.domains import Subset
from whygap.errors import SettingsError, large
from whygap.estimate import Estimate
from whygap.estimate.combine import linear_map, median_of
from whygap.progress import Reporter
from whygap.results import Sampling
from whygap.running.checkpoint import Checkpoint
from whygap.running.workers import Workers, one_thread
from whygap.settings import Settings
from whygap.shapley import SubsetPlan, linear_weights, sampling_factor

SAMPLING_ERROR = 0.2  # standard errors: a sampling error of 0.2 widens an interval by 2%
INTERRUPTED = "you interrupted it; the finished subsets are used"

_EXACT_UP_TO = 6  # up to 64 subsets cost less than a doubt about their sampling
_ALL_UP_TO = 20  # a million subsets is the most that "all" may mean
_FIRST_BATCH = 64  # the first look at the sampling error; with many players, four subsets a player
# The next look is where the error, which falls about as 1 / subsets, should be small enough: not
# so near that it is hardly another look, nor so far that a wrong forecast costs much.
_GROWTH = (1.1, 1.5)
_CLEAR = 2.0  # standard errors from 0 that tell a share from it, subsets left aside
_NOTHING = 0.003  # of what all shares add up to: less is not read, whatever the standard errors
# Workers wait for each other, and the clock is looked at, after so much time or up to twice that.
_SECONDS_A_STEP = 3.0
_KEEP_INFLUENCE = 30_000_000  # floats of influence values kept with the subsets' values: 240 MB


class Game(Protocol):
    """Values of subsets, from one cross-fitting."""

    @property
    def players(self) -> int:
        """How many players there are."""

    def value(self, subset: Subset) -> Estimate:
        """What these players achieve together."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a game is played with: settings, a clock, a folder for finished subsets, a listener."""

    settings: Settings
    report: Reporter
    checkpoint: Checkpoint | None = None
    started: float = field(default_factory=time.monotonic)

    def out_of_time(self) -> bool:
        """Whether the time budget is spent."""
        budget = self.settings.time_budget
        return budget is not None and time.monotonic() - self.started > budget


@dataclass(frozen=True, slots=True, eq=False)
class Played:
    """A game's values and its Shapley values, which add up to v(all) - v(empty).

    With a `scale`, values and Shapley values are fractions of it.
    """

    subsets: tuple[Subset, ...]
    values: tuple[Estimate, ...]
    shares: tuple[Estimate, ...]
    sampling: Sampling

    @property
    def empty(self) -> Estimate:
        """V of nobody."""
        return self.values[0]

    @property
    def full(self) -> Estimate:
        """V of everybody."""
        return self.values[1]


def probe_subsets(players: int, seed: int) -> list[Subset]:
    """Two representative subsets on which learners are chosen: about a third and two thirds."""
    order = np.random.default_rng([seed, players]).permutation(players)
    sizes = sorted({max(1, players // 3), max(1, 2 * players // 3)})
    return [tuple(sorted(int(k) for k in order[:size])) for size in sizes]


def play(
    name: str, games: Sequence[Game], run: Run, *, floor: float, scale: Estimate | None = None
) -> Played:
    """Value subsets until every share's sampling error is small, and solve for the shares.

    `games` are the same game from each repeated cross-fitting; `name` is shown while it works and
    names its files in a checkpoint; a sampling error of `floor` is small enough, however small the
    share's own error is; all values are divided by `scale`.
    """
    values = _Values(games, name, run)
    plan = SubsetPlan(games[0].players, run.settings.seed)
    count, stopped = _sample_subsets(plan, values, scale, floor)
    shares = _shares(plan, count, values, scale)
    subsets = plan.take(count)
    sampling = Sampling(
        evaluated=count,
        possible=plan.possible,
        exact=count >= plan.possible,
        largest_error=max(e.sampling_error for e in shares),
        stopped=stopped,
    )
    return Played(subsets, tuple(values.of(s) for s in subsets), tuple(shares), sampling)


def _shares(
    plan: SubsetPlan, count: int, values: _Values, scale: Estimate | None
) -> list[Estimate]:
    subsets = plan.take(count)
    known = [values.of(s) for s in subsets]
    errors = sampling_factor(subsets, np.array([v.value for v in known]), plan.players)
    tops = linear_map(linear_weights(subsets, plan.players), known, draws=errors)
    return tops if scale is None else [top / scale for top in tops]


def _sample_subsets(
    plan: SubsetPlan, values: _Values, scale: Estimate | None, floor: float
) -> tuple[int, str]:
    """Batches until a stopping rule holds; how many subsets serve, and why it stopped."""
    run = values.run
    goal, limit = first_batch(plan, run.settings)
    finished, step, text = 0, max(8 * run.settings.n_jobs, 16), ""
    precision = run.settings.sampling_error or SAMPLING_ERROR
    run.report.stage(values.name)
    try:
        while True:
            while finished < goal:
                clock, reached = time.monotonic(), min(finished + step, goal)
                values.compute(plan.take(goal)[finished:reached])
                finished = reached
                step *= 2 if time.monotonic() - clock < _SECONDS_A_STEP else 1
                run.report.update(finished, goal, text)
                enough = plan.round_down(finished)
                if finished < limit and enough and run.out_of_time():
                    return enough, f"the time budget of {run.settings.time_budget:g} s ended"
            if finished >= limit:
                return finished, _limit_reason(plan, finished, run.settings)
            shares = _shares(plan, finished, values, scale)
            excess = sampling_excess(shares, precision, floor)
            if excess <= 1:
                return finished, "the sampling error is small beside the standard errors"
            text = f"sampling error {max(e.sampling_error for e in shares):.4f}"
            goal = min(plan.round_up(math.ceil(finished * np.clip(excess, *_GROWTH))), limit)
    except KeyboardInterrupt:
        enough = plan.round_down(values.finished_prefix(plan))
        if enough < plan.smallest:
            raise
        return enough, INTERRUPTED


def sampling_excess(shares: Sequence[Estimate], precision: float, floor: float) -> float:
    """The largest sampling error as a multiple of what is allowed: up to 1, no more is needed.

    A sampling error of `precision` standard errors widens an interval by the fraction
    1 - sqrt(1 - precision^2), 2% for 0.2. That much is allowed: of the share's own width, or of the
    width of the largest share's interval, beside which shares are read and ranked. A share that no
    number of subsets would tell from 0 names nobody: `precision` of the largest share's standard
    error is allowed there. And three thousandths of what all shares add up to are always allowed:
    of very many rows standard errors are smaller than anything that is read.
    """
    error, whole, value = (
        np.array([getattr(e, name) for e in shares])
        for name in ("sampling_error", "standard_error", "value")
    )
    alone = np.sqrt(np.maximum(whole**2 - error**2, 0))
    largest = whole[int(np.argmax(np.abs(value)))]
    widened = (1 - math.sqrt(max(1 - precision**2, 0))) * largest
    beside_largest = np.sqrt((alone + widened) ** 2 - alone**2)
    beside_largest[np.abs(value) < _CLEAR * alone] = precision * largest
    least = max(floor, _NOTHING * abs(float(value.sum())))
    allowed = np.maximum(np.maximum(precision * whole, beside_largest), least)
    return float(np.max(error / np.maximum(allowed, np.finfo(float).tiny)))


def first_batch(plan: SubsetPlan, settings: Settings) -> tuple[int, int]:
    """How many subsets are valued before the first look, and the most that ever will be."""
    everything = int(min(plan.possible, 2**30))
    if settings.subsets == "all" and plan.players > _ALL_UP_TO:
        raise SettingsError(
            f"The 'subsets' setting cannot be 'all' with more than {_ALL_UP_TO} players",
            got=f"{plan.players} players, that is {large(plan.possible)} subsets",
            hint="Use subsets='auto', or group columns with groups={...}.",
        )
    if settings.subsets == "all" or plan.players <= _EXACT_UP_TO:
        return everything, everything
    if settings.subsets == "auto":
        return plan.round_up(max(_FIRST_BATCH, 4 * plan.players)), everything
    wanted = plan.round_up(int(settings.subsets))
    return wanted, wanted


def _limit_reason(plan: SubsetPlan, finished: int, settings: Settings) -> str:
    if finished >= plan.possible:
        return "all subsets were evaluated"
    return f"the {settings.subsets} subsets you asked for were evaluated"


def lean(estimates: Sequence[Estimate]) -> list[Estimate]:
    """The same without influence values where all together would fill the memory."""
    influences = [e.influence for e in estimates if e.influence is not None]
    size = sum(len(i.source) + len(i.target) for i in influences)
    if size <= _KEEP_INFLUENCE:
        return list(estimates)
    return [replace(e, influence=None) for e in estimates]


class _Values:
    def __init__(self, games: Sequence[Game], name: str, run: Run) -> None:
        self.games, self.name, self.run = games, name, run
        self.workers = Workers(run.settings)
        self.jobs = [game.value for game in games]
        with one_thread():
            self.done: list[dict[Subset, Estimate]] = [{(): game.value(())} for game in games]
        if run.checkpoint is not None:
            for repeat, done in enumerate(self.done):
                done |= run.checkpoint.load(self._file(), repeat, done[()].origin)

    def compute(self, subsets: Sequence[Subset]) -> None:
        for repeat, job in enumerate(self.jobs):
            missing = [s for s in subsets if s not in self.done[repeat]]
            batch = dict(zip(missing, self.workers.run(job, missing), strict=True))
            self.done[repeat].update(batch)
            if self.run.checkpoint is not None:
                self.run.checkpoint.save(self._file(), repeat, batch)

    def of(self, subset: Subset) -> Estimate:
        """Combined over repeats."""
        return median_of([done[subset] for done in self.done])

    def finished_prefix(self, plan: SubsetPlan) -> int:
        """How many subsets of the stream are finished without a hole."""
        most = max(len(done) for done in self.done) + 1
        count = 0
        for subset in plan.take(plan.round_up(most)):
            if any(subset not in done for done in self.done):
                break
            count += 1
        return count

    def _file(self) -> str:
        return self.name.replace(" ", "-")
