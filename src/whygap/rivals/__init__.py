"""The comparators of the paper and the earlier systems of its Table 1, behind one interface."""

from whygap.rivals.compare import METHODS, compare, comparison
from whygap.rivals.graph import read_graph
from whygap.rivals.importances import Importances

__all__ = ["METHODS", "Importances", "compare", "comparison", "read_graph"]
