"""The gap and its parts."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from whygap.domains import Array
from whygap.estimate import Estimate
from whygap.estimate.fieller import Ratio

_NOTHING = Estimate(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """The gap, its parts, which add up to it, and the corner means between them.

    Where the tables are compared on a region of shared support only, baseline, covariate and
    outcome are those of the region, and two more parts lead from the whole source table to the
    region and from the region to the whole target table. Where nothing can be compared there are
    no inner parts.

    Attributes:
        gap: target minus source.
        left_behind: the region's source rows less all source rows; exactly 0 without a region,
            also where nothing can be compared: then the parts do not add up to the gap.
        new_ground: all target rows less the region's; exactly 0 without a region.
        outcome_first: whether the outcome part comes before that of the covariates: then it is a
            different outcome given W, and the covariates differ given W and the outcome.
        comparable: False where the tables share too little; then the inner parts are None.
        reason: why they cannot be compared, in words.
        source_mean: of all source rows; None where that is `mean_000`.
        target_mean: of all target rows; None where that is `mean_111`.
        covariance: of the corner means, set on results read back from a file, where influence
            values may be missing; elsewhere `corner_covariance` works it out.
    """

    gap: Estimate
    baseline: Estimate | None = None
    covariate: Estimate | None = None
    outcome: Estimate | None = None
    mean_000: Estimate | None = None
    mean_100: Estimate | None = None
    mean_110: Estimate | None = None
    mean_111: Estimate | None = None
    left_behind: Estimate = _NOTHING
    new_ground: Estimate = _NOTHING
    outcome_first: bool = False
    comparable: bool = True
    reason: str = ""
    source_mean: Estimate | None = None
    target_mean: Estimate | None = None
    covariance: Array | None = field(default=None, repr=False, compare=False)

    @property
    def has_region(self) -> bool:
        """Whether the inner parts are those of a region."""
        return self.comparable and self.source_mean is not None

    def parts(self) -> dict[str, Estimate]:
        """The parts there are by name, from source to target; they add up to the gap."""
        inner = {"covariate": self.covariate, "outcome": self.outcome}
        if self.outcome_first:
            inner = {"outcome": self.outcome, "covariate": self.covariate}
        inner = {"baseline": self.baseline, **inner}
        known = {name: part for name, part in inner.items() if part is not None}
        if not self.has_region:
            return known
        return {"left_behind": self.left_behind, **known, "new_ground": self.new_ground}

    def corners(self) -> tuple[Estimate, ...]:
        """The means between the parts, from the source table to the target table."""
        inner = (self.mean_000, self.mean_100, self.mean_110, self.mean_111)
        means = (self.source_mean, *inner, self.target_mean)
        return tuple(corner for corner in means if corner is not None)

    @property
    def start(self) -> Estimate:
        """The source table's mean."""
        return self.corners()[0]

    @property
    def end(self) -> Estimate:
        """The target table's mean."""
        return self.corners()[-1]

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
        # Of the two, so that it is the same where influence values are gone.
        freedom = min(top.degrees_of_freedom, bottom.degrees_of_freedom)
        if top.influence is not None and bottom.influence is not None:
            return replace(top / bottom, degrees_of_freedom=freedom)
        covariance = self.covariance
        if covariance is None:
            return None
        part, whole = self._step(name), self._step("gap")
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
            degrees_of_freedom=freedom,
        )

    def difference(self, one: str, other: str) -> Estimate:
        """One part less another; as if they were independent where nothing more is known."""
        first, second = self.parts()[one], self.parts()[other]
        # As for `share_of_gap`.
        freedom = min(first.degrees_of_freedom, second.degrees_of_freedom)
        if first.influence is not None and second.influence is not None:
            return replace(first - second, degrees_of_freedom=freedom)
        variance = first.standard_error**2 + second.standard_error**2
        if self.covariance is not None:
            step = self._step(one) - self._step(other)
            variance = max(float(step @ self.covariance @ step), 0.0)
        value = first.value - second.value
        return Estimate(value, math.sqrt(variance), degrees_of_freedom=freedom)

    def _step(self, name: str) -> Array:
        """A part, or the gap, as a difference of corner means."""
        count = len(self.corners())
        ends = dict(zip(self.parts(), pairwise(range(count)), strict=True))
        start, end = ends.get(name, (0, count - 1))
        step = np.zeros(count)
        step[start], step[end] = -1.0, 1.0
        return step
