"""The value type: a number with its standard error, and the algebra of such numbers."""

from whygap.estimate.estimate import Estimate, same_study
from whygap.estimate.fieller import Interval
from whygap.estimate.sample import Sample

__all__ = ["Estimate", "Interval", "Sample", "same_study"]
