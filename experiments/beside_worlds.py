"""The worlds of all experiments in one small table, from the summaries that are kept."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from experiments.pages import number, table

__all__ = ["worlds_table"]

GROUPS = {
    "aggregate": "aggregate parts",
    "covariate value": "covariate values",
    "outcome value": "outcome values",
    "share": "shares",
}
NAMES = {
    "gaussian": "Gaussian (the paper's)",
    "untuned": "untuned",
    "comparison_a": "comparison (a)",
    "comparison_b": "comparison (b)",
}


def worlds_table(summaries: Sequence[Path]) -> str:
    """Mean coverage by world, size and kind of quantity; in brackets how many fell short."""
    found: dict[tuple[str, ...], list[Mapping[str, str]]] = {}
    for path in summaries:
        for line in _lines(path):
            key = (_world(line), line["metric"], line["rows_source"], line["rows_target"])
            if line["settings"] == "defaults" and line["coverage"] != "nan":
                found.setdefault(key, []).append(line)
    body = [
        [world, metric, f"{int(source):,}+{int(target):,}", *_cells(lines)]
        for (world, metric, source, target), lines in found.items()
    ]
    return table(["world", "metric", "rows", *GROUPS.values()], body) if body else "Not run."


def _lines(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [line for line in csv.DictReader(file) if line["world"] != "null"]


def _world(line: Mapping[str, str]) -> str:
    if line["world"] != "pool":
        return NAMES.get(line["world"], line["world"])
    return line["config"].removeprefix("pool_name-").split("_")[0] + " (real rows)"


def _cells(lines: Sequence[Mapping[str, str]]) -> list[str]:
    return [_cell([line for line in lines if _group(line["quantity"]) == name]) for name in GROUPS]


def _group(quantity: str) -> str:
    part, _, rest = quantity.partition(" ")
    if part == "aggregate":
        return "" if rest == "gap" else part
    kind = rest.split()[0]
    single = "," not in rest
    return f"{part} value" if kind == "value" and single else kind if kind == "share" else ""


def _cell(lines: Sequence[Mapping[str, str]]) -> str:
    if not lines:
        return "–"
    mean = sum(float(line["coverage"]) for line in lines) / len(lines)
    below = sum(line["verdict"] == "below" for line in lines)
    return f"{number(mean, 2)} ({below} of {len(lines)} short)"
