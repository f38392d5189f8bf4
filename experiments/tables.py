"""The tables inside pages that are otherwise written by hand: README.md and docs/rivals.md.

python -m experiments tables --jobs 0       from what is kept
python -m experiments tables --data DIR     and the revisions; what is missing is computed
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

from experiments import comparators
from experiments.pages import fill, number, table
from experiments.simulation import Order
from whygap.errors import SettingsError

__all__ = ["coverage_table", "run"]

ROOT = Path(__file__).resolve().parents[1]
IN_README = {
    "aggregate parts: baseline, covariate, outcome": "aggregate {}",
    "covariate values of {Z1} {Z2} {Z3}": "covariate value {{{}}}",
    "outcome values of {Z1} {Z2} {Z3}": "outcome value {{{}}}",
    "covariate shares of Z1 Z2 Z3": "covariate share {}",
    "outcome shares of Z1 Z2 Z3": "outcome share {}",
}


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
    fill(ROOT / "README.md", "coverage", coverage_table(order.output / "coverage" / "summary.csv"))
    return f"wrote the tables of {page.name} and README.md"


def coverage_table(summary: Path) -> str:
    """Coverage at each size that was run, several quantities side by side."""
    with summary.open(encoding="utf-8", newline="") as file:
        lines = [
            line
            for line in csv.DictReader(file)
            if line["metric"] == "accuracy" and line["settings"] == "defaults"
        ]
    found = {(line["rows_source"], line["quantity"]): float(line["coverage"]) for line in lines}
    counts = {line["rows_source"]: line["replicates"] for line in lines}
    sizes = sorted(counts, key=int)
    body = []
    for title, pattern in IN_README.items():
        aggregate = pattern.startswith("aggregate")
        names = ("baseline", "covariate", "outcome") if aggregate else ("Z1", "Z2", "Z3")
        cells = [
            " ".join(number(found.get((n, pattern.format(x))), 2) for x in names) for n in sizes
        ]
        body.append([title, *(cell.replace("1.00", "1.0") for cell in cells)])
    head = [f"n = {int(n):,} ({counts[n]} replicates)" for n in sizes]
    return table(["", *head], body, text=len(sizes) + 1)
