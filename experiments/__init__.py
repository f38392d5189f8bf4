"""The paper's experiments and ours: every number in the docs can be made again.

    python -m experiments NAME [--quick] [--data DIR] [--jobs N]

Each experiment is a module with a `run(order)` that returns the path of its page; `EXPERIMENTS`
names them. Modules are imported when they are run. What they produce is kept in `evidence/`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from experiments.simulation import Order

__all__ = ["EXPERIMENTS"]


def _experiment(module: str, **fixed: str) -> Callable[[Order], Path]:
    def run(order: Order) -> Path:
        found: Any = importlib.import_module(f"experiments.{module}")
        page: Path = found.run(order, **fixed)
        return page

    return run


EXPERIMENTS: Mapping[str, Callable[[Order], Path]] = MappingProxyType(
    {
        "casestudy insurance": _experiment("casestudy", case="insurance"),
        "casestudy readmission": _experiment("casestudy", case="readmission"),
        "comparators": _experiment("comparators"),
        "coverage": _experiment("coverage"),
        "revisions": _experiment("revisions"),
        "scaling": _experiment("scaling"),
        "semisynthetic": _experiment("semisynthetic"),
        "shares": _experiment("shares"),
        "true_risk": _experiment("true_risk"),
        "untuned": _experiment("untuned"),
    }
)
"""Experiments by name."""
