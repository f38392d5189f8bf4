"""The paper's Gaussian world for an analyst who knows p_0(Y=1 | W, Z)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from experiments.worlds.gaussian import GaussianWorld
from whygap.domains import ByDomain
from whygap.tables.design import Design

__all__ = ["KnownRiskWorld"]


@dataclass(frozen=True)
class KnownRiskWorld(GaussianWorld):
    """Rows come with their true source risk (`source_risk` of a study)."""

    def draw(self, rows: ByDomain[int], rng: np.random.Generator) -> Design:
        """Rows of both domains."""
        drawn = super().draw(rows, rng)
        risk = drawn.features.map(lambda x: self.risk("source", x))
        return replace(drawn, source_risk=risk)
