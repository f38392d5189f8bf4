"""What an analysis returns: frozen nouns, no computing beyond reading them off.

`Gap` holds the aggregate parts, points, groups and budgets, the paper's shares (or None), and how
it was computed. It is saved as versioned JSON (`whygap.storage`) and shown by `whygap.render`.
"""

from whygap.results.about import About, Diagnostics, NuisanceRecord
from whygap.results.aggregate import Aggregate
from whygap.results.culprits import Budget, Group, Points, Recoverable, Rule, Where
from whygap.results.gap import Gap
from whygap.results.joint import Joint, RankInterval, Sampling
from whygap.results.overlap import Overlap, RatioRecord, Separator
from whygap.results.shares import Detailed, SubsetValue
from whygap.tables.design import Condition

__all__ = ["About", "Aggregate", "Budget", "Condition", "Detailed", "Diagnostics", "Gap"]
__all__ += ["Group", "Joint", "NuisanceRecord", "Overlap", "Points", "RankInterval", "RatioRecord"]
__all__ += ["Recoverable", "Rule", "Sampling", "Separator", "SubsetValue", "Where"]
