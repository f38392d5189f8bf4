"""The value type: a number that knows its own uncertainty.

Every quantity of the method is a mean over source rows plus a mean over target rows, or a sum,
product, ratio or linear map of such quantities. Arithmetic acts on value and influence vectors, so
that every formula of the paper is one Python expression and its standard error is free.

Deviation from the paper, eqs (12)-(14): contributions are centred *within each domain*
(docs/errata.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from whygap.domains import Array, ByDomain
from whygap.errors import ResultError, require_level, require_number
from whygap.estimate.fieller import Interval, Ratio, in_errors, sum_of
from whygap.estimate.influence import Influence
from whygap.estimate.sample import Sample
from whygap.estimate.student import as_student, normal_quantile, two_sided


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
        """Compute the mean of the source contributions plus the mean of the target contributions.

        Args:
            sample: weights and units of the rows.
            source: a contribution of every source row, (n_source,).
            target: a contribution of every target row, (n_target,).
            plugin: the estimate without debiasing, if there is one.
        """
        contributions = ByDomain(source, target)
        means = sample.mean(contributions)
        influence = sample.influence(contributions)
        return cls.of(means.source + means.target, influence, sample.key, plugin=plugin)

    def with_errors(self, **errors: Array) -> Estimate:
        """Replace errors that rows do not show: `fits`, `bias` (see `Influence`)."""
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
        """Make an estimate of a value and influence values; see the attributes of the class.

        Args:
            value: of the estimate.
            influence: values that give the standard error.
            origin: key of the study; estimates of equal keys can be combined.
            plugin: the estimate without its correction, where there is one.
            ratio: numerator and denominator of a ratio, for Fieller's interval.
        """
        return cls(
            value=float(value),
            standard_error=math.sqrt(influence.variance()),
            plugin=float(plugin),
            influence=influence,
            origin=origin,
            ratio=ratio,
            sampling_error=math.sqrt(influence.draws @ influence.draws),
            degrees_of_freedom=influence.degrees_of_freedom(),
        )

    def growing(self) -> Estimate:
        """Let the variance of a mean square grow in proportion to the signal.

        The standard error is taken to be that at a signal of the size of the plug-in value.
        """
        signal = max(self.plugin, self.standard_error)  # no smaller than its noise
        return replace(self, growth=self.standard_error**2 / signal if signal > 0 else 0.0)

    def __add__(self, addend: Estimate | float) -> Estimate:
        if not isinstance(addend, Estimate):
            return self._affine(1.0, float(addend))
        first, second = same_study(self, addend)
        plugin = self.plugin + addend.plugin
        influence = first.plus(second)
        total = Estimate.of(self.value + addend.value, influence, self.origin, plugin=plugin)
        return replace(total, ratio=sum_of([self.ratio, addend.ratio], total.standard_error))

    __radd__ = __add__

    def __neg__(self) -> Estimate:
        return self._affine(-1.0, 0.0)

    def __sub__(self, subtrahend: Estimate | float) -> Estimate:
        return self + (-subtrahend)

    def __rsub__(self, minuend: float) -> Estimate:
        return self._affine(-1.0, float(minuend))

    def __mul__(self, factor: Estimate | float) -> Estimate:
        if not isinstance(factor, Estimate):
            return self._affine(float(factor), 0.0)
        first, second = same_study(self, factor)
        influence = first.scaled(factor.value).plus(second.scaled(self.value))
        plugin = self.plugin * factor.plugin
        return Estimate.of(self.value * factor.value, influence, self.origin, plugin=plugin)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Estimate | float) -> Estimate:
        if not isinstance(divisor, Estimate):
            return self._affine(1.0 / float(divisor), 0.0)
        top, bottom = same_study(self, divisor)
        if divisor.value == 0:
            message = "A ratio of estimates is undefined: its denominator is exactly 0"
            raise ResultError(message, hint="Look at the denominator's interval before dividing.")
        value = self.value / divisor.value
        influence = top.plus(bottom.scaled(-value)).scaled(1.0 / divisor.value)
        moments = (top.variance(), bottom.variance(), top.covariance(bottom))
        ratio = Ratio(self.value, divisor.value, *moments)
        plugin = self.plugin / divisor.plugin if divisor.plugin else math.nan
        return Estimate.of(value, influence, self.origin, plugin=plugin, ratio=ratio)

    def _affine(self, scale: float, offset: float) -> Estimate:
        return replace(
            self,
            value=scale * self.value + offset,
            standard_error=abs(scale) * self.standard_error,
            plugin=scale * self.plugin + offset,
            influence=None if self.influence is None else self.influence.scaled(scale),
            ratio=None if self.ratio is None else self.ratio.affine(scale, offset),
            sampling_error=abs(scale) * self.sampling_error,
            growth=scale * self.growth,
        )

    def interval(self, level: float = 0.95) -> Interval:
        """Return the two-sided confidence interval: Student's, for a ratio Fieller's.

        Args:
            level: of the confidence intervals, between 0 and 1.
        """
        require_level(level)
        return self.within(normal_quantile(level))

    def excludes_zero(self, level: float = 0.95) -> bool:
        """Return whether the interval at `level` leaves out 0: whether the value is significant.

        Args:
            level: of the confidence intervals, between 0 and 1.
        """
        return self.interval(level).excludes(0.0)

    def within(self, critical: float) -> Interval:
        """Return the interval of all values that a normal quantile, read as Student's, allows.

        Args:
            critical: normal quantile, 0 or more: 1.96 for an interval of level 0.95.
        """
        t = as_student(critical, self.degrees_of_freedom)
        if self.ratio is not None:
            return self.ratio.interval(t)
        half = t * self.standard_error
        shift = t**2 * self.growth / 2
        # The v with (value - v)^2 = t^2 (variance + growth (v - value)), where that is more.
        far = abs(shift) + math.hypot(half, shift)
        if shift >= 0:
            return Interval(self.value - half, self.value + far)
        return Interval(self.value - far, self.value + half)

    def p_value(self, null: float = 0.0) -> float:
        """Compute the two-sided p-value of `value == null`: small where intervals exclude null.

        Args:
            null: the value that is tested.
        """
        require_number(null, "The value a p-value is for")
        return two_sided(self.distance(null), self.degrees_of_freedom)

    def distance(self, null: float = 0.0) -> float:
        """Measure the distance from `null` in standard errors; of a ratio in Fieller's.

        Args:
            null: the value to which the distance is measured.
        """
        if self.ratio is not None and self.ratio.scale != 0:
            return self.ratio.distance(null)
        growth = max(self.growth * (null - self.value), 0.0)
        return in_errors(self.value - null, math.hypot(self.standard_error, math.sqrt(growth)))

    def __format__(self, spec: str) -> str:
        low, high = self.interval()
        spec = spec or ".4g"
        return f"{self.value:{spec}} ({low:{spec}} to {high:{spec}})"

    def __str__(self) -> str:
        return format(self, "")


def same_study(first: Estimate, second: Estimate) -> tuple[Influence, Influence]:
    """Return the influence values of two estimates, or refuse the combination.

    Args:
        first: an estimate with influence values.
        second: an estimate of the study of `first`.
    """
    if first.influence is None or second.influence is None:
        hint = "Save the result with gap.save(path, influence=True) to keep contrasts possible."
        raise ResultError("Estimates without influence values cannot be combined", hint=hint)
    if first.origin != second.origin:
        hint = "Their rows differ, so their covariance is unknown. Combine estimates of one result "
        raise ResultError(
            "Estimates of two different studies cannot be combined", hint=hint + "only."
        )
    return first.influence, second.influence
