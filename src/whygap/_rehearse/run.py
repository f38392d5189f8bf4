"""Repeat an analysis in a simulated world like a study, and compare with the truth."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from whygap._rehearse.rehearsal import Quantity, Rehearsal
from whygap._rehearse.world import Key, World, world_of
from whygap.domains import ByDomain
from whygap.errors import InputError, SettingsError, WhygapError, name_list, require_known
from whygap.estimate import Estimate
from whygap.nuisances.overlap import fit_ratios_alone, not_comparable
from whygap.nuisances.support import find_region
from whygap.progress import Silent, reporter
from whygap.running.analysis import Analysis
from whygap.running.workers import one_thread, run_chunks
from whygap.settings import Settings
from whygap.study import Study
from whygap.tables.design import Design, require_plain

REPLICATES = range(2, 10_001)  # a single draw has no spread; 10,000 tell coverage to half a percent
LIKENESS = (
    "Simulated from your rows with few values per column, so that the truth is an exact sum: like "
    "your data, not your data. Shares, affected groups and what can be won back are not rehearsed."
)

Replicate = dict[Key, Estimate] | str  # what was estimated, or why nothing could be


def rehearse(
    study: Study,
    replicates: int = 50,
    detail: Sequence[str] | str = "all",
    settings: Settings | None = None,
) -> Rehearsal:
    """Measure how often intervals hold on simulated data like a study's.

    A world with known truth is built from the study's tables: their rows, coarsened, are its
    atoms; the shift between the domains and both outcome risks are fitted once and from then on
    are the truth. Tables of the same sizes are drawn from that world and analysed as `explain`
    would. Compared with the truth are the gap, its parts, and the points of every variable.

    Args:
        study: the two tables and their roles; a metric that is a mean, an outcome of two values.
        replicates: how many draws are analysed.
        detail: "points", or "all", which is the same; () for the parts alone.
        settings: how the analysis will be run; `Settings()` unless passed. `n_jobs` replicates run
            at a time; after `time_budget` seconds no new ones start.
    """
    study = Study.require(study, "rehearse")
    settings = Settings.resolve(settings)
    names = ("points",) if detail == "all" else name_list(detail, "detail=", SettingsError)
    for name in names:
        message = f"A rehearsal has no detail '{name}'"
        require_known(name, ("points",), message, "Details", SettingsError)
    if not isinstance(replicates, int) or replicates not in REPLICATES:
        raise SettingsError(
            f"The number of replicates must be a whole number from {REPLICATES[0]} to "
            f"{REPLICATES[-1]}",
            got=repr(replicates),
        )
    instead = "Rehearse with metric='brier' or 'accuracy': overlap and sizes are the same."
    require_plain(study.design, "A rehearsal", instead)
    with reporter(settings.progress) as report, one_thread():
        design = _compared_rows(study.design, settings)
        report.stage("building a world from your tables")
        world = world_of(design, settings)
        report.stage("rehearsing")
        rows = design.sample().effective_size().map(round)
        job = Job(world, rows, replace(settings, support="all"), bool(names))
        rehearsal = perform(job, replicates, report.update)
    return replace(rehearsal, notes=_notes(design, settings), table_kind=study.table_kind)


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """The work of every replicate; called with a replicate's number."""

    world: World
    rows: ByDomain[int]
    settings: Settings
    with_points: bool

    def __call__(self, number: int) -> Replicate:
        """Draw and analyse; an analysis that cannot be run is a result, too."""
        rng = np.random.default_rng([self.settings.seed, number])
        seed = int(rng.integers(2**31))
        settings = replace(
            self.settings, seed=seed, n_jobs=1, backend="local", checkpoint=None, progress=False
        )
        try:
            analysis = Analysis.begin(self.world.draw(self.rows, rng), settings, Silent())
            gap = analysis.decomposition()
            points = analysis.details(("points",)).points if self.with_points else {}
        except WhygapError as error:
            return str(error)
        estimates: dict[Key, Estimate] = {("gap", "", ""): gap.total}
        estimates |= {("part", name, ""): part for name, part in gap.parts.items()}
        for part, joint in points.items():
            estimates |= {("points", part, name): joint[name] for name in joint}
        return {key: replace(e, influence=None) for key, e in estimates.items()}

    def truths(self) -> dict[Key, float]:
        """Compute the true values of everything that is rehearsed, in the order of the analysis."""
        points = self.world.truth_of_points() if self.with_points else {}
        return self.world.truth_of_parts() | points


def perform(job: Job, replicates: int, update: Callable[[int, int, str], None]) -> Rehearsal:
    """Run replicates in batches until all have run, time is up, or Ctrl-C.

    Args:
        job: draws and analyses a replicate.
        replicates: how many to run, unless time is up.
        update: called with finished, total and a text after each batch.
    """
    settings = job.settings
    started = time.monotonic()
    budget = settings.time_budget or np.inf
    outcomes: list[Replicate] = []
    try:
        while len(outcomes) < replicates:
            if time.monotonic() - started > budget and len(outcomes) >= REPLICATES.start:
                break
            batch = range(len(outcomes), min(len(outcomes) + settings.n_jobs, replicates))
            outcomes += run_chunks(job, batch, settings)
            update(len(outcomes), replicates, "")
    except KeyboardInterrupt:
        if len(outcomes) < REPLICATES.start:
            raise
    ran = [replicate for replicate in outcomes if not isinstance(replicate, str)]
    return Rehearsal(
        quantities=tuple(
            Quantity(*key, truth, tuple(replicate[key] for replicate in ran if key in replicate))
            for key, truth in job.truths().items()
        ),
        rows=job.rows,
        requested=replicates,
        finished=len(ran),
        failures=dict(Counter(replicate for replicate in outcomes if isinstance(replicate, str))),
        level=settings.level,
    )


def _compared_rows(design: Design, settings: Settings) -> Design:
    if settings.support != "common":
        return design
    region = find_region(fit_ratios_alone(design, settings).wz)
    if region.is_too_small:
        hint = str(not_comparable(region, design))
        raise InputError("There is nothing to rehearse: the tables share too little", hint=hint)
    return design.take(region.rows)


def _notes(design: Design, settings: Settings) -> tuple[str, ...]:
    differences = {
        LIKENESS: True,
        "Made of the rows in the region of common support.": settings.support == "common",
        "Weights: rows are drawn in proportion to them.": design.weights is not None,
        "Clusters: rows are drawn one by one.": design.clusters is not None,
        "Source risk: estimated in every replicate.": design.source_risk is not None,
        "Order: covariates come first.": design.order != "covariates first",
    }
    return tuple(text for text, applies in differences.items() if applies)
