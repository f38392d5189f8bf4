"""Nuisances of v_Z(s): what does not depend on s once, then per subset three fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from whygap.domains import Array, ByDomain, Subset
from whygap.equations.covariate_value import CovariateValues, numerator
from whygap.estimate import Estimate
from whygap.learning.blocks import BlockSet
from whygap.learning.menu import ratio_probes
from whygap.learning.models import Kind
from whygap.learning.primitives import MeanTask, fit_means, fit_ratios
from whygap.nuisances.cross_fit import CrossFit, zero
from whygap.nuisances.held_out import everywhere, mean_task, out_of_fold, twins, twins_of_values
from whygap.nuisances.source_risk import SourceRisk, twins_of_risks
from whygap.nuisances.terms import loss_kind


@dataclass(frozen=True, slots=True, eq=False)
class CovariatePart:
    """Shared by all subsets; `numerator(subset)` values one."""

    crossfit: CrossFit
    mu_0_wz: ByDomain[Array]  # twins of mu_..0(W, Z) at all rows
    mu_10_w: ByDomain[Array]  # twins of mu_.10(W) there
    fitted_loss: dict[BlockSet, Array]  # mu_..0(W, Z) of every training set at all source rows
    learner_wzs: Any  # of mu_.0-s0(W, Z_s)
    learner_w: Any  # of regressions on W alone
    learner_pi: Any  # of the density ratio on (W, Z_s)
    whole: Estimate | None = None  # the numerator of the empty set, once it is known

    @property
    def players(self) -> int:
        """How many players there are."""
        return len(self.crossfit.design.players)

    @property
    def denominator(self) -> Estimate:
        """What shares are shares of."""
        return self.numerator(())

    def numerator(self, subset: Subset) -> Estimate:
        """Debiased numerator of v_Z(s); exactly 0 for the full set."""
        if not subset and self.whole is not None:
            return self.whole
        if len(subset) == self.players:
            return zero(self.crossfit)
        crossfit, columns = self.crossfit, self.crossfit.design.subset_columns(subset)
        line = crossfit.walk.covariate
        task = _mean_loss_task(crossfit, self.fitted_loss, columns)
        fits = fit_means(crossfit.features, self.learner_wzs, task)
        at_target = everywhere(fits, "target")
        mu_00_wzs = ByDomain(
            twins(fits, "source"), twins_of_values(crossfit.blocks, "target", at_target)
        )
        # Without Z_s, mu_.s0(W) = E_1[mu_.0-s0(W, Z_s) | W] is mu_.00(W) itself.
        pi_wzs, mu_s0_w = crossfit.aggregate.pi_w, mu_00_wzs
        if subset:
            pi_wzs = subset_ratio(crossfit, self.learner_pi, columns)
            on_w = _task_on_w(crossfit, "mu_s0_w", at_target)
            mu_s0_w = _twins_on_w(crossfit, self.learner_w, on_w)
        squared = numerator(
            CovariateValues(
                crossfit.sample,
                line.term.values.loss.source,
                crossfit.aggregate.pi_wz,
                pi_wzs,
                self.mu_0_wz,
                self.mu_10_w,
                mu_00_wzs,
                mu_s0_w,
                crossfit.plan,
            )
        )
        # The numerator changes with l as 2 d(W) (P_1s0 - P_110)[l] does.
        distance = (mu_s0_w.source - self.mu_10_w.source).mean(axis=(0, 1))
        ratios = (normalised(crossfit, pi) for pi in (pi_wzs, crossfit.aggregate.pi_wz))
        return line.with_shift_error(squared, 2 * distance * np.subtract(*ratios))


def prepare_covariate(
    crossfit: CrossFit, probe_sets: Sequence[Subset], source: SourceRisk
) -> CovariatePart:
    """Choose every learner, fit the twins of mu_..0(W, Z) = a + b p_0 and of mu_.10(W)."""
    design, menu, features = crossfit.design, crossfit.menu, crossfit.features
    intercept, slope = crossfit.walk.covariate.term.affine()
    mu_0_wz = {
        half: intercept.zip(slope.zip(risk, np.multiply), np.add)
        for half, risk in source.p_0.items()
    }
    fitted_loss = {half: mu.source for half, mu in mu_0_wz.items()}
    on_w = _task_on_w(crossfit, "mu_10_w", {half: mu.target for half, mu in mu_0_wz.items()})
    again = replace(on_w, repeated=True)  # a regression on W comes with every subset
    learner_w = menu.twin_learner(
        "mu_10_w", lambda: [again], features, columns="W", target="fitted metric, target"
    )
    probed = [design.subset_columns(s) for s in probe_sets]
    learner_wzs = menu.twin_learner(
        "mu_00_wzs",
        lambda: [_mean_loss_task(crossfit, fitted_loss, s) for s in probed],
        features,
        columns="W, Z_s",
        target="fitted metric, source",
    )
    part = CovariatePart(
        crossfit,
        twins_of_risks(crossfit, mu_0_wz),
        _twins_on_w(crossfit, learner_w, on_w),
        fitted_loss,
        learner_wzs,
        learner_w,
        subset_ratio_learner(crossfit, "pi_wzs (shares)", probed, "W, Z_s"),
    )
    return replace(part, whole=part.numerator(()))


def _mean_loss_task(
    crossfit: CrossFit, fitted_loss: dict[BlockSet, Array], columns: tuple[int, ...]
) -> MeanTask:
    """mu_.0-s0(W, Z_s) = E_0[mu_..0(W, Z) | W, Z_s]; for the empty set mu_.00(W).

    The fitted metric is the target, not the metric itself: it has less noise, and what is wrong
    with it is wrong with mu_.10(W) too, so that it drops out of their difference when little is
    missing from s. It is taken at the rows it was fitted on; its average over alike rows is that
    of the metric there, so this does no harm.
    """
    kind: Kind = "real" if loss_kind(crossfit.walk.covariate.term.loss) == "real" else "bounded"
    features, halves = crossfit.features, crossfit.halves
    return mean_task(
        features, "mu_00_wzs", kind, columns, "source", fitted_loss, halves, repeated=True
    )


def _task_on_w(crossfit: CrossFit, name: str, targets: dict[BlockSet, Array]) -> MeanTask:
    """A second-stage regression on W over target rows; its targets were fitted on source rows."""
    columns, halves = crossfit.design.baseline, crossfit.halves
    return mean_task(crossfit.features, name, "real", columns, "target", targets, halves)


def _twins_on_w(crossfit: CrossFit, learner: Any, task: MeanTask) -> ByDomain[Array]:
    fits = fit_means(crossfit.features, learner, task)
    return ByDomain(twins(fits, "source"), twins(fits, "target"))


def subset_ratio_learner(
    crossfit: CrossFit, kind: str, column_sets: Sequence[tuple[int, ...]], moved: str
) -> Any:
    """Who fits density ratios on subsets of the columns, for one kind of game.

    Each kind chooses for itself, so that no answer depends on what else is asked.
    """
    probes = partial(ratio_probes, crossfit.features, column_sets, repeated=True)
    return crossfit.menu.learner(kind, probes, columns=moved, target="domain")


def normalised(crossfit: CrossFit, ratio: Array) -> Array:
    """A ratio at source rows with mean 1."""
    return ratio / float(np.mean(ratio * crossfit.sample.weights.source))


def subset_ratio(crossfit: CrossFit, learner: Any, columns: tuple[int, ...]) -> Array:
    """pi_1s0(W, Z_s) at source rows; not fitted again where it is kept."""
    if (known := crossfit.kept.find(columns, learner)) is not None:
        return known
    fits = fit_ratios(crossfit.features, learner, columns, "pi_wzs", repeated=True)
    found = crossfit.cut(out_of_fold(fits, "source"), columns)
    crossfit.kept.keep(columns, learner, found)
    return found
