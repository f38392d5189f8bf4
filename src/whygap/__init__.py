"""Why a model scores differently where it is deployed: the gap, taken apart, with intervals.

Names are loaded when they are first used, so that the command line starts at once.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whygap import datasets, errors
    from whygap._explain import explain
    from whygap._explain_many import explain_many
    from whygap._metrics import Metric, metrics
    from whygap._rehearse import Rehearsal, rehearse
    from whygap._watch import watch
    from whygap.checks import Check, check
    from whygap.estimate import Estimate
    from whygap.results import Gap, Gaps, load
    from whygap.settings import Settings
    from whygap.study import Study

    __version__: str

__all__ = [
    "Check",
    "Estimate",
    "Gap",
    "Gaps",
    "Metric",
    "Rehearsal",
    "Settings",
    "Study",
    "check",
    "datasets",
    "errors",
    "explain",
    "explain_many",
    "load",
    "metrics",
    "rehearse",
    "watch",
]

# Public name -> module, or module and the name there
_HOMES = {
    "Check": "checks:Check",
    "Estimate": "estimate:Estimate",
    "Gap": "results:Gap",
    "Gaps": "results:Gaps",
    "Metric": "_metrics:Metric",
    "Rehearsal": "_rehearse:Rehearsal",
    "Settings": "settings:Settings",
    "Study": "study:Study",
    "check": "checks:check",
    "datasets": "datasets",
    "errors": "errors",
    "explain": "_explain:explain",
    "explain_many": "_explain_many:explain_many",
    "load": "results:load",
    "metrics": "_metrics:metrics",
    "rehearse": "_rehearse:rehearse",
    "watch": "_watch:watch",
}


def __getattr__(name: str) -> Any:
    """Load a public name at the first use."""
    if name == "__version__":
        value: Any = importlib.import_module("importlib.metadata").version("whygap")
    elif name in _HOMES:
        module, _, attribute = _HOMES[name].partition(":")
        value = importlib.import_module(f"whygap.{module}")
        value = getattr(value, attribute) if attribute else value
    else:
        raise AttributeError(f"module 'whygap' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names for tab completion."""
    return [*__all__, "__version__"]
