"""Nuisances of points: per set of columns one conditional mean and one density ratio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from whygap.domains import ByDomain, Subset
from whygap.equations import corners
from whygap.equations.points import TransportedValues, transported_mean
from whygap.estimate import Estimate
from whygap.learning.menu import mean_probes
from whygap.learning.primitives import MeanTask, fit_means
from whygap.nuisances.covariate import subset_ratio, subset_ratio_learner
from whygap.nuisances.cross_fit import CrossFit, loss_kind
from whygap.nuisances.held_out import mean_task, out_of_fold

Columns = tuple[int, ...]
_KINDS = {"W_s": "mu_ws", "W, Z_s": "mu_wzs"}


@dataclass(frozen=True, slots=True, eq=False)
class PointsGame:
    """v(s) = Psi(base and s): the mean metric when these columns move to the target."""

    crossfit: CrossFit
    base: Columns  # columns that have moved already
    groups: tuple[Columns, ...]  # columns of each player
    empty: Estimate  # v of nobody, a corner of the walk
    full: Estimate  # v of everybody, the next corner; so points add up to the part between them
    learner_mu: Any  # of E_0[l | X_S]
    learner_pi: Any  # of the density ratio on X_S

    @property
    def players(self) -> int:
        """How many players there are."""
        return len(self.groups)

    def value(self, subset: Subset) -> Estimate:
        """Psi(base and s), debiased."""
        if not subset:
            return self.empty
        if len(subset) == self.players:
            return self.full
        crossfit, columns = self.crossfit, _columns(self.base, self.groups, subset)
        fits = fit_means(crossfit.features, self.learner_mu, _task(crossfit, columns))
        return transported_mean(
            TransportedValues(
                crossfit.sample,
                crossfit.aggregate.loss.source,
                ByDomain(out_of_fold(fits, "source"), out_of_fold(fits, "target")),
                subset_ratio(crossfit, self.learner_pi, columns),
            )
        )


def baseline_points(crossfit: CrossFit, probe_sets: Sequence[Subset]) -> PointsGame:
    """Players are the columns of W; from E_000 to E_100."""
    groups = tuple((column,) for column in crossfit.design.baseline)
    values = crossfit.aggregate
    ends = corners.mean_000(values), corners.mean_100(values)
    return _prepared(crossfit, "W_s", (), groups, ends, probe_sets)


def covariate_points(crossfit: CrossFit, probe_sets: Sequence[Subset]) -> PointsGame:
    """Players are those of Z, given W; from E_100 to E_110."""
    design, values = crossfit.design, crossfit.aggregate
    groups = tuple(player.columns for player in design.players)
    start = corners.mean_100(values) if design.baseline else corners.mean_000(values)
    ends = start, corners.mean_110(values)
    return _prepared(crossfit, "W, Z_s", design.baseline, groups, ends, probe_sets)


def _prepared(
    crossfit: CrossFit,
    moved: str,
    base: Columns,
    groups: tuple[Columns, ...],
    ends: tuple[Estimate, Estimate],
    probe_sets: Sequence[Subset],
) -> PointsGame:
    """Choose the learners on a few subsets, for each game anew; one player alone needs none."""
    probed = [_columns(base, groups, subset) for subset in probe_sets]
    learner_mu = learner_pi = None
    if len(groups) > 1:
        tasks = [_task(crossfit, columns) for columns in probed]
        name, probes = _KINDS[moved], partial(mean_probes, crossfit.features, tasks)
        learner_mu = crossfit.menu.learner(name, probes, columns=moved, target="metric, source")
        learner_pi = subset_ratio_learner(crossfit, probed, moved)
    return PointsGame(crossfit, base, groups, *ends, learner_mu, learner_pi)


def _columns(base: Columns, groups: tuple[Columns, ...], subset: Subset) -> Columns:
    return base + tuple(column for player in subset for column in groups[player])


def _task(crossfit: CrossFit, columns: Columns) -> MeanTask:
    loss, features, halves = crossfit.design.loss, crossfit.features, crossfit.blocks.complements()
    return mean_task(
        features, "mu_s", loss_kind(loss), columns, "source", loss.source, halves, repeated=True
    )
