"""What a better model could win back, in squared error.

In one domain, with m_s = E[Y | f, X_s] and f the model's own prediction,

    gain(s) = E[(Y - f)^2] - E[(Y - m_s)^2] = E[(m_s - f)^2]

so gain(empty) is what recalibrating the score wins and gain(all) what these columns can win at
most. It needs the rows of that domain alone. The third budget, `on_target_mix`, is what the
source's own risk could win on the target's rows. Y is 0 or 1 or any number.

Not in the paper. All terms are quadratic and take twins A and B (see covariate_value): a product
of the two residuals in place of a square.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from whygap.domains import Array, ByDomain, Domain, IntArray
from whygap.equations.halvings import average
from whygap.estimate import Estimate, Sample

__all__ = [
    "DomainValues",
    "RiskTwins",
    "TargetMixValues",
    "Twins",
    "gain",
    "irreducible",
    "on_target_mix",
    "squared_error",
]


@dataclass(frozen=True, slots=True, eq=False)
class Twins:
    """Two fits of one conditional mean on disjoint halves, at the rows of one domain."""

    a: Array
    b: Array


@dataclass(frozen=True, slots=True, eq=False)
class DomainValues:
    """Outcomes and predictions f at the rows of one domain; `blocks` number every row's block."""

    sample: Sample
    domain: Domain
    outcome: Array
    prediction: Array
    blocks: ByDomain[IntArray] | None = None


def squared_error(values: DomainValues) -> Estimate:
    """E[(Y - f)^2]: the model's squared error in this domain."""
    errors = (values.outcome - values.prediction) ** 2
    mean = _mean(values, errors)
    rows = _in_one_domain(values, errors)
    return Estimate.from_contributions(
        values.sample, source=rows.source, target=rows.target, plugin=mean
    )


def gain(values: DomainValues, m_s: Sequence[Twins]) -> Estimate:
    """Debiased gain of s: (Y - f)^2 - (Y - m_sA)(Y - m_sB); a pair of twins a halving."""
    y, f = values.outcome, values.prediction

    def won(twins: Twins) -> Array:
        return (y - f) ** 2 - (y - twins.a) * (y - twins.b)

    def plugin(twins: Twins) -> Array:
        return ((twins.a - f) ** 2 + (twins.b - f) ** 2) / 2

    return _averaged(values, m_s, won, plugin)


def irreducible(values: DomainValues, risk: Sequence[Twins]) -> Estimate:
    """E[(Y - p)^2], the squared error of the best model on these columns; p (1 - p) if Y is 0 or 1.

    With the twins of the full set in `gain`, the two add up to `squared_error`, row by row.
    """
    y = values.outcome

    def left(twins: Twins) -> Array:
        return (y - twins.a) * (y - twins.b)

    def plugin(twins: Twins) -> Array:
        return ((y - twins.a) ** 2 + (y - twins.b) ** 2) / 2

    return _averaged(values, risk, left, plugin)


@dataclass(frozen=True, slots=True, eq=False)
class RiskTwins:
    """Two fits of the source risk p_0 on disjoint halves, at every row."""

    a: ByDomain[Array]
    b: ByDomain[Array]


@dataclass(frozen=True, slots=True, eq=False)
class TargetMixValues:
    """Outcomes and density ratio of (W, Z) at source rows, predictions f and risks at all rows."""

    sample: Sample
    outcome: Array
    prediction: ByDomain[Array]
    pi_wz: Array
    halvings: Sequence[RiskTwins]
    blocks: ByDomain[IntArray] | None = None


def on_target_mix(values: TargetMixValues) -> Estimate:
    """E_1[(f - p_0)^2], debiased: what retraining on source labels could win on target rows.

    Target rows (f - p_0A)(f - p_0B); source rows
    -pi_wz [(f - p_0A)(Y - p_0B) + (f - p_0B)(Y - p_0A)].
    """
    y, f = values.outcome, values.prediction
    contributions, plugins = [], []
    for twins in values.halvings:
        away_a, away_b = f.zip(twins.a, np.subtract), f.zip(twins.b, np.subtract)
        residual = away_a.source * (y - twins.b.source) + away_b.source * (y - twins.a.source)
        contributions.append(ByDomain(-values.pi_wz * residual, away_a.target * away_b.target))
        squares = (away_a.target**2 + away_b.target**2) / 2
        plugins.append(float(np.mean(squares * values.sample.weights.target)))
    return average(values.sample, contributions, float(np.mean(plugins)), values.blocks)


def _averaged(
    values: DomainValues,
    halvings: Sequence[Twins],
    per_row: Callable[[Twins], Array],
    plugin: Callable[[Twins], Array],
) -> Estimate:
    contributions = [_in_one_domain(values, per_row(twins)) for twins in halvings]
    naive = np.mean([_mean(values, plugin(twins)) for twins in halvings])
    return average(values.sample, contributions, float(naive), values.blocks)


def _in_one_domain(values: DomainValues, per_row: Array) -> ByDomain[Array]:
    """Contributions of this domain's rows; rows of the other one contribute nothing."""
    nothing = values.sample.weights.map(np.zeros_like)
    if values.domain == "source":
        return ByDomain(per_row, nothing.target)
    return ByDomain(nothing.source, per_row)


def _mean(values: DomainValues, per_row: Array) -> float:
    return float(np.mean(per_row * values.sample.weights[values.domain]))
