"""The value type: a number with its standard error, and the algebra of such numbers."""

from whygap.estimate.estimate import Estimate, Sample, same_study
from whygap.estimate.fieller import Interval

__all__ = ["Estimate", "Interval", "Sample", "same_study"]
