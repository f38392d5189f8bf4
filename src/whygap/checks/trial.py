"""Trials on some rows and columns: what an analysis will probably cost."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from whygap.domains import Array, IntArray
from whygap.nuisances.points import covariate_points
from whygap.progress import Silent
from whygap.running.analysis import Analysis
from whygap.running.game import first_batch, probe_subsets
from whygap.running.shares import no_shares
from whygap.settings import Settings
from whygap.shapley import SubsetPlan
from whygap.tables.design import Design, Player

WIDE = 50  # columns: beyond, trials with all rows and columns take minutes


@dataclass(frozen=True, slots=True)
class Forecast:
    """What everything will probably cost.

    Attributes:
        subsets: of the covariates, whose values an analysis estimates.
        possible: how many subsets there are.
        seconds: of computing in all, a forecast that may be off by a factor of three.
        workers: that share the subsets.
    """

    subsets: int
    possible: float
    seconds: float
    workers: int


def forecast(design: Design, settings: Settings) -> Forecast:
    """Forecast the cost from the beginning of an analysis and a subset, timed on a few rows.

    Args:
        design: the rows of the study.
        settings: of the analysis to come.
    """
    # Five folds of 100 rows; more columns than the ten up to which every pair gets products.
    trial = some_columns(some_rows(design, 500, settings.seed), 12)
    plain = replace(settings, support="all", checkpoint=None)
    analysis, begin = _timed(lambda: Analysis.begin(trial, plain, Silent()))
    probes = probe_subsets(len(trial.players), settings.seed)
    games, prepare = _timed(
        lambda: [covariate_points(crossfit, probes) for crossfit in analysis.crossfits]
    )
    _, first = _timed(lambda: [game.value((0,)) for game in games])
    _, subset = _timed(lambda: [game.value(probes[-1]) for game in games])
    prepare += max(first - subset, 0.0)  # the first subset fits what later ones start from
    # Points of W and of Z; error to be won back from W and Z in both tables; shares of Z, twice.
    w = len(design.baseline)
    z = len(design.players)
    players = [n for n in (w, z, w + z, w + z, *(() if no_shares(design) else (z, z))) if n]
    values = sum(_subsets(n, settings) for n in players)
    # From 500 to 5,000 rows cost grows 5 to 9 times, from 25 to 200 columns 4 to 20 times.
    growth = (sum(design.rows) / sum(trial.rows)) ** 0.8
    growth *= (len(design.columns) / len(trial.columns)) ** 1.1
    seconds = begin + (prepare * len(players) + subset * values) / settings.n_jobs
    plan = SubsetPlan(len(design.players), settings.seed)
    return Forecast(
        subsets=_subsets(len(design.players), settings),
        possible=plan.possible,
        seconds=float(seconds * growth),
        workers=settings.n_jobs,
    )


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    started = time.process_time()
    result = work()
    return result, time.process_time() - started


def _subsets(players: int, settings: Settings) -> int:
    """Return how many subsets are probably valued: with "auto" twice the first batch."""
    plan = SubsetPlan(players, settings.seed)
    first, limit = first_batch(plan, settings)
    return min(limit, 2 * first) if settings.subsets == "auto" else first


def some_columns(design: Design, limit: int) -> Design:
    """Take about `limit` columns of W and Z of a wide table, evenly; of a narrow table all.

    A group of covariates keeps its first column.

    Args:
        design: the rows of the study.
        limit: columns of a wide table, about.
    """
    total = len(design.columns)
    if total <= WIDE:
        return design
    w = _evenly(design.baseline, limit / total)
    z = _evenly([player.columns[0] for player in design.players], limit / total)
    position = {column: k for k, column in enumerate((*w, *z))}
    owner = {player.columns[0]: player.name for player in design.players}
    return replace(
        design,
        features=design.features.map(lambda x: x[:, list(position)]),
        columns=tuple(design.columns[c] for c in position),
        baseline=tuple(position[c] for c in w),
        players=tuple(Player(owner[c], (position[c],)) for c in z),
    )


def _evenly(columns: Sequence[int], share: float) -> list[int]:
    count = max(round(share * len(columns)), min(len(columns), 2))
    return [columns[k * len(columns) // count] for k in range(count)]


def some_rows(design: Design, limit: int, seed: int) -> Design:
    """Draw at most `limit` rows of each table, 25 of every outcome value at least.

    Args:
        design: the rows of the study.
        limit: rows of each table, at most.
        seed: of the draw.
    """
    rng = np.random.default_rng([seed, limit])
    return design.take(design.outcome.map(lambda outcome: _stratified(outcome, limit, rng)))


def _stratified(outcome: Array, limit: int, rng: np.random.Generator) -> IntArray:
    if len(outcome) <= limit:
        return np.arange(len(outcome))
    values = np.unique(outcome)
    if len(values) > 20:  # numbers rather than classes
        return np.sort(rng.choice(len(outcome), limit, replace=False))
    parts = []
    for value in values:
        rows = np.flatnonzero(outcome == value)
        count = max(round(limit * len(rows) / len(outcome)), min(len(rows), 25))
        parts.append(rng.choice(rows, count, replace=False))
    return np.sort(np.concatenate(parts))
