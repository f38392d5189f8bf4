"""Why a model scores differently where it is deployed: the gap, taken apart, with intervals."""

from whygap import datasets, errors, simulate
from whygap.check import check
from whygap.estimate import Estimate
from whygap.explain import explain, subset_values
from whygap.many import explain_many
from whygap.rehearse import rehearse
from whygap.repair import revise
from whygap.results import Detailed, Gap
from whygap.rivals import compare
from whygap.settings import Settings
from whygap.storage import load
from whygap.study import Study

__all__ = [
    "Detailed",
    "Estimate",
    "Gap",
    "Settings",
    "Study",
    "check",
    "compare",
    "datasets",
    "errors",
    "explain",
    "explain_many",
    "load",
    "rehearse",
    "revise",
    "simulate",
    "subset_values",
]
