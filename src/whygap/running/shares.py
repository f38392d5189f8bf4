"""One detailed part: values of subsets in batches, until the Shapley shares are precise enough.

Paper: Algorithm 4, with the right sampling weights, exact efficiency, and a stopping rule.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from whygap.errors import SettingsError
from whygap.estimate import Estimate, linear_map, median_of
from whygap.progress import Reporter
from whygap.results import Detailed, Sampling, SubsetValue
from whygap.running.checkpoint import Checkpoint
from whygap.running.values import Part, Values, probe_subsets
from whygap.running.workers import one_thread
from whygap.settings import Settings
from whygap.shapley import Subset, SubsetPlan, linear_weights, sampling_factor
from whygap.tables.design import Player

__all__ = ["INTERRUPTED", "Part", "detail", "first_batch", "probe_subsets"]

INTERRUPTED = "you interrupted it; the finished subsets are used"

_EXACT_UP_TO = 6
_ALL_UP_TO = 20
_FIRST_BATCH = 64
_KEEP_INFLUENCE = 30_000_000
_WIDEST = 10.0


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
        reason = _nothing_sure(name, denominator, (low, high), settings.level)
        return _undefined(name, names, denominator, reason)
    values = Values(parts, name, settings, checkpoint)
    with one_thread():
        values.compute([()])
    plan = SubsetPlan(len(names), settings.seed)
    count, stopped = _sample_subsets(plan, values, denominator, settings, report)
    return _solved(name, names, plan, count, values, denominator, stopped)


def _sample_subsets(
    plan: SubsetPlan,
    values: Values,
    denominator: Estimate,
    settings: Settings,
    report: Reporter,
) -> tuple[int, str]:
    """Batches until a stopping rule holds; returns how many subsets serve, and why it stopped."""
    started = time.monotonic()
    goal, limit = first_batch(plan, settings)
    finished, text = 0, ""
    report.stage(f"{values.name} shares")
    try:
        while True:
            for reached in _stops(finished, goal, settings):
                values.compute(plan.take(goal)[finished:reached])
                finished = reached
                report.update(finished, goal, text)
                if (
                    finished < limit
                    and _out_of_time(started, settings)
                    and plan.round_down(finished)
                ):
                    why = f"the time budget of {settings.time_budget:g} s ended"
                    return plan.round_down(finished), why
            if finished >= limit:
                return finished, _limit_reason(plan, finished, settings)
            shares = _shares(plan, finished, values, denominator).shares
            if _precise(shares, settings):
                return finished, "the sampling error is small beside the standard errors"
            text = f"sampling error {max(e.sampling_error for e in shares):.4f}"
            goal = min(plan.round_up(int(finished * 1.5)), limit)
    except KeyboardInterrupt:
        enough = plan.round_down(_prefix_done(plan, values))
        if enough < plan.smallest:
            raise
        return enough, INTERRUPTED


def _stops(finished: int, goal: int, settings: Settings) -> list[int]:
    """Where to look at the clock on the way from `finished` to `goal` subsets."""
    step = max(8 * settings.n_jobs, 16)
    return [min(upto + step, goal) for upto in range(finished, goal, step)]


def _prefix_done(plan: SubsetPlan, values: Values) -> int:
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
    if settings.subsets == "all" and plan.players > _ALL_UP_TO:
        raise SettingsError(
            f"The 'subsets' setting cannot be 'all' with more than {_ALL_UP_TO} players",
            got=f"{plan.players} players, that is {plan.possible:,.0f} subsets",
            hint="Use subsets='auto', or group columns with groups={...}.",
        )
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


def _shares(plan: SubsetPlan, count: int, values: Values, denominator: Estimate) -> _Shares:
    """Solve phi = A v for v = (denominator - numerator) / denominator, each share one ratio."""
    subsets = plan.take(count)
    gains = [denominator - values.numerator(s) for s in subsets]
    weights = linear_weights(subsets, plan.players)
    errors = sampling_factor(subsets, np.array([g.value for g in gains]), plan.players)
    tops = linear_map(weights, gains, draws=errors)
    return _Shares([top / denominator for top in tops], gains[0] / denominator)


def _precise(shares: Sequence[Estimate], settings: Settings) -> bool:
    return all(
        e.sampling_error <= max(settings.precision * e.standard_error, settings.precision_floor)
        for e in shares
    )


def _solved(
    name: Literal["covariate", "outcome"],
    names: tuple[str, ...],
    plan: SubsetPlan,
    count: int,
    values: Values,
    denominator: Estimate,
    stopped: str,
) -> Detailed:
    solved = _shares(plan, count, values, denominator)
    subsets = plan.take(count)
    widest = max(e.standard_error for e in solved.shares)
    if not widest <= _WIDEST:
        return _undefined(name, names, denominator, _too_wide(widest))
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
    names: tuple[str, ...], subsets: Sequence[Subset], values: Values, denominator: Estimate
) -> tuple[SubsetValue, ...]:
    """Every evaluated subset; influence values are dropped when they would fill the memory."""
    size = sum(denominator.sample.sizes) if denominator.sample else 0
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
    return Estimate(estimate.value, estimate.standard_error, estimate.plugin, ratio=estimate.ratio)


_WHERE = {
    "covariate": "in each stratum of the baseline variables",
    "outcome": "at each row",
}


def _nothing_sure(
    name: str, denominator: Estimate, interval: tuple[float, float], level: float
) -> str:
    """The denominator may be too noisy although the part as a whole is clear."""
    low, high = interval
    return (
        f"Shares divide up the effect of the {name} shift on the metric {_WHERE[name]}, squared "
        f"and averaged. That size, {denominator.value:.3g}, has a {level:.0%} interval from "
        f"{low:.3g} to {high:.3g}, which {'lies below' if high < 0 else 'reaches'} 0, so there is "
        "nothing sure to divide."
    )


def _too_wide(widest: float) -> str:
    return (
        f"A share has a standard error of {widest:.3g} times the whole, so shares would say "
        "nothing. A few rows carry nearly all the weight: the tables overlap too little."
    )


def _undefined(
    name: Literal["covariate", "outcome"],
    names: tuple[str, ...],
    denominator: Estimate,
    reason: str,
) -> Detailed:
    """No shares."""
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
