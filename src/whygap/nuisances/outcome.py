"""Nuisances of v_Y(s): risks once, then per subset the reduced risk m(G) (and h(G) if needed)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whygap.domains import Array, ByDomain, Domain
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
from whygap.learning.conditional_mean import Fits, MeanTask, fit_means
from whygap.learning.features import Extra
from whygap.learning.menu import ALL_BLOCKS
from whygap.nuisances.covariate import _zero
from whygap.nuisances.ground import Ground
from whygap.nuisances.held_out import paired_values, risk_twins, twins
from whygap.nuisances.source_risk import LOGIT_STEP, Risks, risk_columns, twin_risks

__all__ = ["OutcomePart", "fit_risk", "prepare_outcome"]


@dataclass(frozen=True, slots=True, eq=False)
class OutcomePart:
    """Shared by all subsets; `numerator(players)` values one."""

    ground: Ground
    values: OutcomeValues
    risks: Risks
    extra: dict[BlockSet, Extra]
    probe_sets: Sequence[tuple[int, ...]]

    @property
    def players(self) -> int:
        """How many players there are."""
        return len(self.ground.design.players)

    def denominator(self) -> Estimate:
        """Mean squared difference of the two risks' metrics."""
        return outcome_value.denominator(self.values)

    def numerator(self, players: tuple[int, ...]) -> Estimate:
        """Debiased numerator of v_Y(s); exactly 0 for the full set."""
        if len(players) == self.players:
            return _zero(self.ground)
        columns = self.ground.design.subset_columns(players)
        names = ["own", *self._risk_views()]
        m = self._evaluate(self._fit("m", columns), names)
        h = self._h(columns, m, names)
        reduced = [
            (self._twin(m, h, halving, 0), self._twin(m, h, halving, 1))
            for halving in range(len(m["own"]))
        ]
        return outcome_value.numerator(self.values, reduced)

    def _risk_views(self) -> tuple[str, ...]:
        ground = self.ground
        if not ground.settings.risk_uncertainty or ground.design.source_risk is not None:
            return ()
        first = next(iter(self.extra.values()))
        return tuple(name for name in first.views if name != "own")

    def _fit(self, name: str, columns: tuple[int, ...]) -> Fits:
        ground = self.ground
        learner = ground.menu.twin_learner(
            name,
            lambda: [self._task(name, s) for s in self.probe_sets],
            ground.features,
            columns="W, Z_s, source risk",
            target={"m": "outcome, target"}.get(name, "squared slope of the metric, target"),
        )
        return fit_means(ground.features, learner, self._task(name, columns))

    def _task(self, name: str, columns: tuple[int, ...]) -> MeanTask:
        """m: Y on G; b2: b^2 on G; b2_y: b^2 Y on G. All over target rows."""
        ground = self.ground
        outcome, slope = ground.sorted_outcome.target, ground.sorted_slope.target
        targets = {"m": outcome, "b2": slope**2, "b2_y": slope**2 * outcome}
        return MeanTask(
            name,
            "probability" if name == "m" else "real",
            columns,
            ground.features.plain.target,
            targets[name],
            ground.halves,
            self.extra,
            repeated=True,
        )

    def _evaluate(self, fits: Fits, names: Sequence[str]) -> dict[str, list[tuple[Array, Array]]]:
        return risk_twins(fits, names, self.ground.settings.halvings)

    def _h(
        self,
        columns: tuple[int, ...],
        m: dict[str, list[tuple[Array, Array]]],
        names: Sequence[str],
    ) -> dict[str, list[tuple[Array, Array]]]:
        """h(G) = E_1[b^2 Y | G] - m(G) E_1[b^2 | G]; identically 0 when b^2 is constant.

        Both regressions have targets that no model has touched, so h's twins share no errors.
        """
        if self.ground.design.slope_is_constant:
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
            return binned_slope(self.ground.settings.bins, m["up"], m["down"], h["up"], h["down"])
        q = np.clip(risk, 1e-3, 1 - 1e-3)
        per_risk = 1.0 / (2 * LOGIT_STEP * q * (1 - q))
        return RiskSlope(
            m["here"], h["here"], (m["up"] - m["down"]) * per_risk, (h["up"] - h["down"]) * per_risk
        )


def fit_risk(ground: Ground, name: str) -> Fits:
    """Twins of p_0 (source rows) or p_1 (target rows) given W and Z."""
    domain: Domain = "source" if name == "p_0" else "target"
    task = MeanTask(
        name,
        "probability",
        ground.all_columns(),
        ground.features.plain[domain],
        ground.sorted_outcome[domain],
        ground.halves,
    )
    learner = ground.menu.twin_learner(
        f"{name} (twins)",
        lambda: [task],
        ground.features,
        columns="W, Z",
        target=f"outcome, {domain}",
        blocks=ALL_BLOCKS,
    )
    return fit_means(ground.features, learner, task)


def prepare_outcome(
    ground: Ground, probe_sets: Sequence[tuple[int, ...]], p_0: Fits
) -> OutcomePart:
    """Twins of both risks at every row, and the source risk as a column."""
    p_1 = fit_risk(ground, "p_1")
    halvings = ground.settings.halvings
    risks = twin_risks(ground, p_0)
    zero = ByDomain(
        *(
            paired_values(ground.blocks, d, halvings, {h: risk[d] for h, risk in risks.items()})
            for d in ("source", "target")
        )
    )
    one = ground.features.plain.map(lambda view: twins(p_1, view, halvings))
    pairs = [
        tuple(
            OutcomeTwin(
                ByDomain(zero.source[h][which], zero.target[h][which]),
                ByDomain(one.source[h][which], one.target[h][which]),
            )
            for which in (0, 1)
        )
        for h in range(len(zero.source))
    ]
    values = OutcomeValues(
        ground.sample,
        ground.evaluated(ground.sorted_outcome),
        ground.evaluated(ground.sorted_slope),
        ground.aggregate.pi_wz,
        [(a, b) for a, b in pairs],
        ground.blocks.of_evaluated_rows(),
    )
    return OutcomePart(
        ground,
        values,
        risks,
        risk_columns(ground, risks),
        [ground.design.subset_columns(s) for s in probe_sets],
    )
