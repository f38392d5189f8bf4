"""The paper's coverage world: independent normals, logistic risks, a logistic model.

    world = gaussian.GaussianWorld(metric="accuracy")
    design = world.draw(ByDomain(2000, 2000), np.random.default_rng(0))
    world.outcome_truth((0,)).value            # v_Y({Z1}), by quadrature, about .920

Given (W, Z_s) the rest of both logits is normal, so every truth is a low-dimensional integral
(`gaussian_truth`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from scipy import optimize, special

from experiments.worlds import gaussian_truth
from experiments.worlds.quadrature import LogitLoss
from experiments.worlds.world import (
    Corners,
    SubsetTruth,
    design_tables,
    drawn_outcomes,
    model_design,
)
from whygap._metrics import Metric
from whygap.domains import DOMAINS, Array, ByDomain, Domain, Subset
from whygap.tables.design import Column, Design

# The paper, section 5.1.
MEANS: ByDomain[tuple[float, ...]] = ByDomain((0.0, 2.0, 0.7, 3.0), (0.0, 0.0, 0.0, 0.0))
LOGITS: ByDomain[tuple[float, ...]] = ByDomain((0.3, 1.0, 0.5, 1.0), (0.3, 0.1, 0.5, 1.4))


@dataclass(frozen=True)
class GaussianWorld:
    """Columns (W, Z1, ..., Zp) independent normal; logit risks linear; f = the source logit."""

    means: ByDomain[tuple[float, ...]] = MEANS  # per domain, of (W, Z1, ..., Zp)
    logits: ByDomain[tuple[float, ...]] = LOGITS  # coefficients, no intercept
    sd: float = 2.0  # standard deviation of every column
    metric: str | Metric = "accuracy"  # a metric of whygap
    threshold: float = 0.5  # cuts predictions for metrics of labels
    # Of a normal random effect added to both logits (clustered worlds); the risk given the columns
    # is then the average over it
    effect_sd: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        """Column names."""
        return ("W", *self.players)

    @property
    def players(self) -> tuple[str, ...]:
        """Names of the players."""
        return tuple(f"Z{j}" for j in range(1, len(self.means.source)))

    def logit(self, domain: Domain, features: Array) -> Array:
        """Linear predictor of a domain's risk."""
        return np.asarray(features @ np.array(self.logits[domain]))

    def risk(self, domain: Domain, features: Array) -> Array:
        """p_d(Y=1 | W, Z)."""
        return self.loss.link(self.logit(domain, features))

    def prediction(self, features: Array) -> Array:
        """The model: the source's logistic law, without the random effect."""
        return self.loss.prediction(self.logit("source", features))

    @property
    def loss(self) -> LogitLoss:
        """The metric as a function of the source logit."""
        return LogitLoss(self.metric, self.threshold, self.effect_sd)

    def edges(self, bins: int) -> Array:
        """Source logits at the edges of the rounding bins: risk = (k + 1/2) / B."""
        risks = (np.arange(bins) + 0.5) / bins
        if self.effect_sd == 0:
            return np.asarray(special.logit(risks))
        link = self.loss.link
        return np.array([optimize.brentq(lambda t, r=r: link(t) - r, -40, 40) for r in risks])

    def draw_features(self, domain: Domain, rows: int, rng: np.random.Generator) -> Array:
        """Columns (W, Z1, ..., Zp) of independent rows."""
        means = np.array(self.means[domain])
        return means + self.sd * rng.standard_normal((rows, len(means)))

    def draw(self, rows: ByDomain[int], rng: np.random.Generator) -> Design:
        """Independent rows of both domains."""
        features = ByDomain(*(self.draw_features(d, rows[d], rng) for d in DOMAINS))
        risks = ByDomain(*(self.risk(d, features[d]) for d in DOMAINS))
        return self.design(features, drawn_outcomes(risks, rng))

    def design(self, features: ByDomain[Array], outcome: ByDomain[Array]) -> Design:
        """Rows with the model's predictions and the metric's coefficients."""
        columns = tuple(Column(name, "numeric") for name in self.names)
        return model_design(
            features, outcome, columns, self.prediction, self.metric, self.threshold
        )

    def corners(self) -> Corners:
        """True corner means."""
        return gaussian_truth.corners(self)

    def covariate_truth(self, subset: Subset) -> SubsetTruth:
        """True v_Z(s)."""
        return gaussian_truth.covariate_truth(self, subset)

    def outcome_truth(self, subset: Subset, bins: int | None = 20) -> SubsetTruth:
        """True v_Y(s), binned, or smooth with `bins=None`."""
        return gaussian_truth.outcome_truth(self, subset, bins)


def tables(rows: int, seed: int) -> tuple[pa.Table, pa.Table]:
    """Source and target tables with columns W, Z1, Z2, Z3, y, prediction."""
    return design_tables(GaussianWorld().draw(ByDomain(rows, rows), np.random.default_rng(seed)))
