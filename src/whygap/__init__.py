"""Why a model scores differently where it is deployed: the gap, taken apart, with intervals.

Names are loaded when they are first used, so that the command line starts at once.
"""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whygap import datasets, errors, simulate
    from whygap.check import check
    from whygap.estimate import Estimate
    from whygap.explain import explain, subset_values
    from whygap.many import explain_many
    from whygap.rehearse import rehearse
    from whygap.repair.revise import revise
    from whygap.results import Detailed, Gap
    from whygap.rivals.compare import compare
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

_HOMES = {
    "Detailed": "results",
    "Estimate": "estimate",
    "Gap": "results",
    "Settings": "settings",
    "Study": "study",
    "check": "check",
    "compare": "rivals",
    "explain": "explain",
    "explain_many": "many",
    "load": "storage",
    "rehearse": "rehearse",
    "revise": "repair",
    "subset_values": "explain",
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


class _Package(ModuleType):
    """Keeps `whygap.explain` the function when the module `whygap.explain` is imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
