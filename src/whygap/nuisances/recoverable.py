"""Nuisances of what can be won back: m_s = E[Y | f, X_s], in one domain, as twins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from whygap.blocks import BlockSet
from whygap.domains import Domain, Subset
from whygap.equations.recoverable import DomainValues, TargetMixValues, gain
from whygap.estimate import Estimate
from whygap.learning.features import Extra
from whygap.learning.primitives import MeanTask, fit_means
from whygap.learning.ridge import logit_clipped
from whygap.nuisances.cross_fit import CrossFit
from whygap.nuisances.held_out import mean_task, twins_at
from whygap.nuisances.source_risk import SourceRisk, column_of, twins_of_risks

# Scores nearer to 0 or 1 than this tell no more: on the logit scale they would be far away.
_NEAREST = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class GainGame:
    """v(s) = E[(Y - f)^2] - E[(Y - E[Y | f, X_s])^2]; players are all columns, W and Z alike."""

    crossfit: CrossFit
    values: DomainValues  # outcomes and predictions of the domain
    groups: tuple[tuple[int, ...], ...]  # columns of each player
    extra: dict[BlockSet, Extra]  # the score, smooth on the logit scale, as one more column
    learner: Any  # of m_s

    @property
    def players(self) -> int:
        """How many players there are."""
        return len(self.groups)

    def value(self, subset: Subset) -> Estimate:
        """Debiased gain of s."""
        crossfit = self.crossfit
        columns = tuple(column for player in subset for column in self.groups[player])
        task = _task(crossfit, self.values.domain, self.extra, columns)
        fits = fit_means(crossfit.features, self.learner, task)
        m_s = twins_at(fits, ("own",), crossfit.settings.halvings)["own"][0]
        return gain(self.values, m_s)


def prepare_gain(crossfit: CrossFit, domain: Domain, probe_sets: Sequence[Subset]) -> GainGame:
    """The score as a column, and the learner."""
    design = crossfit.design
    groups: tuple[tuple[int, ...], ...] = tuple((column,) for column in design.baseline)
    groups += tuple(player.columns for player in design.players)
    score = design.prediction.map(lambda f: logit_clipped(np.clip(f, _NEAREST, 1 - _NEAREST)))
    extra = dict.fromkeys(crossfit.halves, column_of(crossfit, score, domain))
    probed = [tuple(c for player in s for c in groups[player]) for s in probe_sets]
    learner = crossfit.menu.twin_learner(
        f"m_s, {domain}",
        lambda: [_task(crossfit, domain, extra, columns) for columns in probed],
        crossfit.features,
        columns="score, X_s",
        target=f"outcome, {domain}",
    )
    return GainGame(crossfit, _values(crossfit, domain), groups, extra, learner)


def target_mix_values(crossfit: CrossFit, source: SourceRisk) -> TargetMixValues:
    """Predictions and twins of the source risk, at every row."""
    known = crossfit.design.source_risk
    p_0 = source.p_0 if known is None else dict.fromkeys(crossfit.halves, known)
    return TargetMixValues(
        crossfit.sample,
        crossfit.evaluated(crossfit.design.outcome).source,
        crossfit.evaluated(crossfit.design.prediction),
        crossfit.aggregate.pi_wz,
        twins_of_risks(crossfit, p_0),
        crossfit.plan,
    )


def _values(crossfit: CrossFit, domain: Domain) -> DomainValues:
    return DomainValues(
        crossfit.sample,
        domain,
        crossfit.evaluated(crossfit.design.outcome)[domain],
        crossfit.evaluated(crossfit.design.prediction)[domain],
        crossfit.plan,
    )


def _task(
    crossfit: CrossFit, domain: Domain, extra: dict[BlockSet, Extra], columns: tuple[int, ...]
) -> MeanTask:
    name, outcome, halves = f"m_s, {domain}", crossfit.design.outcome[domain], crossfit.halves
    task = partial(mean_task, crossfit.features, name, "probability", columns, domain)
    return task(outcome, halves, extra, repeated=True)
