"""What a better model could win back, in squared error.

In one domain, with m_s = E[Y | f, X_s] and f the model's own prediction,

    gain(s) = E[(Y - f)^2] - E[(Y - m_s)^2] = E[(m_s - f)^2]

so gain(empty) is what recalibrating the score wins and gain(all) what these columns can win at
most. It needs the rows of that domain alone. The third budget, `on_target_mix`, is what the
source's own risk could win on the target's rows. Y is 0 or 1 or any number.

Not in the paper. All terms are quadratic and take twins A and B, arrays (halvings, 2, rows) as in
covariate_value: a product of the two residuals in place of a square.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whygap.domains import Array, ByDomain, Domain
from whygap.equations.halvings import Plan, average, crossed
from whygap.estimate import Estimate, Sample


@dataclass(frozen=True, slots=True, eq=False)
class DomainValues:
    """Outcomes and predictions f at the rows of one domain, and the twins' plan."""

    sample: Sample
    domain: Domain
    outcome: Array
    prediction: Array
    plan: Plan | None = None


def squared_error(values: DomainValues) -> Estimate:
    """E[(Y - f)^2]: the model's squared error in this domain."""
    errors = (values.outcome - values.prediction) ** 2
    rows = _in_one_domain(values, errors)
    return Estimate.from_contributions(
        values.sample, source=rows.source, target=rows.target, plugin=_mean(values, errors)
    )


def gain(values: DomainValues, m_s: Array) -> Estimate:
    """Debiased gain of s: (Y - f)^2 - (Y - m_sA)(Y - m_sB)."""
    y, f = values.outcome, values.prediction
    won = (y - f) ** 2 - (y - m_s[:, 0]) * (y - m_s[:, 1])
    return _averaged(values, won, (m_s - f) ** 2)


def irreducible(values: DomainValues, risk: Array) -> Estimate:
    """E[(Y - p)^2], the squared error of the best model on these columns; p (1 - p) if Y is 0 or 1.

    With the twins of the full set in `gain`, the two add up to `squared_error`, row by row.
    """
    left = values.outcome - risk
    return _averaged(values, left[:, 0] * left[:, 1], left**2)


@dataclass(frozen=True, slots=True, eq=False)
class TargetMixValues:
    """Outcomes and density ratio of (W, Z) at source rows; predictions f and twins p_0 at all."""

    sample: Sample
    outcome: Array
    prediction: ByDomain[Array]
    pi_wz: Array
    p_0: ByDomain[Array]
    plan: Plan | None = None


def on_target_mix(values: TargetMixValues) -> Estimate:
    """E_1[(f - p_0)^2], debiased: what retraining on source labels could win on target rows.

    Target rows (f - p_0A)(f - p_0B); source rows
    -pi_wz [(f - p_0A)(Y - p_0B) + (f - p_0B)(Y - p_0A)].
    """
    away = values.prediction.zip(values.p_0, np.subtract)
    residual = values.outcome - values.p_0.source
    source = -values.pi_wz * crossed(away.source, residual)
    target = away.target[:, 0] * away.target[:, 1]
    plugin = float(np.mean(away.target**2 * values.sample.weights.target))
    return average(values.sample, ByDomain(source, target), plugin, values.plan)


def irreducible_on_target_mix(values: TargetMixValues) -> Estimate:
    """E_1[p_0 (1 - p_0)], debiased: what no model could win there if outcomes stayed the source's.

    Target rows (p_0A + p_0B) / 2 - p_0A p_0B; source rows
    pi_wz [(Y - p_0A) / 2 + (Y - p_0B) / 2 - p_0A (Y - p_0B) - p_0B (Y - p_0A)].
    """
    p_0, residual = values.p_0, values.outcome - values.p_0.source
    source = values.pi_wz * (residual.mean(axis=1) - crossed(p_0.source, residual))
    target = p_0.target.mean(axis=1) - p_0.target[:, 0] * p_0.target[:, 1]
    spread = p_0.target * (1 - p_0.target)
    plugin = float(np.mean(spread * values.sample.weights.target))
    return average(values.sample, ByDomain(source, target), plugin, values.plan)


def _averaged(values: DomainValues, per_halving: Array, plugin: Array) -> Estimate:
    contributions = _in_one_domain(values, per_halving)
    return average(values.sample, contributions, _mean(values, plugin), values.plan)


def _in_one_domain(values: DomainValues, per_row: Array) -> ByDomain[Array]:
    """Contributions of this domain's rows; rows of the other one contribute nothing."""
    other = values.sample.weights["target" if values.domain == "source" else "source"]
    nothing = np.zeros((*per_row.shape[:-1], len(other)))
    if values.domain == "source":
        return ByDomain(per_row, nothing)
    return ByDomain(nothing, per_row)


def _mean(values: DomainValues, per_row: Array) -> float:
    return float(np.mean(per_row * values.sample.weights[values.domain]))
