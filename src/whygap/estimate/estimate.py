"""The one value type: a number that knows its own uncertainty.

Every quantity of the method is a mean over source rows plus a mean over target rows, or a sum,
product, ratio or linear map of such quantities. An `Estimate` carries its value and its influence
vectors. Arithmetic acts on all of them, so that every formula of the paper is one Python expression
and its standard error is free.

Deviation from the paper, eqs (12)-(14): contributions are centred *within each domain*
(docs/errata.md).
"""

from __future__ import annotations

import math
import uuid
from dataclasses import dataclass, field, replace

import numpy as np

from whygap.domains import DOMAINS, Array, ByDomain, IntArray
from whygap.errors import ResultError, require_level, require_number
from whygap.estimate.fieller import Interval, Ratio, in_errors, sum_of
from whygap.estimate.influence import Influence
from whygap.estimate.student import as_student, normal_quantile, two_sided


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Who was measured: per domain the row weights (mean 1) and the unit of each row, 0..G-1.

    Units are rows or clusters of rows. Where clusters have rows in both domains, `owners` gives
    every unit the number of its cluster among all of them, and influence values are kept by
    cluster. Estimates made from one sample carry its `key`.
    """

    weights: ByDomain[Array]
    units: ByDomain[IntArray]
    sizes: ByDomain[int]
    owners: ByDomain[IntArray] | None = None
    key: str = field(default_factory=lambda: uuid.uuid4().hex)

    @classmethod
    def of(
        cls,
        rows: ByDomain[int],
        weights: ByDomain[Array] | None = None,
        clusters: ByDomain[IntArray] | None = None,
    ) -> Sample:
        """Normalise weights within each domain and number the units."""
        raw = weights or rows.map(lambda n: np.ones(n))
        units = (
            rows.map(lambda n: np.arange(n))
            if clusters is None
            else clusters.map(lambda c: np.unique(c, return_inverse=True)[1].astype(np.int64))
        )
        return cls(
            weights=raw.map(lambda w: w / w.mean()),
            units=units,
            sizes=units.map(lambda u: int(u.max()) + 1 if len(u) else 0),
            owners=None if clusters is None else _owners(clusters),
        )

    def grouped(self, most: int, rng: np.random.Generator) -> Sample:
        """The same rows in at most `most` units per domain: random groups where there are more.

        Sums over random groups of one size have the variances of sums over the units on average.
        """
        if max(self.sizes) <= most:
            return self
        if self.owners is not None:
            group = rng.permutation(self._owner_count) % most
            units = self.units.zip(self.owners, lambda unit, owner: group[owner][unit])
            every = ByDomain(np.arange(most), np.arange(most))
            return replace(self, units=units, sizes=every.map(len), owners=every)
        groups = self.sizes.map(lambda size: rng.permutation(size) % most)
        few = self.sizes.map(lambda size: min(size, most))
        return replace(self, units=groups.zip(self.units, lambda g, unit: g[unit]), sizes=few)

    @property
    def _owner_count(self) -> int:
        return 0 if self.owners is None else 1 + max(int(owner.max()) for owner in self.owners)

    def mean(self, contributions: ByDomain[Array]) -> ByDomain[float]:
        """Weighted mean in each domain."""
        return contributions.zip(self.weights, lambda c, w: float(np.mean(c * w)))

    def influence(self, contributions: ByDomain[Array]) -> Influence:
        """Centre within the domain, weight, and sum by unit, or by cluster of both domains."""
        sums = [
            _unit_sums(contributions[d], self.weights[d], self.units[d], self.sizes[d])
            for d in DOMAINS
        ]
        if self.owners is None:
            return Influence(*sums)
        count = self._owner_count
        both = np.zeros(count)
        for owner, values in zip(self.owners, sums, strict=True):
            # Clusters of one domain alone have the variance they would have there.
            size = len(values)
            small = math.sqrt(size / max(size - 1, 1) * (count - 1) / count)
            both[owner] += values * (count / size * small)
        return Influence(both, np.zeros(0))

    def effective_size(self) -> ByDomain[float]:
        """Kish's effective number of rows."""
        return self.weights.map(lambda w: float(w.sum() ** 2 / (w**2).sum()))


def _owners(clusters: ByDomain[IntArray]) -> ByDomain[IntArray] | None:
    """Every unit's number among the clusters of both domains; None if none is in both."""
    names = clusters.map(np.unique)
    every = np.union1d(*names)
    if len(every) == sum(map(len, names)):
        return None
    return names.map(lambda own: np.searchsorted(every, own))


def _unit_sums(contribution: Array, weight: Array, unit: IntArray, size: int) -> Array:
    centred = weight * (contribution - np.mean(contribution * weight))
    if size == len(centred) and np.array_equal(unit, np.arange(size)):
        return centred
    sums: Array = np.bincount(unit, weights=centred, minlength=size).astype(np.float64)
    return sums * (size / len(centred))


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """A number with its uncertainty.

    Attributes:
        value: the estimate.
        standard_error: from its influence values.
        plugin: the same quantity from fitted models alone, without the correction; `nan` if none.
        influence: None when read back from a file that was saved without influence values.
        origin: key of the sample it was measured on; estimates combine only within one.
        ratio: set by a division; makes `interval` Fieller's.
        sampling_error: the part of the standard error due to sampled subsets.
        degrees_of_freedom: how well the standard error is known; of Student's t behind `interval`
            and `p_value`. Few effective rows or clusters have few.
        growth: of the variance with the value, set by `growing`; makes the interval lopsided.
    """

    value: float
    standard_error: float
    plugin: float = math.nan
    influence: Influence | None = field(default=None, repr=False)
    origin: str = field(default="", repr=False)
    ratio: Ratio | None = field(default=None, repr=False)
    sampling_error: float = 0.0
    degrees_of_freedom: float = math.inf
    growth: float = 0.0

    @classmethod
    def from_contributions(
        cls, sample: Sample, *, source: Array, target: Array, plugin: float = math.nan
    ) -> Estimate:
        """Mean of the source contributions plus mean of the target contributions."""
        contributions = ByDomain(source, target)
        means = sample.mean(contributions)
        return cls.of(
            means.source + means.target, sample.influence(contributions), sample.key, plugin=plugin
        )

    def with_errors(self, **errors: Array) -> Estimate:
        """The same estimate with errors made known that rows do not show: `fits`, `bias`."""
        if self.influence is None:
            return self
        influence = replace(self.influence, **errors)
        return Estimate.of(self.value, influence, self.origin, plugin=self.plugin)

    @classmethod
    def of(
        cls,
        value: float,
        influence: Influence,
        origin: str,
        *,
        plugin: float = math.nan,
        ratio: Ratio | None = None,
    ) -> Estimate:
        """From a value and its influence values."""
        return cls(
            value=float(value),
            standard_error=math.sqrt(influence.variance()),
            plugin=float(plugin),
            influence=influence,
            origin=origin,
            ratio=ratio,
            sampling_error=math.sqrt(influence.sampling_variance()),
            degrees_of_freedom=influence.degrees_of_freedom(),
        )

    def growing(self) -> Estimate:
        """A mean square whose standard error is that of a signal of the size of its plug-in value.

        The variance is in proportion to the signal, so a larger value has a larger one.
        """
        signal = max(self.plugin, self.standard_error)  # no smaller than its noise
        return replace(self, growth=self.standard_error**2 / signal if signal > 0 else 0.0)

    def __add__(self, other: Estimate | float) -> Estimate:
        if not isinstance(other, Estimate):
            return self._affine(1.0, float(other))
        left, right = same_study(self, other)
        value, plugin = self.value + other.value, self.plugin + other.plugin
        total = Estimate.of(value, left.plus(right), self.origin, plugin=plugin)
        return replace(total, ratio=sum_of([self.ratio, other.ratio], total.standard_error))

    __radd__ = __add__

    def __neg__(self) -> Estimate:
        return self._affine(-1.0, 0.0)

    def __sub__(self, other: Estimate | float) -> Estimate:
        return self + (-other)

    def __rsub__(self, other: float) -> Estimate:
        return self._affine(-1.0, float(other))

    def __mul__(self, other: Estimate | float) -> Estimate:
        if not isinstance(other, Estimate):
            return self._affine(float(other), 0.0)
        left, right = same_study(self, other)
        influence = left.scaled(other.value).plus(right.scaled(self.value))
        value, plugin = self.value * other.value, self.plugin * other.plugin
        return Estimate.of(value, influence, self.origin, plugin=plugin)

    __rmul__ = __mul__

    def __truediv__(self, other: Estimate | float) -> Estimate:
        if not isinstance(other, Estimate):
            return self._affine(1.0 / float(other), 0.0)
        top, bottom = same_study(self, other)
        if other.value == 0:
            raise ResultError(
                "A ratio of estimates is undefined: its denominator is exactly 0",
                hint="Look at the denominator's interval before dividing.",
            )
        value = self.value / other.value
        influence = top.plus(bottom.scaled(-value)).scaled(1.0 / other.value)
        ratio = Ratio(
            self.value, other.value, top.variance(), bottom.variance(), top.covariance(bottom)
        )
        plugin = self.plugin / other.plugin if other.plugin else math.nan
        return Estimate.of(value, influence, self.origin, plugin=plugin, ratio=ratio)

    def _affine(self, scale: float, offset: float) -> Estimate:
        return Estimate(
            value=scale * self.value + offset,
            standard_error=abs(scale) * self.standard_error,
            plugin=scale * self.plugin + offset,
            influence=None if self.influence is None else self.influence.scaled(scale),
            origin=self.origin,
            ratio=None if self.ratio is None else self.ratio.affine(scale, offset),
            sampling_error=abs(scale) * self.sampling_error,
            degrees_of_freedom=self.degrees_of_freedom,
            growth=scale * self.growth,
        )

    def interval(self, level: float = 0.95) -> Interval:
        """Return the two-sided confidence interval: Student's, for a ratio Fieller's."""
        require_level(level)
        return self.within(normal_quantile(level))

    def excludes_zero(self, level: float = 0.95) -> bool:
        """Return whether the interval at `level` leaves out 0: whether the value is significant."""
        return self.interval(level).excludes(0.0)

    def within(self, critical: float) -> Interval:
        """Return all values that a normal quantile of `critical`, read as Student's, leaves in."""
        t = as_student(critical, self.degrees_of_freedom)
        if self.ratio is not None:
            return self.ratio.interval(t)
        half, shift = t * self.standard_error, t**2 * self.growth / 2
        # The v with (value - v)^2 = t^2 (variance + growth (v - value)), where that is more.
        far = abs(shift) + math.hypot(half, shift)
        down, up = (half, far) if shift >= 0 else (far, half)
        return Interval(self.value - down, self.value + up)

    def p_value(self, null: float = 0.0) -> float:
        """Two-sided p-value of `value == null`: small where intervals leave it out."""
        require_number(null, "The value a p-value is for")
        return two_sided(self.distance(null), self.degrees_of_freedom)

    def distance(self, null: float = 0.0) -> float:
        """From `null`, in standard errors: for a ratio those of Fieller's interval."""
        if self.ratio is not None and self.ratio.scale != 0:
            return self.ratio.distance(null)
        more = max(self.growth * (null - self.value), 0.0)
        return in_errors(self.value - null, math.hypot(self.standard_error, math.sqrt(more)))

    def __format__(self, spec: str) -> str:
        low, high = self.interval()
        spec = spec or ".4g"
        return f"{self.value:{spec}} ({low:{spec}} to {high:{spec}})"

    def __str__(self) -> str:
        return format(self, "")


def same_study(left: Estimate, right: Estimate) -> tuple[Influence, Influence]:
    """The influence values of two estimates that may be combined, or an error."""
    if left.influence is None or right.influence is None:
        raise ResultError(
            "Estimates without influence values cannot be combined",
            hint="Save the result with gap.save(path, influence=True) to keep contrasts possible.",
        )
    if left.origin != right.origin:
        raise ResultError(
            "Estimates of two different studies cannot be combined",
            hint="Their rows differ, so their covariance is unknown. Combine estimates of one "
            "result only.",
        )
    return left.influence, right.influence
