"""Build a world from a study's own tables, repeat the analysis in it, compare with the truth."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from whygap._explain import PARTS, PartName, parts_named
from whygap._rehearse.coarse import coarsened, copies_needed, enriched
from whygap._rehearse.rehearsal import Rehearsal, term_of
from whygap._rehearse.replicate import Replicate, Script, Where, truths
from whygap.domains import ByDomain
from whygap.errors import SettingsError, did_you_mean
from whygap.nuisances.support import restrict
from whygap.progress import Reporter, reporter
from whygap.running.workers import one_thread, run_chunks
from whygap.settings import Settings
from whygap.simulate import World, semisynthetic
from whygap.study import Study
from whygap.tables.design import Design

__all__ = ["rehearse", "rehearse_world"]

MOST_VARIABLES = 10
FEWEST_REPLICATES, MOST_REPLICATES = 2, 10_000
ROWS_FOR_ALL_ROUNDS = 3000
ROWS_PER_LEAF = 30
LIKENESS = (
    "The world is made of your rows with few values per column, so that its truth can be known "
    "exactly: it is like your data, not your data."
)


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
    settings = settings or Settings()
    parts = parts_named(detail)
    _check_form(settings)
    design, notes = _prepared(study.design, settings)
    with reporter(settings.progress) as report:
        report.stage("building a world from your tables")
        with one_thread():
            world = _world(design, settings)
        rows = _sizes(design)
        plain = replace(settings, support="all")
        chosen = _variables(world, variables, parts, settings.bins)
        script = Script(world, rows, plain, parts, chosen)
        found = _perform(script, replicates, report)
    return replace(found, notes=notes, table_kind=study.table_kind)


def rehearse_world(
    world: World,
    rows: ByDomain[int],
    replicates: int = 50,
    detail: Sequence[str] | str = PARTS,
    settings: Settings | None = None,
) -> Rehearsal:
    """Rehearse in a world of your own (see `whygap.simulate`)."""
    settings = settings or Settings()
    _check_form(settings)
    parts = parts_named(detail)
    with reporter(settings.progress) as report:
        chosen = _variables(world, None, parts, settings.bins)
        return _perform(Script(world, rows, settings, parts, chosen), replicates, report)


def _perform(script: Script, replicates: int, report: Reporter) -> Rehearsal:
    """Run the replicates in batches, until all are done, time is up, or Ctrl-C."""
    _check_replicates(replicates)
    settings, started = script.settings, time.monotonic()
    report.stage("rehearsing")
    done: list[Replicate] = []
    try:
        while len(done) < replicates and not _out_of_time(started, settings, done):
            batch = range(len(done), min(len(done) + settings.n_jobs, replicates))
            done += run_chunks(script, batch, settings)
            report.update(len(done), replicates, "")
    except KeyboardInterrupt:
        if len(done) < FEWEST_REPLICATES:
            raise
    return _summed_up(script, replicates, done, time.monotonic() - started)


def _out_of_time(started: float, settings: Settings, done: Sequence[Replicate]) -> bool:
    budget = settings.time_budget
    late = budget is not None and time.monotonic() - started > budget
    return late and len(done) >= FEWEST_REPLICATES


def _summed_up(script: Script, asked: int, done: Sequence[Replicate], seconds: float) -> Rehearsal:
    truth = truths(script.world, script.parts, script.variables, script.settings.bins)
    ran = [one for one in done if not one.failure]
    terms = [
        term_of(*where, value, found)
        for where, value in truth.items()
        if np.isfinite(value) and (found := [r.found[where] for r in ran if where in r.found])
    ]
    return Rehearsal(
        terms=tuple(terms),
        rows=script.rows,
        asked=asked,
        finished=len(ran),
        failures=dict(Counter(one.failure for one in done if one.failure)),
        undefined=dict(Counter(part for one in ran for part in one.undefined)),
        level=script.settings.level,
        seconds=seconds,
    )


def _prepared(design: Design, settings: Settings) -> tuple[Design, tuple[str, ...]]:
    """The rows the world is made of, and how it will differ from them."""
    notes = [LIKENESS]
    if settings.support == "common":
        with one_thread():
            seed = np.random.SeedSequence([settings.seed, 1])
            design = restrict(design, settings, seed).design
        notes.append("It is made of the rows in the region of shared support.")
    if design.weights is not None:
        notes.append("Weights: rows are drawn in proportion, as many as yours are worth.")
    if design.clusters is not None:
        notes.append("Clusters: rows are drawn one by one, so intervals here know no clusters.")
    if design.source_risk is not None:
        notes.append("Source risk: it is estimated in every replicate, not taken as known.")
    return design, tuple(notes)


def _world(design: Design, settings: Settings) -> World:
    """Small tables get fewer rounds of boosting: their risks would be noise otherwise."""
    rows = min(design.rows)
    rounds = round(120 * min(1.0, rows / ROWS_FOR_ALL_ROUNDS) ** 0.5)
    copies = copies_needed(design)
    fit = semisynthetic.Fit(
        risk_rounds=rounds,
        domain_rounds=rounds // 2,
        least_rows=ROWS_PER_LEAF * copies,
        clip=0.1 * rows / sum(design.rows),
    )
    rng = np.random.default_rng([settings.seed, copies])
    pool = enriched(coarsened(design), copies, rng)
    return semisynthetic.from_design(pool, fit=fit, seed=settings.seed)


def _sizes(design: Design) -> ByDomain[int]:
    return design.sample().effective_size().map(round)


def _variables(
    world: World, named: Sequence[str] | None, parts: Sequence[PartName], bins: int
) -> tuple[int, ...]:
    """Players by number: those named, or the ones that explain most."""
    players = list(world.players)
    if named is not None:
        for name in named:
            if name not in players:
                raise SettingsError(
                    f"There is no player named '{name}'",
                    hint=did_you_mean(name, players) or f"Players are: {', '.join(players)}.",
                )
        return tuple(players.index(name) for name in named)
    everyone = tuple(range(len(players)))
    if len(everyone) <= MOST_VARIABLES or not parts:
        return everyone
    truth = truths(world, parts, everyone, bins)

    def explained(player: int) -> float:
        where: list[Where] = [(part, players[player]) for part in parts]
        return float(np.nansum([truth[w] for w in where]))

    return tuple(sorted(sorted(everyone, key=explained, reverse=True)[:MOST_VARIABLES]))


def _check_form(settings: Settings) -> None:
    if settings.outcome_form != "binned":
        raise SettingsError(
            "A rehearsal knows the truth of outcome_form='binned' only",
            got=repr(settings.outcome_form),
            hint="Rehearse with 'binned'; the forms share everything but the risk's bins.",
        )


def _check_replicates(replicates: int) -> None:
    fits = isinstance(replicates, int) and not isinstance(replicates, bool)
    if not fits or not FEWEST_REPLICATES <= replicates <= MOST_REPLICATES:
        raise SettingsError(
            f"The number of replicates must be a whole number from {FEWEST_REPLICATES} to "
            f"{MOST_REPLICATES}",
            got=repr(replicates),
        )
