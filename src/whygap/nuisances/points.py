"""Nuisances of points: per set of columns one conditional mean and one density ratio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from whygap.domains import Array, ByDomain, Subset
from whygap.equations.lines import Line
from whygap.equations.points import TransportedValues, transported_mean
from whygap.estimate import Estimate
from whygap.learning.menu import mean_probes
from whygap.learning.primitives import MeanTask, fit_means
from whygap.nuisances.covariate import normalised, subset_ratio, subset_ratio_learner
from whygap.nuisances.cross_fit import CrossFit
from whygap.nuisances.held_out import mean_task, out_of_fold
from whygap.nuisances.terms import loss_kind
from whygap.tables.design import Design

Columns = tuple[int, ...]
_KINDS = {"W_s": "mu_ws", "W, Z_s": "mu_wzs"}
_RATIOS = {"W_s": "pi_ws", "W, Z_s": "pi_wzs"}


@dataclass(frozen=True, slots=True, eq=False)
class _Target:
    """What fits are of: l = low + step * this, where low and step are known given X_S."""

    this: ByDomain[Array]  # at all rows
    low: ByDomain[Array]
    step: ByDomain[Array]

    @classmethod
    def of(cls, design: Design, loss: ByDomain[Array], base: Columns) -> _Target:
        """The model's label where the outcome has moved and l knows no more of it; else l itself.

        Given the outcome, the mean of such an l is a probability between two known numbers: on its
        own scale it bends where that is near 0 or 1, and each class bends in its own way.
        """
        moved = bool(design.given) and set(design.given) <= set(base)
        if not (moved and design.task == "binary" and design.metric.wants == "label"):
            return cls(loss, loss.map(np.zeros_like), loss.map(np.ones_like))
        label = design.prediction.map(lambda p: (p >= design.threshold).astype(float))
        cells = label.zip(design.outcome, lambda f, y: (2 * y + f).astype(int))
        cell, values = (np.concatenate(list(one)) for one in (cells, loss))
        mean = np.bincount(cell, values, 4) / np.maximum(np.bincount(cell, minlength=4), 1)
        low = design.outcome.map(lambda y: mean[2 * y.astype(int)])
        high = design.outcome.map(lambda y: mean[2 * y.astype(int) + 1])
        return cls(label, low, high.zip(low, np.subtract))


@dataclass(frozen=True, slots=True, eq=False)
class PointsGame:
    """v(s) = Psi(base and s): the mean metric when these columns move to the target."""

    crossfit: CrossFit
    line: Line  # between the two corners; so points add up to the part between them
    target: _Target
    task: str  # what E_0[l | X_S] is called; games with another l have other ones
    base: Columns  # columns that have moved already
    start: Array  # their density ratio, at source rows
    groups: tuple[Columns, ...]  # columns of each player
    learner_mu: Any  # of E_0[l | X_S]
    learner_pi: Any  # of the density ratio on X_S

    @property
    def players(self) -> int:
        """How many players there are."""
        return len(self.groups)

    @property
    def empty(self) -> Estimate:
        """The value of nobody."""
        return self.line.start

    @property
    def full(self) -> Estimate:
        """The value of everybody."""
        return self.line.end

    def value(self, subset: Subset) -> Estimate:
        """Psi(base and s), debiased."""
        if not subset:
            return self.empty
        if len(subset) == self.players:
            return self.full
        crossfit, columns = self.crossfit, _columns(self.base, self.groups, subset)
        task = _task(crossfit, self.target, self.task, columns)
        fits = fit_means(crossfit.features, self.learner_mu, task)
        mu = ByDomain(out_of_fold(fits, "source"), out_of_fold(fits, "target"))
        low, step = self.target.low, self.target.step
        pi_s = subset_ratio(crossfit, self.learner_pi, columns)
        mean = transported_mean(
            TransportedValues(
                crossfit.sample,
                self.line.term.values.loss.source,
                low.zip(step.zip(mu, np.multiply), np.add),
                pi_s,
            )
        )
        weights = (normalised(crossfit, pi) for pi in (pi_s, self.start))
        return self.line.moved(mean, np.subtract(*weights))


def baseline_points(crossfit: CrossFit, probe_sets: Sequence[Subset]) -> PointsGame:
    """Players are the columns of W; from E_000 to E_100."""
    groups = tuple((column,) for column in crossfit.design.baseline)
    line = crossfit.walk.baseline or crossfit.walk.covariate  # nobody plays without W
    return _prepared(crossfit, "W_s", (), groups, line, probe_sets)


def covariate_points(crossfit: CrossFit, probe_sets: Sequence[Subset]) -> PointsGame:
    """Players are those of Z, given W: from E_100 to E_110.

    Where the outcome comes first, given W and Y: from there to E_111.
    """
    design, line = crossfit.design, crossfit.walk.covariate
    groups = tuple(player.columns for player in design.players)
    base = design.baseline + design.given
    crossfit.kept.open(crossfit.design.rows.source)
    return _prepared(crossfit, "W, Z_s", base, groups, line, probe_sets)


def _prepared(
    crossfit: CrossFit,
    moved: str,
    base: Columns,
    groups: tuple[Columns, ...],
    line: Line,
    probe_sets: Sequence[Subset],
) -> PointsGame:
    """Choose the learners on a few subsets, for each game anew; one player alone needs none.

    On the largest of them and on all players: a penalty that suits a small set keeps large ones
    from seeing how columns act together, and one that suits all does small ones no harm.
    """
    probed = [_columns(base, groups, s) for s in (probe_sets[-1], tuple(range(len(groups))))]
    learner_mu = learner_pi = None
    target = _Target.of(crossfit.design, line.term.loss, base)
    alike = target.this is line.term.loss and not line.slack
    task = "mu_s" if alike else f"{_KINDS[moved]} of a line"
    if len(groups) > 1:
        tasks = [_task(crossfit, target, task, columns) for columns in probed]
        name, probes = _KINDS[moved], partial(mean_probes, crossfit.features, tasks)
        shown = "W, Y, Z_s" if set(crossfit.design.given) & set(base) else moved
        learner_mu = crossfit.menu.learner(name, probes, columns=shown, target="metric, source")
        learner_pi = subset_ratio_learner(crossfit, _RATIOS[moved], probed, shown)
    values = line.term.values
    moved_already = values.pi_wz if crossfit.design.given else values.pi_w
    start = moved_already if base else np.ones_like(values.pi_w)
    return PointsGame(crossfit, line, target, task, base, start, groups, learner_mu, learner_pi)


def _columns(base: Columns, groups: tuple[Columns, ...], subset: Subset) -> Columns:
    return base + tuple(column for player in subset for column in groups[player])


def _task(crossfit: CrossFit, target: _Target, name: str, columns: Columns) -> MeanTask:
    this, features, halves = target.this, crossfit.features, crossfit.blocks.complements()
    return mean_task(
        features, name, loss_kind(this), columns, "source", this.source, halves, repeated=True
    )
