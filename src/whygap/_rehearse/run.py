"""Repeat an analysis in a world made of a study's own tables, and compare with the truth."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from whygap._explain import PARTS, parts_named
from whygap._rehearse.rehearsal import Measured, Rehearsal, term_of
from whygap._rehearse.world import world_of
from whygap.domains import ByDomain, Subset
from whygap.errors import InputError, SettingsError, WhygapError, name_list, require_known
from whygap.estimate import Estimate
from whygap.nuisances.overlap import fit_ratios_alone, not_comparable
from whygap.nuisances.support import find_region
from whygap.progress import Reporter, Silent, reporter
from whygap.running.analysis import Analysis
from whygap.running.shares import PartName
from whygap.running.workers import one_thread, run_chunks
from whygap.settings import Settings
from whygap.simulate import World
from whygap.study import Study
from whygap.tables.design import Design, require_plain

__all__ = ["rehearse", "rehearse_world"]

MOST_VARIABLES = 10  # each costs a fit in every replicate
REPLICATES = range(2, 10_001)  # one has no spread; 10,000 tell coverage to half a percent
LIKENESS = (
    "The world is made of your rows with few values per column, so that its truth can be known "
    "exactly: it is like your data, not your data."
)

TermName = tuple[str, str]  # part, term

BASE = "(base)"  # the empty set, as a term


def rehearse(
    study: Study,
    replicates: int = 50,
    detail: Sequence[str] | str = PARTS,
    settings: Settings | None = None,
    variables: Sequence[str] | None = None,
) -> Rehearsal:
    """See how far intervals can be trusted on data like these.

    A world with known truth is built from the study's own tables: their rows, coarsened, are its
    atoms; the shift between the domains and both outcome risks are fitted once and from then on
    are the truth. Tables of the same sizes are drawn from it, and each draw is analysed as
    `explain` would with these settings. The details report v(empty) and the value of single
    variables, not Shapley shares.

    Args:
        study: the two tables and their roles.
        replicates: how many draws are analysed.
        detail: which details to rehearse: "covariate", "outcome", both, or none.
        settings: how the analysis will be run; `Settings()` unless given. `n_jobs` replicates run
            at a time; after `time_budget` seconds no new ones start.
        variables: the players whose single values are rehearsed; unless given, all of them or the
            ten that explain most in the world.

    Returns:
        Coverage (with binomial limits), bias in standard deviations, and widths of the intervals.
    """
    study, settings = Study.given(study, "rehearse"), Settings.given(settings)
    _check(replicates, settings)
    parts_named(detail)  # a wrong name is refused before the world is built
    rehearse_with = "Rehearse with metric='brier' or 'accuracy': overlap and sizes are the same."
    require_plain(study.design, "A rehearsal", rehearse_with)
    design = _compared_rows(study.design, settings)
    with reporter(settings.progress) as report, one_thread():
        report.stage("building a world from your tables")
        world = world_of(design, settings)
    rows, plain = design.sample().effective_size().map(round), replace(settings, support="all")
    found = rehearse_world(world, rows, replicates, detail, plain, variables)
    return replace(found, notes=tuple(_notes(design, settings)), table_kind=study.table_kind)


def rehearse_world(
    world: World,
    rows: ByDomain[int],
    replicates: int = 50,
    detail: Sequence[str] | str = PARTS,
    settings: Settings | None = None,
    variables: Sequence[str] | None = None,
) -> Rehearsal:
    """Rehearse in a world of your own (see `whygap.simulate`)."""
    settings = Settings.given(settings)
    _check(replicates, settings)
    parts = parts_named(detail)
    with reporter(settings.progress) as report:
        chosen = _variables(world, variables, parts, settings.bins)
        return _perform(Job(world, rows, settings, parts, chosen), replicates, report)


def _perform(job: Job, replicates: int, report: Reporter) -> Rehearsal:
    """Run the replicates in batches, until all are done, time is up, or Ctrl-C."""
    settings, started = job.settings, time.monotonic()
    report.stage("rehearsing")
    done: list[Replicate] = []
    try:
        while len(done) < replicates and not _out_of_time(started, settings, done):
            batch = range(len(done), min(len(done) + settings.n_jobs, replicates))
            done += run_chunks(job, batch, settings)
            report.update(len(done), replicates, "")
    except KeyboardInterrupt:
        if len(done) < REPLICATES.start:
            raise
    return _summed_up(job, replicates, done, time.monotonic() - started)


def _out_of_time(started: float, settings: Settings, done: Sequence[Replicate]) -> bool:
    budget = settings.time_budget
    late = budget is not None and time.monotonic() - started > budget
    return late and len(done) >= REPLICATES.start


def _summed_up(job: Job, asked: int, done: Sequence[Replicate], seconds: float) -> Rehearsal:
    truth = truths(job.world, job.parts, job.variables, job.settings.bins)
    ran = [one for one in done if not one.failure]
    terms = [
        term_of(*name, value, found)
        for name, value in truth.items()
        if np.isfinite(value) and (found := [r.found[name] for r in ran if name in r.found])
    ]
    return Rehearsal(
        terms=tuple(terms),
        rows=job.rows,
        asked=asked,
        finished=len(ran),
        failures=dict(Counter(one.failure for one in done if one.failure)),
        undefined=dict(Counter(part for one in ran for part in one.undefined)),
        level=job.settings.level,
        seconds=seconds,
    )


def _compared_rows(design: Design, settings: Settings) -> Design:
    if settings.support != "common":
        return design
    with one_thread():
        region = find_region(fit_ratios_alone(design, settings).wz)
    if region.is_too_small:
        raise InputError(
            "There is nothing to rehearse: the tables share too little",
            hint=not_comparable(region, design),
        )
    return design.take(region.rows)


def _notes(design: Design, settings: Settings) -> Iterator[str]:
    yield LIKENESS
    if settings.support == "common":
        yield "It is made of the rows in the region of shared support."
    if design.weights is not None:
        yield "Weights: rows are drawn in proportion, as many as yours count as."
    if design.clusters is not None:
        yield "Clusters: rows are drawn one by one, so intervals here know no clusters."
    if design.source_risk is not None:
        yield "Source risk: it is estimated in every replicate, not taken as known."


def _variables(
    world: World, named: Sequence[str] | None, parts: Sequence[PartName], bins: int
) -> tuple[int, ...]:
    """Players by number: those named, or the ones that explain most."""
    players = list(world.players)
    if named is not None:
        wanted = name_list(named, "The variables", SettingsError)
        for name in wanted:
            what = f"There is no player named '{name}'"
            require_known(name, players, what, "Players", SettingsError)
        return tuple(players.index(name) for name in wanted)
    everyone = tuple(range(len(players)))
    if len(everyone) <= MOST_VARIABLES or not parts:
        return everyone
    truth = truths(world, parts, everyone, bins)

    def explained(player: int) -> float:
        return float(np.nansum([truth[part, players[player]] for part in parts]))

    return tuple(sorted(sorted(everyone, key=explained, reverse=True)[:MOST_VARIABLES]))


def _check(replicates: int, settings: Settings) -> None:
    if settings.outcome_form != "binned":
        raise SettingsError(
            "A rehearsal knows the truth of outcome_form='binned' only",
            got=repr(settings.outcome_form),
            hint="Rehearse with 'binned'; the forms share everything but the risk's bins.",
        )
    if not isinstance(replicates, int) or replicates not in REPLICATES:
        raise SettingsError(
            f"The number of replicates must be a whole number from {REPLICATES[0]} to "
            f"{REPLICATES[-1]}",
            got=repr(replicates),
        )


# -- one replicate ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Replicate:
    """What one replicate found: estimates by (part, term); parts without shares; or a failure."""

    found: Mapping[TermName, Measured]
    undefined: tuple[str, ...] = ()
    failure: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """What every replicate does: called with a replicate's number."""

    world: World
    rows: ByDomain[int]
    settings: Settings
    parts: tuple[PartName, ...]
    variables: tuple[int, ...]

    def __call__(self, number: int) -> Replicate:
        """Draw and analyse; an analysis that cannot be run is a result, too."""
        rng = np.random.default_rng([self.settings.seed, number])
        seed = int(rng.integers(2**31))
        settings = replace(
            self.settings, seed=seed, n_jobs=1, backend="local", checkpoint=None, progress=False
        )
        try:
            design = self.world.draw(self.rows, rng)
            return self._analyse(Analysis.begin(design, settings, Silent()))
        except WhygapError as error:
            return Replicate({}, failure=str(error))

    def _analyse(self, analysis: Analysis) -> Replicate:
        level = self.settings.level
        found = analysis.decomposition()
        estimates: dict[TermName, Estimate] = {("aggregate", "gap"): found.total}
        estimates |= {("aggregate", name): part for name, part in found.parts.items()}
        undefined = []
        for part in self.parts:
            values = self._values(analysis, part)
            estimates |= values
            if not values:
                undefined.append(part)
        measured = {name: Measured.of(e, level) for name, e in estimates.items()}
        return Replicate(measured, tuple(undefined))

    def _values(self, analysis: Analysis, name: PartName) -> dict[TermName, Estimate]:
        """Values v(s) of the base and of single variables; none without a denominator."""
        terms = _terms(self.world, name, self.variables)
        found = analysis.values(name, [subset for _, subset in terms])
        if found.denominator.interval(self.settings.level)[0] <= 0:
            return {}
        return {
            term: 1 - top / found.denominator
            for (term, _), top in zip(terms, found.numerators, strict=True)
        }


def _terms(world: World, part: PartName, variables: Iterable[int]) -> list[tuple[TermName, Subset]]:
    """The subsets that are valued: single variables, and for outcomes the empty set."""
    singles = [((part, world.players[k]), (k,)) for k in variables]
    base: list[tuple[TermName, Subset]] = [((part, BASE), ())] if part == "outcome" else []
    return [*base, *singles]


def truths(
    world: World, parts: Iterable[PartName], variables: Iterable[int], bins: int
) -> dict[TermName, float]:
    """What the estimates should be."""
    corners = world.corners()
    names = ("gap", "baseline", "covariate", "outcome")
    found: dict[TermName, float] = {("aggregate", n): getattr(corners, n) for n in names}
    chosen = tuple(variables)
    for part in parts:
        for term, subset in _terms(world, part, chosen):
            covariate = part == "covariate"
            truth = (
                world.covariate_truth(subset) if covariate else world.outcome_truth(subset, bins)
            )
            found[term] = truth.value
    return found
