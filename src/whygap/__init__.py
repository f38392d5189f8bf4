"""Why a model scores differently where it is deployed: the gap, taken apart, with intervals."""

from whygap import datasets, errors, simulate
from whygap.estimate import Estimate
from whygap.explain import explain, subset_values
from whygap.results import Detailed, Gap
from whygap.settings import Settings
from whygap.storage import load
from whygap.study import Study

__all__ = [
    "Detailed",
    "Estimate",
    "Gap",
    "Settings",
    "Study",
    "datasets",
    "errors",
    "explain",
    "load",
    "simulate",
    "subset_values",
]
