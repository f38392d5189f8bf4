"""Nuisances of v_Z(s): what does not depend on s once, then per subset three fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from whygap.domains import DOMAINS, Array, ByDomain
from whygap.equations.covariate_value import CovariateTwin, CovariateValues, numerator
from whygap.estimate import Estimate
from whygap.learning.blocks import BlockSet
from whygap.learning.conditional_mean import Fits, MeanTask, fit_means
from whygap.learning.density_ratio import fit_ratios
from whygap.learning.menu import ratio_probes
from whygap.nuisances.cross_fit import CrossFit, clipped, loss_kind
from whygap.nuisances.held_out import (
    everywhere,
    paired_values,
    ratio_out_of_fold,
    twin_values,
    twins,
)
from whygap.nuisances.source_risk import Risks

__all__ = ["CovariatePart", "prepare_covariate"]

Pairs = ByDomain[list[tuple[Array, Array]]]


@dataclass(frozen=True, slots=True, eq=False)
class CovariatePart:
    """Shared by all subsets; `numerator(players)` values one.

    Attributes:
        fitted_loss: mu_..0(W, Z) of every training set at all (sorted) source rows.
    """

    crossfit: CrossFit
    probe_sets: Sequence[tuple[int, ...]]
    mu_0_wz: Pairs
    mu_10_w: Pairs
    fitted_loss: dict[BlockSet, Array]
    kept: list[Estimate] = field(default_factory=list)

    @property
    def players(self) -> int:
        """How many players there are."""
        return len(self.crossfit.design.players)

    def denominator(self) -> Estimate:
        """The numerator of the empty set, fitted once."""
        if not self.kept:
            self.kept.append(self._numerator(()))
        return self.kept[0]

    def numerator(self, players: tuple[int, ...]) -> Estimate:
        """Debiased numerator of v_Z(s); exactly 0 for the full set."""
        if len(players) == self.players:
            return _zero(self.crossfit)
        return self._numerator(players) if players else self.denominator()

    def _numerator(self, players: tuple[int, ...]) -> Estimate:
        crossfit = self.crossfit
        columns = crossfit.design.subset_columns(players)
        mu_00_wzs = self._mean_loss(columns)
        pairs_wzs, at_target = _both_domains(crossfit, mu_00_wzs)
        if players:
            # mu_.s0(W) = E_1[mu_.0-s0(W, Z_s) | W]
            pairs_s0 = _regress_on_w(crossfit, "mu_s0_w", at_target)
            pi_wzs = self._ratio(columns)
        else:
            pairs_s0, pi_wzs = pairs_wzs, crossfit.aggregate.pi_w
        return numerator(
            CovariateValues(
                crossfit.sample,
                crossfit.aggregate.loss.source,
                crossfit.aggregate.pi_wz,
                pi_wzs,
                _halvings(self.mu_0_wz, self.mu_10_w, pairs_wzs, pairs_s0),
                crossfit.blocks.of_evaluated_rows(),
            )
        )

    def _mean_loss(self, columns: tuple[int, ...]) -> Fits:
        """mu_.0-s0(W, Z_s) = E_0[mu_..0(W, Z) | W, Z_s]; for the empty set mu_.00(W).

        The fitted metric is the target, not the metric itself: it has less noise, and what is wrong
        with it is wrong with mu_.10(W) too, so that it drops out of their difference when little is
        missing from s. It is taken at the rows it was fitted on; its average over alike rows is
        that of the metric there, so this does no harm.
        """
        crossfit = self.crossfit
        learner = crossfit.menu.twin_learner(
            "mu_00_wzs",
            lambda: [self._mean_loss_task(s) for s in self.probe_sets],
            crossfit.features,
            columns="W, Z_s",
            target="fitted metric, source",
        )
        return fit_means(crossfit.features, learner, self._mean_loss_task(columns))

    def _mean_loss_task(self, columns: tuple[int, ...]) -> MeanTask:
        crossfit = self.crossfit
        kind = loss_kind(crossfit.sorted_loss)
        return MeanTask(
            "mu_00_wzs",
            "real" if kind == "real" else "bounded",
            columns,
            crossfit.features.plain.source,
            self.fitted_loss,
            crossfit.halves,
            repeated=True,
        )

    def _ratio(self, columns: tuple[int, ...]) -> Array:
        """pi_1s0(W, Z_s) at source rows."""
        crossfit = self.crossfit
        learner = crossfit.menu.learner(
            "pi_wzs",
            lambda: ratio_probes(crossfit.features, self.probe_sets),
            columns="W, Z_s",
            target="domain",
            ratio=True,
            strict=True,
        )
        trained_on = crossfit.blocks.complements()
        fits = fit_ratios(crossfit.features, learner, columns, trained_on, "pi_wzs", repeated=True)
        return clipped(ratio_out_of_fold(fits, "source"), crossfit.settings)


def prepare_covariate(
    crossfit: CrossFit, probe_sets: Sequence[tuple[int, ...]], p_0: Risks
) -> CovariatePart:
    """Twins of mu_..0(W, Z) = a + b p_0, and of mu_.10(W)."""
    intercept, slope = crossfit.sorted_intercept, crossfit.sorted_slope
    mu_0_wz = {
        half: ByDomain(*(intercept[d] + slope[d] * risk[d] for d in DOMAINS))
        for half, risk in p_0.items()
    }
    return CovariatePart(
        crossfit,
        [crossfit.design.subset_columns(s) for s in probe_sets],
        twin_values(crossfit.blocks, crossfit.settings.halvings, mu_0_wz),
        _regress_on_w(crossfit, "mu_10_w", {half: mu.target for half, mu in mu_0_wz.items()}),
        {half: mu.source for half, mu in mu_0_wz.items()},
    )


def _both_domains(crossfit: CrossFit, fits: Fits) -> tuple[Pairs, dict[BlockSet, Array]]:
    """Twins of fits over source rows at both domains, and every fit at all (sorted) target rows."""
    plain, halvings = crossfit.features.plain, crossfit.settings.halvings
    at_target = everywhere(fits, plain.target)
    target = paired_values(crossfit.blocks, "target", halvings, at_target)
    return ByDomain(twins(fits, plain.source, halvings), target), at_target


def _regress_on_w(crossfit: CrossFit, name: str, targets: dict[frozenset[int], Array]) -> Pairs:
    """A second-stage regression on W over target rows; its targets were fitted on source rows."""
    task = MeanTask(
        name,
        "real",
        crossfit.design.baseline,
        crossfit.features.plain.target,
        targets,
        crossfit.halves,
    )
    learner = crossfit.menu.twin_learner(
        "mu_10_w",
        lambda: [task],
        crossfit.features,
        columns="W",
        target="fitted metric, target",
    )
    fits = fit_means(crossfit.features, learner, task)
    return crossfit.features.plain.map(lambda view: twins(fits, view, crossfit.settings.halvings))


def _halvings(*pairs: Pairs) -> list[tuple[CovariateTwin, CovariateTwin]]:
    """Regroup [nuisance][domain][halving][twin] into one CovariateTwin per halving and twin."""
    count = len(pairs[0].source)
    return [(_twin(pairs, h, 0), _twin(pairs, h, 1)) for h in range(count)]


def _twin(pairs: Sequence[Pairs], halving: int, which: int) -> CovariateTwin:
    return CovariateTwin(
        *(ByDomain(p.source[halving][which], p.target[halving][which]) for p in pairs)
    )


def _zero(crossfit: CrossFit) -> Estimate:
    rows = crossfit.sample.weights.map(len)
    return Estimate.from_contributions(
        crossfit.sample, source=np.zeros(rows.source), target=np.zeros(rows.target), plugin=0.0
    )
