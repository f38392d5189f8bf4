"""Nuisances of what can be won back: m_s = E[Y | f, X_s], in one domain, as twins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from whygap.domains import Domain, Subset
from whygap.equations.points import TransportedValues, transported_mean
from whygap.equations.recoverable import (
    DomainValues,
    TargetMixValues,
    gain,
    irreducible_on_target_mix,
    on_target_mix,
    squared_error,
)
from whygap.estimate import Estimate
from whygap.learning.primitives import MeanTask, fit_means
from whygap.nuisances.channels import Channel, channels
from whygap.nuisances.cross_fit import CrossFit
from whygap.nuisances.held_out import mean_task, twins_at
from whygap.nuisances.owned import owning, squared_bias
from whygap.nuisances.score import ScoreColumn
from whygap.nuisances.source_risk import SourceRisk, twins_of_risks
from whygap.nuisances.terms import fitted_given

WHERE: dict[Domain, str] = {"target": "here", "source": "at home"}


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """One channel in one domain: outcomes and predictions, the score as one more column."""

    channel: Channel
    values: DomainValues
    score: ScoreColumn
    learner: Any = None  # of m_s


@dataclass(frozen=True, slots=True, eq=False)
class GainGame:
    """v(s) = E[(Y - f)^2] - E[(Y - E[Y | f, X_s])^2]; players are all columns, W and Z alike.

    Of several classes, the sum over classes.
    """

    crossfit: CrossFit
    domain: Domain
    scored: tuple[Scored, ...]
    groups: tuple[tuple[int, ...], ...]  # columns of each player

    @property
    def players(self) -> int:
        """How many players there are."""
        return len(self.groups)

    def value(self, subset: Subset) -> Estimate:
        """Debiased gain of s."""
        columns = tuple(column for player in subset for column in self.groups[player])
        return total([self._gain(one, columns) for one in self.scored])

    def squared_error(self) -> Estimate:
        """What the model has now."""
        return total([squared_error(one.values) for one in self.scored])

    def _gain(self, scored: Scored, columns: tuple[int, ...]) -> Estimate:
        crossfit = self.crossfit
        task = _task(crossfit, self.domain, scored, columns)
        fits = fit_means(crossfit.features, scored.learner, task)
        m_s = twins_at(fits, ("own",))["own"][0]
        found, where = gain(scored.values, m_s), WHERE[self.domain]
        noise = crossfit.menu.noise(_kind(self.domain, scored.channel))
        left = squared_bias(m_s, -crossfit.sample.weights[self.domain])
        return owning(found, {f"m_s {where}": left, f"choice {where}": -noise})


def total(estimates: Sequence[Estimate]) -> Estimate:
    """Their sum."""
    return sum(estimates[1:], estimates[0])


def prepare_gain(crossfit: CrossFit, domain: Domain, probe_sets: Sequence[Subset]) -> GainGame:
    """The scores as columns, and the learners."""
    design = crossfit.design
    groups: tuple[tuple[int, ...], ...] = tuple((column,) for column in design.baseline)
    groups += tuple(player.columns for player in design.players)
    probed = [tuple(c for player in s for c in groups[player]) for s in probe_sets]
    scored = tuple(_scored(crossfit, domain, one, probed) for one in channels(design))
    return GainGame(crossfit, domain, scored, groups)


def _scored(
    crossfit: CrossFit, domain: Domain, channel: Channel, probed: Sequence[tuple[int, ...]]
) -> Scored:
    values = DomainValues(
        crossfit.sample,
        domain,
        channel.outcome[domain],
        channel.prediction[domain],
        crossfit.plan,
    )
    scored = Scored(channel, values, ScoreColumn.of(crossfit.features, domain, channel.score))
    learner = crossfit.menu.twin_learner(
        _kind(domain, channel),
        lambda: [_task(crossfit, domain, scored, columns) for columns in probed],
        crossfit.features,
        columns="score, X_s",
        target=f"outcome, {domain}",
    )
    return replace(scored, learner=learner)


@dataclass(frozen=True, slots=True)
class TargetMix:
    """What source labels could win on the target's rows, and what they could not."""

    total: Estimate
    irreducible: Estimate


def target_mix(crossfit: CrossFit, source: Sequence[SourceRisk]) -> TargetMix:
    """On the target's mix of rows; of several classes, the sum over classes."""
    known = zip(channels(crossfit.design), source, strict=True)
    parts = [_target_mix(crossfit, channel, risk) for channel, risk in known]
    return TargetMix(total([p.total for p in parts]), total([p.irreducible for p in parts]))


def _target_mix(crossfit: CrossFit, channel: Channel, source: SourceRisk) -> TargetMix:
    known = crossfit.design.source_risk
    p_0 = source.p_0 if known is None else dict.fromkeys(crossfit.halves, known)
    values = TargetMixValues(
        crossfit.sample,
        channel.outcome.source,
        channel.prediction,
        crossfit.aggregate.pi_wz,
        twins_of_risks(crossfit, p_0),
        crossfit.plan,
    )
    won = on_target_mix(values)
    if channel.kind == "real":  # an outcome's variance is not a function of its mean
        return TargetMix(won, _error_on_target_mix(crossfit, channel) - won)
    return TargetMix(won, irreducible_on_target_mix(values))


def _error_on_target_mix(crossfit: CrossFit, channel: Channel) -> Estimate:
    """E_110[(Y - f)^2], debiased."""
    error = channel.outcome.zip(channel.prediction, lambda y, f: (y - f) ** 2)
    columns = crossfit.all_columns()
    (given,) = fitted_given(crossfit.shared, "squared error", columns, "W, Z", [error])
    own, pi_wz = error.source, crossfit.aggregate.pi_wz
    return transported_mean(TransportedValues(crossfit.sample, own, given, pi_wz))


def _kind(domain: Domain, channel: Channel) -> str:
    """Of m_s, among the kinds of nuisances."""
    return f"m_s, {domain}{channel.name}"


def _task(crossfit: CrossFit, domain: Domain, scored: Scored, columns: tuple[int, ...]) -> MeanTask:
    channel, halves = scored.channel, crossfit.halves
    name = _kind(domain, channel)
    extra = dict.fromkeys(halves, scored.score.beside(columns))
    task = partial(mean_task, crossfit.features, name, channel.kind, columns, domain)
    found = task(channel.outcome[domain], halves, extra, repeated=True)
    return replace(found, common=dict.fromkeys(halves, scored.score.alone))
