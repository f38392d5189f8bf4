"""Nuisances of v_Y(s): risks once, then per subset the reduced risk m(G) (and h(G) if needed)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.equations import outcome_value
from whygap.equations.outcome_value import (
    OutcomeTwin,
    OutcomeValues,
    ReducedTwin,
    RiskSlope,
    binned_slope,
)
from whygap.estimate import Estimate
from whygap.learning.blocks import BlockSet
from whygap.learning.choose_twins import Rule
from whygap.learning.conditional_mean import Fits, MeanTask, fit_means
from whygap.learning.features import Extra
from whygap.learning.menu import ALL_BLOCKS
from whygap.nuisances.covariate import Pairs, _zero
from whygap.nuisances.cross_fit import CrossFit
from whygap.nuisances.held_out import risk_twins, twin_values, twins
from whygap.nuisances.source_risk import (
    LOGIT_STEP,
    Risks,
    fit_compared_risks,
    known_or,
    risk_columns,
)

__all__ = ["OutcomePart", "prepare_outcome"]

# Twins cancel the noise of m and leave its bias: the smallest penalty that will do. But
# the source-risk term multiplies jumps from bin to bin, and trees jump: they must win clearly.
_RULE = Rule(lead=3.0, undersmooth=True)


@dataclass(frozen=True, slots=True, eq=False)
class OutcomePart:
    """Shared by all subsets; `numerator(players)` values one."""

    crossfit: CrossFit
    values: OutcomeValues
    whole: Estimate
    extra: dict[BlockSet, Extra]
    probe_sets: Sequence[tuple[int, ...]]

    @property
    def players(self) -> int:
        """How many players there are."""
        return len(self.crossfit.design.players)

    def denominator(self) -> Estimate:
        """Mean squared difference of the two risks' metrics."""
        return self.whole

    def numerator(self, players: tuple[int, ...]) -> Estimate:
        """Debiased numerator of v_Y(s); exactly 0 for the full set."""
        if len(players) == self.players:
            return _zero(self.crossfit)
        columns = self.crossfit.design.subset_columns(players)
        names = ["own", *self._risk_views()]
        m = self._evaluate(self._fit("m", columns), names)
        h = self._h(columns, m, names)
        reduced = [
            (self._twin(m, h, halving, 0), self._twin(m, h, halving, 1))
            for halving in range(len(m["own"]))
        ]
        return outcome_value.numerator(self.values, reduced)

    def _risk_views(self) -> tuple[str, ...]:
        crossfit = self.crossfit
        if not crossfit.settings.risk_uncertainty or crossfit.design.source_risk is not None:
            return ()
        first = next(iter(self.extra.values()))
        return tuple(name for name in first.views if name != "own")

    def _fit(self, name: str, columns: tuple[int, ...]) -> Fits:
        crossfit = self.crossfit
        learner = crossfit.menu.twin_learner(
            name,
            lambda: [self._task(name, s) for s in self.probe_sets],
            crossfit.features,
            columns="W, Z_s, source risk",
            target={"m": "outcome, target"}.get(name, "squared slope of the metric, target"),
            blocks=ALL_BLOCKS,
            rule=_RULE,
        )
        return fit_means(crossfit.features, learner, self._task(name, columns))

    def _task(self, name: str, columns: tuple[int, ...]) -> MeanTask:
        """m: Y on G; b2: b^2 on G; b2_y: b^2 Y on G. All over target rows."""
        crossfit = self.crossfit
        outcome, slope = crossfit.sorted_outcome.target, crossfit.sorted_slope.target
        targets = {"m": outcome, "b2": slope**2, "b2_y": slope**2 * outcome}
        return MeanTask(
            name,
            "probability" if name == "m" else "real",
            columns,
            crossfit.features.plain.target,
            targets[name],
            crossfit.halves,
            self.extra,
            repeated=True,
        )

    def _evaluate(self, fits: Fits, names: Sequence[str]) -> dict[str, list[tuple[Array, Array]]]:
        return risk_twins(fits, names, self.crossfit.settings.halvings)

    def _h(
        self,
        columns: tuple[int, ...],
        m: dict[str, list[tuple[Array, Array]]],
        names: Sequence[str],
    ) -> dict[str, list[tuple[Array, Array]]]:
        """h(G) = E_1[b^2 Y | G] - m(G) E_1[b^2 | G]; identically 0 when b^2 is constant.

        Both regressions have targets that no model has touched, so h's twins share no errors.
        """
        if self.crossfit.design.slope_is_constant:
            return {n: [(np.zeros_like(a), np.zeros_like(b)) for a, b in m[n]] for n in names}
        squared = self._evaluate(self._fit("b2", columns), names)
        with_y = self._evaluate(self._fit("b2_y", columns), names)
        return {
            n: [
                (y[0] - mm[0] * s[0], y[1] - mm[1] * s[1])
                for mm, s, y in zip(m[n], squared[n], with_y[n], strict=True)
            ]
            for n in names
        }

    def _twin(
        self,
        m: dict[str, list[tuple[Array, Array]]],
        h: dict[str, list[tuple[Array, Array]]],
        halving: int,
        which: int,
    ) -> ReducedTwin:
        at = {name: m[name][halving][which] for name in m}
        correction = {name: h[name][halving][which] for name in h}
        risk = self.values.halvings[halving][which].p_0.source
        return ReducedTwin(at["own"], correction["own"], self._slope(at, correction, risk))

    def _slope(self, m: dict[str, Array], h: dict[str, Array], risk: Array) -> RiskSlope | None:
        if "up" not in m:
            return None
        if "here" not in m:
            return binned_slope(self.crossfit.settings.bins, m["up"], m["down"], h["up"], h["down"])
        q = np.clip(risk, 1e-3, 1 - 1e-3)
        per_risk = 1.0 / (2 * LOGIT_STEP * q * (1 - q))
        return RiskSlope(
            m["here"], h["here"], (m["up"] - m["down"]) * per_risk, (h["up"] - h["down"]) * per_risk
        )


def prepare_outcome(
    crossfit: CrossFit, probe_sets: Sequence[tuple[int, ...]], p_0: Risks
) -> OutcomePart:
    """Twins of both risks at every row, and the source risk as a column."""
    halvings = crossfit.settings.halvings
    risks = known_or(crossfit, p_0)
    zero = twin_values(crossfit.blocks, halvings, risks)
    compared = _compared(crossfit)
    known = crossfit.design.source_risk is not None
    values = OutcomeValues(
        crossfit.sample,
        crossfit.evaluated(crossfit.sorted_outcome),
        crossfit.evaluated(crossfit.sorted_slope),
        crossfit.aggregate.pi_wz,
        _twins_of_both(zero, compared.target),
        crossfit.blocks.of_evaluated_rows(),
    )
    pairs = _twins_of_both(zero if known else compared.source, compared.target)
    return OutcomePart(
        crossfit,
        values,
        outcome_value.denominator(replace(values, halvings=pairs)),
        risk_columns(crossfit, risks),
        [crossfit.design.subset_columns(s) for s in probe_sets],
    )


def _compared(crossfit: CrossFit) -> ByDomain[Pairs]:
    """Twins of p_0 and of p_1, each at the rows of both domains."""
    plain, halvings = crossfit.features.plain, crossfit.settings.halvings
    return fit_compared_risks(crossfit).map(
        lambda fits: plain.map(lambda view: twins(fits, view, halvings))
    )


def _twins_of_both(zero: Pairs, one: Pairs) -> list[tuple[OutcomeTwin, OutcomeTwin]]:
    def twin(halving: int, which: int) -> OutcomeTwin:
        p_0, p_1 = (risk.map(lambda pairs: pairs[halving][which]) for risk in (zero, one))
        return OutcomeTwin(p_0, p_1)

    return [(twin(h, 0), twin(h, 1)) for h in range(len(zero.source))]
