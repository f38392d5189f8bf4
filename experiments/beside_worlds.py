"""The worlds of all experiments in one small table, from the summaries that are kept."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from experiments.pages import number, table

__all__ = ["worlds_table"]

KINDS = {
    "aggregate parts": r"aggregate (baseline|covariate|outcome)",
    "covariate values": r"covariate value [^,]*",
    "outcome values": r"outcome value [^,]*",
    "shares": r"\w+ share .*",
}
NAMES = {
    "gaussian": "Gaussian (the paper's)",
    "comparison_a": "comparison (a)",
    "comparison_b": "comparison (b)",
}


def worlds_table(summaries: Sequence[Path]) -> str:
    """Mean coverage by world, size and kind of quantity; in brackets how many fell short."""
    found: dict[tuple[str, ...], list[Mapping[str, str]]] = {}
    for path in summaries:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        for line in csv.DictReader(text.splitlines()):
            rows = f"{int(line['rows_source']):,}+{int(line['rows_target']):,}"
            shown = line["settings"] == "defaults" and line["coverage"] != "nan"
            if shown and line["world"] != "null":
                found.setdefault((_world(line), line["metric"], rows), []).append(line)
    body = [
        [*key, *(_cell(lines, kind) for kind in KINDS.values())] for key, lines in found.items()
    ]
    return table(["world", "metric", "rows", *KINDS], body) if body else "Not run."


def _world(line: Mapping[str, str]) -> str:
    if line["world"] != "pool":
        return NAMES.get(line["world"], line["world"])
    return line["config"].removeprefix("pool_name-").split("_")[0] + " (real rows)"


def _cell(lines: Sequence[Mapping[str, str]], kind: str) -> str:
    here = [line for line in lines if re.fullmatch(kind, line["quantity"])]
    if not here:
        return "–"
    mean = sum(float(line["coverage"]) for line in here) / len(here)
    below = sum(line["verdict"] == "below" for line in here)
    return f"{number(mean, 2)} ({below} of {len(here)} short)"
