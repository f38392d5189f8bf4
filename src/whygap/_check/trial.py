"""Trial fits on some of the rows: how far the domains overlap, and what an analysis will cost."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from whygap._explain import PARTS
from whygap.domains import DOMAINS, Array, ByDomain, IntArray, Subset
from whygap.nuisances.cross_fit import CrossFit
from whygap.nuisances.overlap import overlap_notes, ratio_records
from whygap.nuisances.points import baseline_points, covariate_points
from whygap.nuisances.recoverable import prepare_gain
from whygap.progress import Silent
from whygap.results import RatioRecord
from whygap.running.analysis import Analysis
from whygap.running.culprits import where
from whygap.running.game import Run, first_batch, probe_subsets
from whygap.running.shares import PartName
from whygap.settings import DETAILS, DetailName, Settings
from whygap.shapley import SubsetPlan
from whygap.tables.design import Design, Note

OVERLAP_ROWS = 5_000  # at most, of each table: what a density ratio is fitted on within seconds
TRIAL_ROWS = 500  # at most, of each table: five folds of 100 rows


@dataclass(frozen=True, slots=True)
class Overlap:
    """Overlap of the domains on W and on (W, Z)."""

    # Effective size (of all source rows), largest weight, domain AUC
    ratios: tuple[RatioRecord, ...]
    notes: tuple[Note, ...]  # what follows from them
    rows: ByDomain[int]  # rows of each table it was measured on
    seconds: float  # CPU seconds it took


@dataclass(frozen=True, slots=True)
class Stage:
    """CPU seconds of one stage, from a low to a high forecast."""

    name: str
    low: float
    high: float

    @classmethod
    def of(cls, name: str, low: float, high: float, grown: float) -> Stage:
        """From a trial's seconds, on `grown` times its rows.

        Fits of few rows are mostly overhead: cost grows at least like rows^0.6, at most like rows.
        """
        return cls(name, low * float(grown**0.6), high * grown)


@dataclass(frozen=True, slots=True)
class Forecast:
    """What the analysis will probably cost: extrapolated from fits on `trial_rows` rows."""

    subsets: tuple[int, int]  # fewest and most subsets of the covariates
    possible: float  # how many subsets there are
    stages: tuple[Stage, ...]  # CPU seconds per stage
    workers: int  # parallel workers that share the subsets
    megabytes: float  # peak memory of the main process
    trial_rows: ByDomain[int]  # rows of each table that the trial fits used

    @property
    def seconds(self) -> tuple[float, float]:
        """CPU seconds of everything."""
        return sum(s.low for s in self.stages), sum(s.high for s in self.stages)

    @property
    def wall_seconds(self) -> tuple[float, float]:
        """The same on the clock: workers share the subsets of games."""
        by = {"aggregate": 1, "where": 1}
        return (
            sum(s.low / by.get(s.name, self.workers) for s in self.stages),
            sum(s.high / by.get(s.name, self.workers) for s in self.stages),
        )


def measure_overlap(design: Design, settings: Settings) -> Overlap:
    """The density ratios of the analysis to come, on at most 5,000 rows of each table."""
    chosen = _some_rows(design, OVERLAP_ROWS, settings.seed)
    plain = replace(settings, repeats=1, support="all", split=None, checkpoint=None)
    analysis, seconds = _timed(lambda: Analysis.begin(chosen, plain, Silent()))
    crossfit = analysis.crossfits[0]
    grown = design.rows.source / chosen.rows.source
    ratios = tuple(
        replace(r, effective_size=r.effective_size * grown, rows=design.rows.source)
        for r in ratio_records(crossfit)
    )
    return Overlap(ratios, overlap_notes(crossfit, ratios), chosen.rows, seconds)


def forecast(design: Design, settings: Settings, overlap: Overlap) -> Forecast:
    """Run the first steps of every detail on a few rows, with a clock."""
    chosen = _some_rows(design, TRIAL_ROWS, settings.seed)
    plain = replace(settings, support="all", checkpoint=None)
    rows = sum(design.rows)
    analysis = Analysis.begin(chosen, plain, Silent())
    seconds = overlap.seconds * settings.repeats
    first = Stage.of("aggregate", seconds, seconds, rows / sum(overlap.rows))
    grown = rows / sum(chosen.rows)
    subsets = _subsets(len(design.players), settings)
    return Forecast(
        subsets=subsets,
        possible=SubsetPlan(len(design.players), settings.seed).possible,
        stages=(first, *(_stage(analysis, name, grown) for name in DETAILS)),
        workers=settings.n_jobs,
        megabytes=_megabytes(analysis, design, subsets[1]),
        trial_rows=chosen.rows,
    )


def _subsets(players: int, settings: Settings) -> tuple[int, int]:
    plan = SubsetPlan(players, settings.seed)
    fewest, most = first_batch(plan, settings)
    if settings.subsets == "auto" and fewest < most:
        # Each look asks for half as many subsets more; four looks are common.
        most = min(most, plan.round_up(int(fewest * 1.5**4)))
    return fewest, most


def _stage(analysis: Analysis, name: DetailName, grown: float) -> Stage:
    if name == "where":
        run = Run(analysis.settings, Silent())
        _, seconds = _timed(lambda: where(analysis.crossfits, run))
        return Stage.of(name, seconds, seconds, grown)
    costs = [_game_cost(analysis, game) for game in _games(analysis, name)]
    title = f"{name} shares" if name in PARTS else name
    return Stage.of(title, sum(low for low, _ in costs), sum(high for _, high in costs), grown)


@dataclass(frozen=True, slots=True)
class _TrialGame:
    """How many players, and how to get the functions (one per repeat) that value subsets."""

    players: int
    prepare: Callable[[], list[Callable[[Subset], Any]]]


def _games(analysis: Analysis, name: DetailName) -> list[_TrialGame]:
    w, z = len(analysis.design.baseline), len(analysis.design.players)

    def game(players: int, prepare: Callable[[CrossFit, Sequence[Subset]], Any]) -> _TrialGame:
        probes = probe_subsets(players, analysis.settings.seed)
        return _TrialGame(players, lambda: [prepare(c, probes).value for c in analysis.crossfits])

    match name:
        case "points":
            both = ((w, baseline_points), (z, covariate_points))
            return [game(players, prepare) for players, prepare in both if players]
        case "recoverable":
            return [game(w + z, lambda c, s, d=d: prepare_gain(c, d, s)) for d in DOMAINS]  # type: ignore[misc]
        case _:
            part = cast(PartName, name)
            return [_TrialGame(z, lambda: [one.numerator for one in analysis.parts(part)])]


def _game_cost(analysis: Analysis, game: _TrialGame) -> tuple[float, float]:
    values, shared = _timed(game.prepare)
    large = probe_subsets(game.players, analysis.settings.seed)[-1]
    # The first subset also fits, once, what later ones start from.
    _, first = _timed(lambda: [value((0,)) for value in values])
    _, each = _timed(lambda: [value(large) for value in values])
    shared += max(first - each, 0.0)
    fewest, most = _subsets(game.players, analysis.settings)
    return shared + each * fewest, shared + each * most


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    started = time.process_time()
    done = work()
    return done, time.process_time() - started


def _megabytes(analysis: Analysis, design: Design, subsets: int) -> float:
    """Today's peak, plus six working copies of the encoded tables, plus influence values kept."""
    rows = sum(design.rows)
    width = analysis.crossfits[0].features.basis.source.shape[1] + design.features.source.shape[1]
    arrays = 8 * rows * (6 * width + 2 * subsets)
    return _peak_megabytes() + float(arrays / 2**20)


def _peak_megabytes() -> float:
    try:
        import resource
    except ImportError:  # Windows has no such module: a bare interpreter with our imports
        return 250.0
    peak = float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return peak / (2**20 if sys.platform == "darwin" else 1024)


def _some_rows(design: Design, most: int, seed: int) -> Design:
    rng = np.random.default_rng([seed, most])
    return design.take(design.outcome.map(lambda outcome: _chosen(outcome, most, rng)))


def _chosen(outcome: Array, most: int, rng: np.random.Generator) -> IntArray:
    if len(outcome) <= most:
        return np.arange(len(outcome))
    kept = []
    for value in (0.0, 1.0):
        rows = np.flatnonzero(outcome == value)
        count = max(round(most * len(rows) / len(outcome)), min(len(rows), 25))
        kept.append(rng.choice(rows, count, replace=False))
    return np.sort(np.concatenate(kept))
