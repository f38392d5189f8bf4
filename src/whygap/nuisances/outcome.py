"""Nuisances of v_Y(s): risks once, then per subset the reduced risk m(G) (and h(G) if needed)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from whygap.domains import Array, ByDomain, Subset
from whygap.equations import outcome_value
from whygap.equations.binning import BINS
from whygap.equations.outcome_value import OutcomeValues, Reduced, RiskSlope, binned_slope
from whygap.estimate import Estimate
from whygap.learning.blocks import BlockSet
from whygap.learning.features import Extra
from whygap.learning.models import Kind
from whygap.learning.primitives import MeanTask, fit_means
from whygap.nuisances import source_risk
from whygap.nuisances.cross_fit import CrossFit, zero
from whygap.nuisances.held_out import mean_task, twins_at
from whygap.nuisances.owned import owning, squared_bias
from whygap.nuisances.source_risk import Risks, SourceRisk

_TARGETS = {"m": "outcome, target"}


@dataclass(frozen=True, slots=True, eq=False)
class OutcomePart:
    """Shared by all subsets; `numerator(subset)` values one."""

    crossfit: CrossFit
    values: OutcomeValues  # risks, outcomes, slopes
    denominator: Estimate  # mean squared difference of the two risks' metrics
    extra: dict[BlockSet, Extra]  # the source risk as a column, by training set
    learners: dict[str, Any]  # of m, and of b^2 and b^2 Y where h is not 0

    @property
    def players(self) -> int:
        """How many players there are."""
        return len(self.crossfit.design.players)

    def numerator(self, subset: Subset) -> Estimate:
        """Debiased numerator of v_Y(s); exactly 0 for the full set."""
        if len(subset) == self.players:
            return zero(self.crossfit)
        columns = self.crossfit.design.subset_columns(subset)
        m = self._fitted("m", columns)
        h = self._h(columns, m)
        reduced = [
            Reduced(m["own"][twin], h["own"][twin], self._slope(m, h, twin))
            for twin in range(len(m["own"]))
        ]
        squared = owning(outcome_value.numerator(self.values, *reduced), self._sizes(reduced))
        away = np.concatenate(self.values.p_1.target - m["own"])
        return _with_slope_error(self.crossfit, squared, away)

    def _sizes(self, reduced: Sequence[Reduced]) -> dict[str, float]:
        """Of what p_1, m and the source risk may have left, and of the choice of learners."""
        menu, adds = self.crossfit.menu, _squared_slope(self.values)
        of_m = float(np.mean([squared_bias(one.m, adds) for one in reduced]))
        return {
            "choice of m": menu.noise("m") * float(adds.mean()),
            "p_1": of_m - squared_bias(self.values.p_1.target, adds),
            "p_0": _left_by_source_risk(self.values, reduced),
            "choice of p_1 - p_0": -menu.noise(source_risk.COMPARED) * float(adds.mean()),
        }

    def _fitted(self, name: str, columns: tuple[int, ...]) -> dict[str, Array]:
        """Twins of a regression on G at each view of the source risk."""
        crossfit = self.crossfit
        task = _task(crossfit, self.extra, name, columns)
        fits = fit_means(crossfit.features, self.learners[name], task)
        # A source risk that is known has no error, so nothing moves with it.
        sides = () if crossfit.design.source_risk is not None else ("down", "up")
        return twins_at(fits, ("own", *sides))

    def _h(self, columns: tuple[int, ...], m: dict[str, Array]) -> dict[str, Array]:
        """h(G) = E_1[b^2 Y | G] - m(G) E_1[b^2 | G]; identically 0 when b^2 is constant.

        Both regressions have targets that no model has touched, so h's twins share no errors.
        """
        if "b2" not in self.learners:
            return {view: np.zeros((*values.shape[:-1], 1)) for view, values in m.items()}
        squared, with_y = (self._fitted(name, columns) for name in ("b2", "b2_y"))
        return {view: with_y[view] - m[view] * squared[view] for view in m}

    def _slope(self, m: dict[str, Array], h: dict[str, Array], twin: int) -> RiskSlope | None:
        """At the source risk of one twin."""
        if "up" not in m:
            return None
        m_up, m_down, h_up, h_down = (f[side][twin] for f in (m, h) for side in ("up", "down"))
        return binned_slope(BINS, m_up, m_down, h_up, h_down)


def prepare_outcome(
    crossfit: CrossFit, probe_sets: Sequence[Subset], source: SourceRisk
) -> OutcomePart:
    """Twins of both risks at every row, the source risk as a column, and every learner."""
    design, (_, slope) = crossfit.design, crossfit.walk.outcome.term.affine()
    p_0, compared = _source_risk(crossfit, source), _compared(crossfit, source)
    values = replace(compared, p_0=source_risk.twins_of_risks(crossfit, p_0))
    extra = source_risk.risk_columns(crossfit, p_0)
    names = ("m",) if _is_constant(slope) else ("m", "b2", "b2_y")
    probed = [design.subset_columns(s) for s in probe_sets]
    learners = {name: _learner(crossfit, extra, name, probed) for name in names}
    return OutcomePart(crossfit, values, _denominator(crossfit, compared), extra, learners)


def outcome_denominator(crossfit: CrossFit, source: SourceRisk) -> Estimate:
    """That of the part, without what its subsets need."""
    return _denominator(crossfit, _compared(crossfit, source))


def _source_risk(crossfit: CrossFit, source: SourceRisk) -> Risks:
    """By training set, or the known one for all of them."""
    known = crossfit.design.source_risk
    return source.p_0 if known is None else dict.fromkeys(crossfit.halves, known)


def _compared(crossfit: CrossFit, source: SourceRisk) -> OutcomeValues:
    """Both risks from one learner, unless that of the source is known."""
    design, (_, slope) = crossfit.design, crossfit.walk.outcome.term.affine()
    p_0, p_1 = source_risk.fit_compared_risks(crossfit, source)
    if design.source_risk is not None:
        p_0 = source_risk.twins_of_risks(crossfit, _source_risk(crossfit, source))
    return OutcomeValues(
        crossfit.sample,
        design.outcome,
        slope,
        crossfit.aggregate.pi_wz,
        p_0,
        p_1,
        crossfit.plan,
    )


def _denominator(crossfit: CrossFit, compared: OutcomeValues) -> Estimate:
    """With the error of b, what both risks may have left in it, and the choice of their learner."""
    adds = -_squared_slope(compared)
    both = 2 * crossfit.menu.noise(source_risk.COMPARED)
    sizes = {
        "p_1": squared_bias(compared.p_1.target, adds),
        "p_0": squared_bias(compared.p_0.target, adds),
        "choice of p_1 - p_0": both * float(adds.mean()),
    }
    away = compared.p_1.target - compared.p_0.target
    return _with_slope_error(crossfit, owning(outcome_value.denominator(compared), sizes), away)


def _left_by_source_risk(values: OutcomeValues, reduced: Sequence[Reduced]) -> float:
    """As much of its squared bias as m follows; none where it is known."""
    slopes = [one.risk.dm_dq.prod(axis=1) for one in reduced if one.risk is not None]
    if not slopes:
        return 0.0
    moved = values.pi_wz * values.slope.source**2 * values.sample.weights.source
    return -squared_bias(values.p_0.source, moved * np.mean(slopes, axis=(0, 1)))


def _squared_slope(values: OutcomeValues) -> Array:
    """What one unit of a risk's squared error adds at target rows, weights included."""
    return np.asarray(values.slope.target**2 * values.sample.weights.target)


def _is_constant(slope: ByDomain[Array]) -> bool:
    """Whether b^2 is one constant, as for accuracy and 0-1 loss: then h(G) = 0."""
    squares = np.concatenate([slope.source**2, slope.target**2])
    return bool(np.ptp(squares) <= 1e-12 * max(1.0, float(squares.max())))


def _with_slope_error(crossfit: CrossFit, squared: Estimate, away: Array) -> Estimate:
    """An estimate of E_1[b^2 away^2] with the error of b; `away` are twins at target rows."""
    line = crossfit.walk.outcome
    _, slope = line.term.affine()
    per_row = slope.target * (away[:, 0] * away[:, 1]).mean(axis=0)
    mass = 2 * per_row * crossfit.sample.weights.target / len(per_row)
    return line.with_slope_error(squared, mass)


def _learner(
    crossfit: CrossFit,
    extra: dict[BlockSet, Extra],
    name: str,
    column_sets: Sequence[tuple[int, ...]],
) -> Any:
    return crossfit.menu.twin_learner(
        name,
        lambda: [_task(crossfit, extra, name, columns) for columns in column_sets],
        crossfit.features,
        columns="W, Z_s, source risk",
        target=_TARGETS.get(name, "squared slope of the metric, target"),
    )


def _task(
    crossfit: CrossFit, extra: dict[BlockSet, Extra], name: str, columns: tuple[int, ...]
) -> MeanTask:
    """m: Y on G; b2: b^2 on G; b2_y: b^2 Y on G. All over target rows."""
    outcome, slope = crossfit.design.outcome.target, crossfit.walk.outcome.term.affine()[1].target
    targets = {"m": outcome, "b2": slope**2, "b2_y": slope**2 * outcome}
    kind: Kind = "probability" if name == "m" else "real"
    task = partial(mean_task, crossfit.features, name, kind, columns, "target", targets[name])
    return task(crossfit.halves, extra, repeated=True)
