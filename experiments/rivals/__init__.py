"""The comparators of the paper and the earlier systems of its Table 1, with one interface."""

from experiments.rivals.compare import METHODS, comparison, shares_of
from experiments.rivals.importances import Importances

__all__ = ["METHODS", "Importances", "comparison", "shares_of"]
