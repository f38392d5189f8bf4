"""The paper's two comparison worlds, as its released code draws them (section 5.2).

`CovariateComparison` (a): Z1 shifts and drags Z2 along; the risk is the same in both domains.
`OutcomeComparison` (b): six independent uniforms; the risk's coefficients change.
The model is the logistic model with the source coefficients, cut at 1/2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from scipy import special

from experiments.worlds import comparison_truth
from experiments.worlds.world import (
    Corners,
    Subset,
    SubsetTruth,
    design_tables,
    drawn_outcomes,
    model_design,
)
from whygap._metrics import Metric
from whygap.domains import Array, ByDomain, Domain
from whygap.tables.design import Column, Design

__all__ = ["CovariateComparison", "OutcomeComparison", "comparison_a", "comparison_b"]

LOGIT_A = (0.8, 0.6, 2.0)
LOGITS_B: ByDomain[tuple[float, ...]] = ByDomain(
    (0.2, 0.4, 2.0, 0.25, 0.1, 0.1), (0.2, -0.4, 0.8, 0.1, 0.1, 0.1)
)


@dataclass(frozen=True)
class CovariateComparison:
    """World (a): W ~ N(1,1); Z1 = W + m1 + N(0,1), m1 = 0 or 1; Z2 = -Z1 + 1 +- 0.5 + N(0,.25)."""

    metric: str | Metric = "accuracy"
    logit: tuple[float, ...] = LOGIT_A
    shift: ByDomain[float] = ByDomain(0.0, 1.0)  # noqa: RUF009 - frozen and shared on purpose

    @property
    def players(self) -> tuple[str, ...]:
        """Names of the players."""
        return ("Z1", "Z2")

    def model(self, features: Array) -> Array:
        """The logistic model, which is also the risk in both domains."""
        return np.asarray(special.expit(features @ np.array(self.logit)))

    def draw(self, rows: ByDomain[int], rng: np.random.Generator) -> Design:
        """Independent rows of both domains."""
        features = ByDomain(
            self._features(rows.source, self.shift.source, rng),
            self._features(rows.target, self.shift.target, rng),
        )
        columns = tuple(Column(name, "numeric") for name in ("W", *self.players))
        outcome = drawn_outcomes(features.map(self.model), rng)
        return model_design(features, outcome, columns, self.model, self.metric)

    def _features(self, rows: int, shift: float, rng: np.random.Generator) -> Array:
        w = 1 + rng.standard_normal(rows)
        z1 = w + shift + rng.standard_normal(rows)
        sign = rng.choice([-0.5, 0.5], size=rows)
        z2 = -z1 + 1 + sign + 0.5 * rng.standard_normal(rows)
        return np.column_stack([w, z1, z2])

    def corners(self) -> Corners:
        """True corner means."""
        return comparison_truth.corners_a(self)

    def covariate_truth(self, subset: Subset) -> SubsetTruth:
        """True v_Z(s)."""
        return comparison_truth.covariate_truth_a(self, subset)

    def outcome_truth(self, subset: Subset, bins: int | None = 20) -> SubsetTruth:  # noqa: ARG002 - the World protocol
        """The risk does not change: there is nothing to explain."""
        return SubsetTruth(0.0, 0.0)

    def tables(self, rows: int, seed: int) -> tuple[pa.Table, pa.Table]:
        """Source and target tables with columns W, Z1, Z2, y, prediction."""
        return design_tables(self.draw(ByDomain(rows, rows), np.random.default_rng(seed)))


@dataclass(frozen=True)
class OutcomeComparison:
    """World (b): W, Z1, ..., Z5 uniform on [-half_width, half_width), new coefficients.

    The paper's text says half_width 1, its released code uses 4. `equal_bins` takes the released
    code's bins floor(qB)/B instead of the paper's rounding.
    """

    metric: str | Metric = "accuracy"
    half_width: float = 4.0
    logits: ByDomain[tuple[float, ...]] = LOGITS_B
    equal_bins: bool = False

    @property
    def players(self) -> tuple[str, ...]:
        """Names of the players."""
        return tuple(f"Z{j}" for j in range(1, len(self.logits.source)))

    def risk(self, domain: Domain, features: Array) -> Array:
        """p_d(Y=1 | W, Z)."""
        return np.asarray(special.expit(features @ np.array(self.logits[domain])))

    def model(self, features: Array) -> Array:
        """The logistic model with the source coefficients."""
        return self.risk("source", features)

    def draw(self, rows: ByDomain[int], rng: np.random.Generator) -> Design:
        """Independent rows of both domains."""
        shape, width = len(self.logits.source), self.half_width
        features = rows.map(lambda n: rng.uniform(-width, width, size=(n, shape)))
        risks = ByDomain(self.risk("source", features.source), self.risk("target", features.target))
        columns = tuple(Column(name, "numeric") for name in ("W", *self.players))
        outcome = drawn_outcomes(risks, rng)
        return model_design(features, outcome, columns, self.model, self.metric)

    def corners(self) -> Corners:
        """True corner means; only the outcome part is not 0."""
        return comparison_truth.corners_b(self)

    def covariate_truth(self, subset: Subset) -> SubsetTruth:  # noqa: ARG002 - the World protocol
        """The covariates do not change: there is nothing to explain."""
        return SubsetTruth(0.0, 0.0)

    def outcome_truth(self, subset: Subset, bins: int | None = 20) -> SubsetTruth:
        """True v_Y(s), binned, or smooth with `bins=None`."""
        return comparison_truth.outcome_truth_b(self, subset, bins)

    def tables(self, rows: int, seed: int) -> tuple[pa.Table, pa.Table]:
        """Source and target tables with columns W, Z1, ..., Z5, y, prediction."""
        return design_tables(self.draw(ByDomain(rows, rows), np.random.default_rng(seed)))


comparison_a = CovariateComparison()
comparison_b = OutcomeComparison()
