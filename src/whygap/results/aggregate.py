"""The gap and its parts."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from whygap.domains import Array
from whygap.estimate import Estimate
from whygap.fieller import Ratio

__all__ = ["Aggregate"]

# Each part of the gap as a difference of the corner means 000, 100, 110, 111.
_CORNERS = {
    "gap": (-1.0, 0.0, 0.0, 1.0),
    "baseline": (-1.0, 1.0, 0.0, 0.0),
    "covariate": (0.0, -1.0, 1.0, 0.0),
    "outcome": (0.0, 0.0, -1.0, 1.0),
}


@dataclass(frozen=True, slots=True)
class Aggregate:
    """The gap and its three parts (baseline + covariate + outcome = gap), and the corner means.

    `covariance` (4, 4), of the corner means, is set on results read back from a file, where
    influence values may be missing; elsewhere `corner_covariance` works it out.
    """

    gap: Estimate
    baseline: Estimate
    covariate: Estimate
    outcome: Estimate
    mean_000: Estimate
    mean_100: Estimate
    mean_110: Estimate
    mean_111: Estimate
    covariance: Array | None = field(default=None, repr=False, compare=False)

    def parts(self) -> dict[str, Estimate]:
        """The three parts by name."""
        return {"baseline": self.baseline, "covariate": self.covariate, "outcome": self.outcome}

    def corners(self) -> tuple[Estimate, ...]:
        """The four corner means, from source to target."""
        return self.mean_000, self.mean_100, self.mean_110, self.mean_111

    def corner_covariance(self) -> Array | None:
        """Covariance of the corner means; None when it is not known."""
        influences = [corner.influence for corner in self.corners()]
        known = [influence for influence in influences if influence is not None]
        if len(known) < len(influences):
            return self.covariance
        return np.array([[left.covariance(right) for right in known] for left in known])

    def share_of_gap(self, name: str) -> Estimate | None:
        """One part divided by the gap, with Fieller's interval; None when it is not known."""
        top, bottom = self.parts()[name], self.gap
        if bottom.value == 0:
            return None
        if top.influence is not None and bottom.influence is not None:
            return top / bottom
        covariance = self.covariance
        if covariance is None:
            return None
        part, whole = np.array(_CORNERS[name]), np.array(_CORNERS["gap"])
        ratio = Ratio(
            top.value,
            bottom.value,
            float(part @ covariance @ part),
            float(whole @ covariance @ whole),
            float(part @ covariance @ whole),
        )
        return Estimate(
            top.value / bottom.value,
            ratio.standard_error(),
            plugin=top.plugin / bottom.plugin if bottom.plugin else math.nan,
            ratio=ratio,
        )
