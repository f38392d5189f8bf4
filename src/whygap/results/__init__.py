"""What an analysis returns: frozen dataclasses that read off, save and show their numbers.

`Gap` holds the total, its parts, points, affected groups, recoverable error, the paper's shares,
and how all of it was computed. `whygap.results.files` saves results as versioned JSON,
`whygap.render` shows them.
"""

from whygap.results.details import (
    Affected,
    AffectedGroup,
    Budget,
    Recoverable,
    Rule,
    Shares,
    SubsetValue,
)
from whygap.results.files import load
from whygap.results.finding import Finding
from whygap.results.gap import About, Diagnostics, Gap, NuisanceRecord, Part
from whygap.results.gaps import Gaps
from whygap.results.overlap import Overlap, RatioRecord, Separator
from whygap.results.points import Points, RankInterval, Sampling
from whygap.tables.design import Condition

__all__ = ["About", "Affected", "AffectedGroup", "Budget", "Condition", "Diagnostics", "Finding"]
__all__ += ["Gap", "Gaps", "NuisanceRecord", "Overlap", "Part", "Points", "RankInterval"]
__all__ += ["RatioRecord", "Recoverable", "Rule", "Sampling", "Separator", "Shares", "SubsetValue"]
__all__ += ["load"]
