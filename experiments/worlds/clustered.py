"""A clustered world: several rows per patient, who share covariates and a random effect.

Within a patient rows are alike in two ways: part of every column is the patient's own, and one
normal effect is added to the logit of all their outcomes. Standard errors that ignore the patient
are too small. Averaged over patients it is a Gaussian world, so that its truths are known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from experiments.worlds.gaussian import LOGITS, GaussianWorld
from experiments.worlds.world import Corners, Subset, SubsetTruth
from whygap._metrics import Metric
from whygap.domains import Array, ByDomain, Domain, IntArray
from whygap.tables.design import Design

__all__ = ["ClusteredWorld"]

MEANS: ByDomain[tuple[float, ...]] = ByDomain((0.0, 0.6, 0.3, 0.5), (0.2, 0.0, 0.0, 0.0))


@dataclass(frozen=True)
class ClusteredWorld:
    """Patients with a random number of rows each.

    Attributes:
        metric: a metric of whygap.
        rows_per_cluster: mean number of rows of a patient; numbers are 1 + Poisson.
        shared: share of every column's variance that belongs to the patient.
        effect_sd: of the patient's effect on the logit.
    """

    metric: str | Metric = "accuracy"
    rows_per_cluster: float = 5.0
    shared: float = 0.6
    effect_sd: float = 1.5

    @property
    def marginal(self) -> GaussianWorld:
        """The distribution of one row."""
        return GaussianWorld(
            means=MEANS, logits=LOGITS, sd=1.0, metric=self.metric, effect_sd=self.effect_sd
        )

    @property
    def players(self) -> tuple[str, ...]:
        """Names of the players."""
        return self.marginal.players

    def draw(self, rows: ByDomain[int], rng: np.random.Generator) -> Design:
        """Rows of independent patients; the last patient is cut off to fit."""
        clusters = rows.map(lambda n: self._clusters(n, rng))
        drawn = ByDomain(
            self._rows("source", clusters.source, rng), self._rows("target", clusters.target, rng)
        )
        design = self.marginal.design(drawn.map(lambda d: d[0]), drawn.map(lambda d: d[1]))
        apart = ByDomain(clusters.source, clusters.target + clusters.source.max() + 1)
        return replace(design, clusters=apart)

    def _clusters(self, rows: int, rng: np.random.Generator) -> IntArray:
        sizes = 1 + rng.poisson(self.rows_per_cluster - 1, size=rows)
        return np.repeat(np.arange(rows), sizes)[:rows].astype(np.int64)

    def _rows(
        self, domain: Domain, clusters: IntArray, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        """Columns and outcomes."""
        world, patients = self.marginal, int(clusters.max()) + 1
        means = np.array(world.means[domain])
        own = rng.standard_normal((patients, len(means)))[clusters]
        each = rng.standard_normal((len(clusters), len(means)))
        x = means + world.sd * (np.sqrt(self.shared) * own + np.sqrt(1 - self.shared) * each)
        effect = self.effect_sd * rng.standard_normal(patients)[clusters]
        risk = special.expit(world.logit(domain, x) + effect)
        return x, (rng.random(len(x)) < risk).astype(float)

    def corners(self) -> Corners:
        """True corner means."""
        return self.marginal.corners()

    def covariate_truth(self, subset: Subset) -> SubsetTruth:
        """True v_Z(s)."""
        return self.marginal.covariate_truth(subset)

    def outcome_truth(self, subset: Subset, bins: int | None = 20) -> SubsetTruth:
        """True v_Y(s)."""
        return self.marginal.outcome_truth(subset, bins)
