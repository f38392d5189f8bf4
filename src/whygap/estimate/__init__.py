"""The value type: a number with its standard error, and the algebra of such numbers."""

from whygap.estimate.estimate import Estimate, Sample, same_study

__all__ = ["Estimate", "Sample", "same_study"]
