"""What an analysis will cost: its first steps, run on some rows with a clock."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from whygap.checks.sampled import some_columns, some_rows
from whygap.domains import DOMAINS, ByDomain, Subset
from whygap.nuisances.cross_fit import CrossFit
from whygap.nuisances.points import baseline_points, covariate_points
from whygap.nuisances.recoverable import prepare_gain
from whygap.progress import Silent
from whygap.running.analysis import SHARED, STAGES, Analysis
from whygap.running.culprits import affected
from whygap.running.game import Run, first_batch, probe_subsets
from whygap.running.shares import PartName, no_shares
from whygap.settings import Settings
from whygap.shapley import SubsetPlan
from whygap.tables.design import Design

TRIAL_ROWS = 500  # at most, of each table: five folds of 100 rows
TRIAL_COLUMNS = 12  # of a wide table: more than the ten up to which every pair gets products


@dataclass(frozen=True, slots=True)
class Growth:
    """How many times more rows and columns than the trial's."""

    rows: float
    columns: float

    # From 25 to 200 columns the budgets took 4 times as long, everything 11 times, points 20 times.

    @property
    def least(self) -> float:
        """Of the cost: fits of few rows are mostly overhead."""
        return float(self.rows**0.6 * self.columns**0.8)

    @property
    def most(self) -> float:
        """Of the cost: in proportion to rows."""
        return float(self.rows * self.columns**1.4)


@dataclass(frozen=True, slots=True)
class Stage:
    """CPU seconds of one stage, from a low to a high forecast."""

    name: str
    low: float
    high: float

    @classmethod
    def of(cls, name: str, low: float, high: float, grown: Growth) -> Stage:
        """From a trial's seconds, on so many times its rows and columns."""
        return cls(name, low * grown.least, high * grown.most)


@dataclass(frozen=True, slots=True)
class Forecast:
    """What the analysis will probably cost: extrapolated from fits on `trial_rows` rows."""

    subsets: tuple[int, int]  # fewest and most subsets of the covariates
    possible: float  # how many subsets there are
    stages: tuple[Stage, ...]  # CPU seconds per stage
    workers: int  # parallel workers that share the subsets
    megabytes: float  # peak memory of the main process
    trial_rows: ByDomain[int]  # rows of each table that the trial fits used
    trial_columns: int = 0  # columns, likewise
    in_groups: Stage | None = None  # points with the covariates in the groups that are proposed

    @property
    def seconds(self) -> tuple[float, float]:
        """CPU seconds of everything."""
        return sum(s.low for s in self.stages), sum(s.high for s in self.stages)

    @property
    def wall_seconds(self) -> tuple[float, float]:
        """The same on the clock: workers share the subsets of games."""
        by = {"aggregate": 1, "affected": 1}
        return (
            sum(s.low / by.get(s.name, self.workers) for s in self.stages),
            sum(s.high / by.get(s.name, self.workers) for s in self.stages),
        )


def forecast(design: Design, settings: Settings, grouped: int | None = None) -> Forecast:
    """Run the first steps of every detail on a few rows, with a clock.

    Points are also forecast for so many players as `grouped` covariates would be.

    Wide tables are tried with some of their columns.
    """
    tried = some_columns(some_rows(design, TRIAL_ROWS, settings.seed), TRIAL_COLUMNS)
    plain = replace(settings, support="all", checkpoint=None)
    analysis, seconds = _timed(lambda: Analysis.begin(tried, plain, Silent()))
    grown = Growth(
        rows=sum(design.rows) / sum(tried.rows), columns=len(design.columns) / len(tried.columns)
    )
    subsets = _subsets(len(design.players), settings)
    left_out = SHARED if no_shares(design) else ()
    costs = {name: _costs(analysis, design, name) for name in STAGES if name not in left_out}
    in_groups = None
    if grouped is not None:
        *baseline, covariate = costs["points"]
        points = [*baseline, replace(covariate, players=grouped)]
        in_groups = _stage("points", points, settings, grown)
    return Forecast(
        subsets=subsets,
        possible=SubsetPlan(len(design.players), settings.seed).possible,
        stages=(
            Stage.of("aggregate", seconds, seconds, grown),
            *(_stage(name, found, settings, grown) for name, found in costs.items()),
        ),
        in_groups=in_groups,
        workers=settings.n_jobs,
        megabytes=_megabytes(analysis, design, subsets[1]),
        trial_rows=tried.rows,
        trial_columns=len(tried.columns),
    )


def _subsets(players: int, settings: Settings) -> tuple[int, int]:
    plan = SubsetPlan(players, settings.seed)
    fewest, most = first_batch(plan, settings)
    if settings.subsets == "auto" and fewest < most:
        # Each look asks for half as many subsets more; four looks are common.
        most = min(most, plan.round_up(int(fewest * 1.5**4)))
    return fewest, most


@dataclass(frozen=True, slots=True)
class _Cost:
    """CPU seconds of a trial: once, and for each subset of so many players."""

    shared: float
    each: float = 0.0
    players: int = 0


def _stage(name: str, costs: Sequence[_Cost], settings: Settings, grown: Growth) -> Stage:
    title = f"{name} shares" if name in SHARED else name
    subsets = [_subsets(cost.players, settings) if cost.players else (0, 0) for cost in costs]
    each = list(zip(costs, subsets, strict=True))
    low = sum(cost.shared + cost.each * fewest for cost, (fewest, _) in each)
    high = sum(cost.shared + cost.each * most for cost, (_, most) in each)
    return Stage.of(title, low, high, grown)


def _costs(analysis: Analysis, design: Design, name: str) -> list[_Cost]:
    """One per game that the detail plays."""
    if name == "affected":
        run = Run(analysis.settings, Silent())
        return [_Cost(_timed(lambda: affected(analysis.crossfits, run))[1])]
    return [_game_cost(analysis, game) for game in _games(analysis, design, name)]


@dataclass(frozen=True, slots=True)
class _TrialGame:
    """How many players, in the trial and in all, and how to get what values subsets, per repeat."""

    players: int
    in_all: int
    prepare: Callable[[], list[Callable[[Subset], Any]]]


def _games(analysis: Analysis, design: Design, name: str) -> list[_TrialGame]:
    trial = analysis.design
    w, z = len(trial.baseline), len(trial.players)
    all_w, all_z = len(design.baseline), len(design.players)

    def game(
        players: int, in_all: int, prepare: Callable[[CrossFit, Sequence[Subset]], Any]
    ) -> _TrialGame:
        probes = probe_subsets(players, analysis.settings.seed)
        return _TrialGame(
            players, in_all, lambda: [prepare(c, probes).value for c in analysis.crossfits]
        )

    match name:
        case "points":
            both = ((w, all_w, baseline_points), (z, all_z, covariate_points))
            return [game(*one) for one in both if one[0]]
        case "recoverable":
            return [
                game(w + z, all_w + all_z, lambda c, s, d=d: prepare_gain(c, d, s))  # type: ignore[misc]
                for d in DOMAINS
            ]
        case _:
            part = cast(PartName, name)
            return [_TrialGame(z, all_z, lambda: [one.numerator for one in analysis.parts(part)])]


def _game_cost(analysis: Analysis, game: _TrialGame) -> _Cost:
    values, shared = _timed(game.prepare)
    large = probe_subsets(game.players, analysis.settings.seed)[-1]
    # The first subset also fits, once, what later ones start from.
    _, first = _timed(lambda: [value((0,)) for value in values])
    _, each = _timed(lambda: [value(large) for value in values])
    return _Cost(shared + max(first - each, 0.0), each, game.in_all)


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    started = time.process_time()
    done = work()
    return done, time.process_time() - started


def _megabytes(analysis: Analysis, design: Design, subsets: int) -> float:
    """Today's peak, plus six working copies of the encoded tables, plus influence values kept."""
    rows = sum(design.rows)
    width = analysis.crossfits[0].features.basis.source.shape[1] + design.features.source.shape[1]
    arrays = 8 * rows * (6 * width + 2 * subsets)
    return peak_megabytes() + float(arrays / 2**20)


def peak_megabytes() -> float:
    try:
        import resource
    except ImportError:  # Windows has no such module: a bare interpreter with our imports
        return 250.0
    peak = float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return peak / (2**20 if sys.platform == "darwin" else 1024)
