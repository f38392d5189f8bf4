"""The comparators of the paper and the earlier systems of its Table 1, behind one interface."""

from whygap.rivals.compare import METHODS, compare, comparison
from whygap.rivals.graph_file import read_graph
from whygap.rivals.importances import Importances
from whygap.rivals.revisions import RevisionContrast, compare_revisions

__all__ = [
    "METHODS",
    "Importances",
    "RevisionContrast",
    "compare",
    "compare_revisions",
    "comparison",
    "read_graph",
]
