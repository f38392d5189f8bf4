"""One detailed part: values of subsets in batches, until the Shapley shares are precise enough.

Paper: Algorithm 4, with the right sampling weights, exact efficiency, and a stopping rule.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np

from whygap.checkpoint import Checkpoint
from whygap.estimate import Estimate, linear_map, median_of
from whygap.parallel import one_thread, run_chunks
from whygap.progress import Reporter
from whygap.results import Detailed, Sampling, SubsetValue
from whygap.settings import Settings
from whygap.shapley import Subset, SubsetPlan, linear_weights, sampling_factor
from whygap.tables.design import Player

__all__ = ["INTERRUPTED", "Part", "detail", "first_batch", "probe_subsets"]

INTERRUPTED = "you interrupted it; the finished subsets are used"

_EXACT_UP_TO = 6
_FIRST_BATCH = 64
_KEEP_INFLUENCE = 30_000_000


class Part(Protocol):
    """A detailed part of one cross-fitting: `nuisances.covariate` and `nuisances.outcome`."""

    @property
    def players(self) -> int:
        """How many players there are."""

    def denominator(self) -> Estimate:
        """What shares are shares of."""

    def numerator(self, players: Subset) -> Estimate:
        """What a subset leaves unexplained."""


def probe_subsets(players: int, seed: int) -> list[Subset]:
    """Two representative subsets on which learners are chosen: about a third and two thirds."""
    order = np.random.default_rng([seed, players]).permutation(players)
    sizes = sorted({max(1, players // 3), max(1, 2 * players // 3)})
    return [tuple(sorted(int(k) for k in order[:size])) for size in sizes]


@dataclass(slots=True)
class _Values:
    """Numerators of finished subsets, per repeat; combined over repeats on demand."""

    parts: Sequence[Part]
    name: str
    settings: Settings
    checkpoint: Checkpoint | None
    done: list[dict[Subset, Estimate]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for repeat, part in enumerate(self.parts):
            kept: dict[Subset, Estimate] = {}
            if self.checkpoint is not None:
                sample = part.denominator().sample
                kept = {} if sample is None else self.checkpoint.load(self.name, repeat, sample)
            self.done.append(kept)

    def compute(self, subsets: Sequence[Subset]) -> None:
        """Value the subsets that are not there yet."""
        for repeat, part in enumerate(self.parts):
            missing = [s for s in subsets if s not in self.done[repeat]]
            batch = dict(zip(missing, self._run(part, missing), strict=True))
            self.done[repeat].update(batch)
            if self.checkpoint is not None:
                self.checkpoint.save(self.name, repeat, batch)

    def _run(self, part: Part, subsets: Sequence[Subset]) -> list[Estimate]:
        sample = part.denominator().sample
        values = run_chunks(part.numerator, subsets, self.settings)
        # Estimates that come back from a worker carry a copy of the sample: give them the original.
        return [
            Estimate.of(e.value, e.influence, sample, plugin=e.plugin)  # type: ignore[arg-type]
            for e in values
        ]

    def numerator(self, subset: Subset) -> Estimate:
        """Combined over repeats."""
        return median_of([kept[subset] for kept in self.done])


def detail(
    parts: Sequence[Part],
    name: Literal["covariate", "outcome"],
    players: Sequence[Player],
    settings: Settings,
    checkpoint: Checkpoint | None,
    report: Reporter,
) -> Detailed:
    """Denominator, values of subsets, shares."""
    names = tuple(p.name for p in players)
    denominator = median_of([part.denominator() for part in parts])
    low, high = denominator.interval(settings.level)
    if low <= 0 or not np.isfinite(denominator.value):
        return _undefined(name, names, denominator, (low, high), settings.level)
    values = _Values(parts, name, settings, checkpoint)
    with one_thread():
        values.compute([()])
    plan = SubsetPlan(len(names), settings.seed)
    count, stopped = _sample_subsets(plan, values, denominator, settings, report)
    return _solved(name, names, plan, count, values, denominator, stopped)


def _sample_subsets(
    plan: SubsetPlan,
    values: _Values,
    denominator: Estimate,
    settings: Settings,
    report: Reporter,
) -> tuple[int, str]:
    """Batches until a stopping rule holds; returns how many subsets serve, and why it stopped."""
    started = time.monotonic()
    goal, limit = first_batch(plan, settings)
    finished = 0
    report.stage(f"{values.name} shares")
    try:
        while True:
            goal = min(goal, limit)
            for upto in range(finished, goal, _step(settings)):
                values.compute(plan.take(goal)[upto : min(upto + _step(settings), goal)])
                report.update(min(upto + _step(settings), goal), goal, _error_text(plan, values, finished, denominator))
                if _out_of_time(started, settings) and upto + _step(settings) >= plan.smallest:
                    cut = plan.round_down(min(upto + _step(settings), goal))
                    return cut, f"the time budget of {settings.time_budget:g} s ended"
            finished = goal
            if finished >= limit:
                return finished, _limit_reason(plan, finished, settings)
            if settings.subsets == "auto" and _precise(plan, values, finished, denominator, settings):
                return finished, "the sampling error is small beside the standard errors"
            goal = plan.round_up(int(finished * 1.5))
    except KeyboardInterrupt:
        enough = plan.round_down(_prefix_done(plan, values))
        if enough < plan.smallest:
            raise
        return enough, INTERRUPTED


def _step(settings: Settings) -> int:
    return max(8 * settings.n_jobs, 16)


def _prefix_done(plan: SubsetPlan, values: _Values) -> int:
    """How many subsets of the stream are finished without a hole."""
    most = max(len(kept) for kept in values.done) + 1
    count = 0
    for subset in plan.take(plan.round_up(most)):
        if any(subset not in kept for kept in values.done):
            break
        count += 1
    return count


def first_batch(plan: SubsetPlan, settings: Settings) -> tuple[int, int]:
    """How many subsets are valued before the first look, and the most that ever will be."""
    everything = int(min(plan.possible, 2**30))
    if settings.subsets == "all" or plan.players <= _EXACT_UP_TO:
        return everything, everything
    if settings.subsets == "auto":
        return plan.round_up(max(_FIRST_BATCH, 4 * plan.players)), everything
    wanted = plan.round_up(int(settings.subsets))
    return wanted, wanted


def _out_of_time(started: float, settings: Settings) -> bool:
    return settings.time_budget is not None and time.monotonic() - started > settings.time_budget


def _limit_reason(plan: SubsetPlan, finished: int, settings: Settings) -> str:
    if finished >= plan.possible:
        return "all subsets were evaluated"
    return f"the {settings.subsets} subsets you asked for were evaluated"


@dataclass(frozen=True, slots=True, eq=False)
class _Shares:
    shares: list[Estimate]
    base: Estimate


def _shares(
    plan: SubsetPlan, count: int, values: _Values, denominator: Estimate
) -> _Shares:
    """phi = A v with v = (denominator - numerator) / denominator; one ratio per share (Fieller)."""
    subsets = plan.take(count)
    gains = [denominator - values.numerator(s) for s in subsets]
    weights = linear_weights(subsets, plan.players)
    errors = sampling_factor(subsets, np.array([g.value for g in gains]), plan.players)
    tops = linear_map(weights, gains, draws=errors)
    return _Shares([top / denominator for top in tops], gains[0] / denominator)


def _precise(
    plan: SubsetPlan, values: _Values, count: int, denominator: Estimate, settings: Settings
) -> bool:
    solved = _shares(plan, count, values, denominator).shares
    return all(
        e.sampling_error <= max(settings.precision * e.standard_error, settings.precision_floor)
        for e in solved
    )


def _error_text(plan: SubsetPlan, values: _Values, finished: int, denominator: Estimate) -> str:
    if finished < plan.smallest:
        return ""
    solved = _shares(plan, finished, values, denominator).shares
    return f"sampling error {max(e.sampling_error for e in solved):.4f}"


def _solved(
    name: Literal["covariate", "outcome"],
    names: tuple[str, ...],
    plan: SubsetPlan,
    count: int,
    values: _Values,
    denominator: Estimate,
    stopped: str,
) -> Detailed:
    solved = _shares(plan, count, values, denominator)
    subsets = plan.take(count)
    return Detailed(
        part=name,
        players=names,
        denominator=denominator,
        defined=True,
        reason="",
        base=solved.base,
        shares=dict(zip(names, solved.shares, strict=True)),
        covariance=_covariance(solved.shares),
        subsets=_subset_values(names, subsets, values, denominator),
        sampling=Sampling(
            evaluated=count,
            possible=plan.possible,
            exact=count >= plan.possible,
            largest_error=max(e.sampling_error for e in solved.shares),
            stopped=stopped,
        ),
    )


def _covariance(estimates: Sequence[Estimate]) -> Any:
    """Joint covariance from the influence values, sampling error included."""
    influences = [e.influence for e in estimates if e.influence is not None]
    size = len(influences)
    matrix = np.zeros((size, size))
    for i in range(size):
        for j in range(i, size):
            matrix[i, j] = matrix[j, i] = influences[i].covariance(influences[j])
    return matrix


def _subset_values(
    names: tuple[str, ...], subsets: Sequence[Subset], values: _Values, denominator: Estimate
) -> tuple[SubsetValue, ...]:
    """Every evaluated subset; influence values are dropped when they would fill the memory."""
    size = sum(len(v) for v in denominator.sample.weights) if denominator.sample else 0
    lean = size * len(subsets) > _KEEP_INFLUENCE
    kept = []
    for subset in subsets:
        numerator = values.numerator(subset)
        value = 1 - numerator / denominator
        if lean:
            numerator, value = _without_influence(numerator), _without_influence(value)
        kept.append(SubsetValue(tuple(names[k] for k in subset), numerator, value))
    return tuple(kept)


def _without_influence(estimate: Estimate) -> Estimate:
    return Estimate(
        estimate.value, estimate.standard_error, estimate.plugin, ratio=estimate.ratio
    )


_WHAT: dict[str, Callable[[], str]] = {
    "covariate": lambda: "how much the covariate shift changes the metric from stratum to stratum",
    "outcome": lambda: "how much the outcome shift changes the metric from row to row",
}


def _undefined(
    name: Literal["covariate", "outcome"],
    names: tuple[str, ...],
    denominator: Estimate,
    interval: tuple[float, float],
    level: float,
) -> Detailed:
    reason = (
        f"There is no detectable {name} shift to explain: {_WHAT[name]()} (mean squared, "
        f"{denominator.value:.3g}) has a {level:.0%} interval from {interval[0]:.3g} to "
        f"{interval[1]:.3g}, which reaches 0, so shares of it are undefined."
    )
    return Detailed(
        part=name,
        players=names,
        denominator=denominator,
        defined=False,
        reason=reason,
        base=None,
        shares={},
        covariance=np.zeros((0, 0)),
        subsets=(),
        sampling=None,
    )
