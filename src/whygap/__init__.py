"""Why a model scores differently where it is deployed: the gap, taken apart, with intervals.

Names are loaded when they are first used, so that the command line starts at once.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whygap import datasets, errors
    from whygap._explain import explain, subset_values
    from whygap._many import explain_many
    from whygap._metrics import Metric, metrics
    from whygap._rehearse import rehearse
    from whygap._watch import watch
    from whygap.checks import check
    from whygap.errors import WhygapWarning
    from whygap.estimate import Estimate
    from whygap.results import Gap, Gaps, load
    from whygap.settings import Settings
    from whygap.splits import from_splits
    from whygap.study import Study

__all__ = [
    "Estimate",
    "Gap",
    "Gaps",
    "Metric",
    "Settings",
    "Study",
    "WhygapWarning",
    "check",
    "datasets",
    "errors",
    "explain",
    "explain_many",
    "from_splits",
    "load",
    "metrics",
    "rehearse",
    "subset_values",
    "watch",
]

_HOMES = {
    "Estimate": "estimate",
    "Gap": "results",
    "Gaps": "results",
    "Metric": "_metrics",
    "Settings": "settings",
    "Study": "study",
    "WhygapWarning": "errors",
    "check": "checks",
    "explain": "_explain",
    "explain_many": "_many",
    "from_splits": "splits",
    "load": "results",
    "metrics": "_metrics",
    "rehearse": "_rehearse",
    "subset_values": "_explain",
    "watch": "_watch",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(f"whygap.{_HOMES[name]}"), name)
    elif name in __all__:
        value = importlib.import_module(f"whygap.{name}")
    else:
        raise AttributeError(f"module 'whygap' has no attribute '{name}'")
    globals()[name] = value
    return value
