"""The paper's experiments and ours: every number in the docs can be made again.

    python -m experiments NAME [--quick] [--data DIR] [--jobs N]

Each experiment is a module with a `run(order)` that returns the path of its page; modules are
imported when they are run. What they produce is kept in `evidence/`.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from experiments.simulation import Order

__all__ = ["EXPERIMENTS", "run"]

EXPERIMENTS = (
    "casestudy insurance",
    "casestudy readmission",
    "comparators",
    "coverage",
    "culprits",
    "judging",
    "metrics",
    "mishaps",
    "partial_overlap",
    "refit",
    "revisions",
    "rules",
    "scaling",
    "semisynthetic",
    "shares",
    "true_risk",
    "trust",
    "untuned",
)


def run(name: str, order: Order) -> Path:
    """Run an experiment; a second word says which case."""
    module, *case = name.split()
    found: Any = importlib.import_module(f"experiments.{module}")
    page: Path = found.run(order, *case)
    return page
