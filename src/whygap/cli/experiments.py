"""The experiments in `whygap.studies`: every module there that has a `run`."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
from collections.abc import Callable
from typing import Any

from whygap.errors import SettingsError, did_you_mean

__all__ = ["experiment", "run_experiment"]


def run_experiment(name: str, **options: Any) -> Any:
    """Run one experiment and return the path of its page; options it does not know are refused.

    An option that is None was not given and is left to the experiment's own default.
    """
    run = experiment(name)
    known = inspect.signature(run).parameters
    given = {option: value for option, value in options.items() if value is not None}
    for option in given:
        if option not in known:
            raise SettingsError(
                f"The study '{name}' has no option '{option}'",
                hint=f"Its options are: {', '.join(known)}.",
            )
    return run(**given)


def experiment(name: str) -> Callable[..., Any]:
    """The function that runs an experiment; unknown names are refused."""
    names = _names()
    if name not in names:
        raise SettingsError(
            f"There is no study '{name}'",
            hint=did_you_mean(name, names) or f"Studies are: {', '.join(names)}.",
        )
    runner: Callable[..., Any] = importlib.import_module(f"whygap.studies.{name}").run
    return runner


def _names() -> list[str]:
    package = importlib.import_module("whygap.studies")
    modules = [found.name for found in pkgutil.iter_modules(package.__path__)]
    return [m for m in modules if hasattr(importlib.import_module(f"whygap.studies.{m}"), "run")]
