"""The value type: a number with its standard error, and the algebra of such numbers."""

from whygap.estimate.estimate import Estimate, Interval, Sample, same_study

__all__ = ["Estimate", "Interval", "Sample", "same_study"]
