"""The tables inside a page that is otherwise written by hand: docs/rivals.md.

python -m experiments tables --jobs 0       from what is kept
python -m experiments tables --data DIR     and the revisions; what is missing is computed
"""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments import comparators
from experiments.pages import fill
from experiments.simulation import Order
from whygap.errors import SettingsError

__all__ = ["run"]

ROOT = Path(__file__).resolve().parents[1]


def run(order: Order, given: argparse.Namespace) -> str:  # noqa: ARG001 - as the other commands
    """Fill the tables; returns what was written."""
    if order.quick:
        raise SettingsError("Quick sizes are for trials", hint="Leave out --quick.")
    page = ROOT / "docs" / "rivals.md"
    kept = order.folder("comparators")
    scenes = comparators.seeds_of(kept, comparators.plan(quick=False), order)
    fill(page, "comparators", comparators.tables(scenes))
    if order.data is not None:
        from experiments.revisions import revision_tables

        fill(page, "revisions", revision_tables(order))
    return f"wrote the tables of {page.name}"
