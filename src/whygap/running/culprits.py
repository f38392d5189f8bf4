"""Points, affected groups and recoverable error of one run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from whygap.domains import Domain
from whygap.estimate import Estimate
from whygap.estimate.combine import joint_covariance, linear_map, median_of
from whygap.nuisances.cross_fit import CrossFit
from whygap.nuisances.groups import grouped_columns, where_groups
from whygap.nuisances.points import PointsGame, baseline_points, covariate_points
from whygap.nuisances.recoverable import GainGame, prepare_gain, target_mix
from whygap.nuisances.rules import find_rules
from whygap.nuisances.source_risk import SourceRisk
from whygap.results import Affected, AffectedGroup, Budget, Points, Recoverable, Sampling
from whygap.running.game import INTERRUPTED, Played, Run, play, probe_subsets
from whygap.running.workers import one_thread

# A sampling error this small beside the whole part's standard error needs no more subsets,
# however precisely a single small share is known.
_FLOOR = 0.05


def points(crossfits: Sequence[CrossFit], run: Run) -> dict[str, Points]:
    """Signed points of the columns of W and of the players of Z, by part.

    After Ctrl-C in the game of Z, those of W that are finished are kept.
    """
    design = crossfits[0].design
    names = {
        "baseline": [design.columns[c].name for c in design.baseline],
        "covariate": [player.name for player in design.players],
    }
    measured: dict[str, Points] = {}
    try:
        for part in filter(names.get, names):
            measured[part] = _points(part, names[part], crossfits, run)
            sampling = measured[part].sampling
            if sampling is not None and sampling.stopped == INTERRUPTED:
                break
    except KeyboardInterrupt:
        if not measured:
            raise
    return measured


def _points(part: str, names: Sequence[str], crossfits: Sequence[CrossFit], run: Run) -> Points:
    prepare = baseline_points if part == "baseline" else covariate_points
    probes = probe_subsets(len(names), run.settings.seed)
    with one_thread():
        games: list[PointsGame] = [prepare(crossfit, probes) for crossfit in crossfits]
    whole = median_of([g.full for g in games]) - median_of([g.empty for g in games])
    floor = _FLOOR * whole.standard_error
    played = play(f"points {part}", games, run, floor=floor)
    return points_of(names, played.shares, played.sampling)


def points_of(
    names: Sequence[str], shares: Sequence[Estimate], sampling: Sampling | None
) -> Points:
    """Estimates by variable with their covariance."""
    return Points(dict(zip(names, shares, strict=True)), joint_covariance(shares), sampling)


def affected(crossfits: Sequence[CrossFit], run: Run) -> Affected:
    """Groups of every column, and confirmed rules.

    Where cross-fittings are repeated, the one (or two) whose corner is the median has the groups:
    so their contributions add up to the outcome part.
    """
    run.report.stage("affected groups")
    ends = [crossfit.walk.corners["110"].value for crossfit in crossfits]
    order = np.argsort(ends, kind="stable")
    middle = [int(order[(len(ends) - 1) // 2]), int(order[len(ends) // 2])]
    with one_thread():
        grouped = grouped_columns(crossfits[0])
        by_repeat = [where_groups(crossfits[k], grouped) for k in sorted(set(middle))]
        groups = [_mean_group(alike) for alike in zip(*by_repeat, strict=True)]
        rules = find_rules(crossfits[middle[0]])
    covariance = joint_covariance([group.points for group in groups])
    return Affected(tuple(groups), covariance, rules.confirmed, rules.tested)


def _mean_group(alike: Sequence[AffectedGroup]) -> AffectedGroup:
    first = alike[0]
    if len(alike) == 1:
        return first
    changes = [group.change for group in alike if group.change is not None]
    points = _mean([group.points for group in alike])
    return replace(first, points=points, change=_mean(changes) if changes else None)


def _mean(estimates: Sequence[Estimate]) -> Estimate:
    return linear_map(np.full((1, len(estimates)), 1 / len(estimates)), estimates)[0]


def recoverable(
    whole: Sequence[CrossFit],
    compared: Sequence[CrossFit],
    risks: Sequence[Sequence[SourceRisk]],
    run: Run,
) -> Recoverable:
    """Two budgets of the whole tables, and one where the tables can be compared, if anywhere.

    After Ctrl-C behind the first one, the last has its total alone.
    """
    names, error, games = _gains("target", whole, run)
    played = play("recoverable here", games, run, floor=_FLOOR * error.standard_error)
    own = _budget(names, error, played)
    mix = None
    if compared:
        with one_thread():
            mixes = [target_mix(c, risk) for c, risk in zip(compared, risks, strict=True)]
            mix = Budget(
                total=median_of([one.total for one in mixes]),
                irreducible=median_of([one.irreducible for one in mixes]),
            )
    source = _source(whole, run, in_full=played.sampling.stopped != INTERRUPTED)
    return Recoverable(
        total=own.total,
        irreducible=own.irreducible,
        recalibration=own.recalibration,
        variables=own.variables,
        source=source,
        added_in_target=own.total - source.total,
        reweighted=mix,
    )


def _source(crossfits: Sequence[CrossFit], run: Run, *, in_full: bool) -> Budget:
    names, error, games = _gains("source", crossfits, run)
    if in_full:
        with suppress(KeyboardInterrupt):
            played = play("recoverable at home", games, run, floor=_FLOOR * error.standard_error)
            return _budget(names, error, played)
    with one_thread():
        total = median_of([game.value(tuple(range(game.players))) for game in games])
    return Budget(total=total.growing(), irreducible=error - total)


def _gains(
    domain: Domain, crossfits: Sequence[CrossFit], run: Run
) -> tuple[list[str], Estimate, list[GainGame]]:
    """Names of the players, the model's squared error, the game of each repeat."""
    design = crossfits[0].design
    names = [design.columns[c].name for c in design.baseline]
    names += [player.name for player in design.players]
    probes = probe_subsets(len(names), run.settings.seed)
    with one_thread():
        games = [prepare_gain(crossfit, domain, probes) for crossfit in crossfits]
        error = median_of([game.squared_error() for game in games])
    return names, error, games


def _budget(names: Sequence[str], error: Estimate, played: Played) -> Budget:
    shares = [share.growing() for share in played.shares]
    return Budget(
        total=played.full.growing(),
        irreducible=error - played.full,
        recalibration=played.empty.growing(),
        variables=points_of(names, shares, played.sampling),
    )
