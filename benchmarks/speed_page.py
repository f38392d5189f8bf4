"""The tables of benchmarks/README.md from benchmarks/results/speed.csv."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import measure

PAGE = Path(__file__).parent / "README.md"
PARTS = ("covariate", "outcome")
NOT_COUNTED = ("model and tables", "reading")

Row = Mapping[str, Any]


def write(rows: Sequence[Row]) -> None:
    """Fill the page's sections with what there is."""
    by_name = {row["name"]: row for row in rows}
    measure.replace_section(PAGE, "stages", _stages(rows))
    measure.replace_section(PAGE, "coverage", _coverage(by_name))
    measure.replace_section(PAGE, "machine", _machine(rows))


def _stages(rows: Sequence[Row]) -> str:
    lines = [_stage_line(row) for row in rows if not row["name"].startswith("coverage")]
    header = [
        "case",
        "reading",
        "aggregate",
        "covariate part",
        "outcome part",
        "wall s (load)",
        "peak MB",
    ]
    return measure.markdown(header, lines)


def _stage_line(row: Row) -> list[str]:
    """CPU seconds by stage; those of workers are not known, so only wall seconds are."""
    cpu, wall = json.loads(row["cpu"]), json.loads(row["wall"])
    spread = "workers" in row["name"]
    total = sum(value for stage, value in wall.items() if stage not in NOT_COUNTED)
    load = f" ({float(row['load']):.0f})" if row.get("load") else ""
    return [
        row["name"],
        f"{cpu['reading']:.1f}" if "reading" in cpu else "",
        "" if spread else f"{cpu['aggregate']:.1f}",
        *(_part(row, cpu, part, spread) for part in PARTS),
        f"{total:.0f}{load}",
        f"{float(row['peak_mb']):.0f}",
    ]


def _part(row: Row, cpu: Mapping[str, float], part: str, spread: bool) -> str:
    """CPU seconds and subsets of one part."""
    if part not in cpu:
        return "not asked for"
    subsets = int(float(row[f"{part}_subsets"]))
    if not subsets:
        return f"{cpu[part]:.1f} (undefined)"
    if spread:
        return f"{subsets} subsets"
    return f"{cpu[part]:.1f} ({subsets} subsets, {subsets / cpu[part]:.1f} per s)"


def _coverage(rows: Mapping[str, Row]) -> str:
    lines = []
    for name, row in rows.items():
        if not name.startswith("coverage"):
            continue
        cpu = json.loads(row["cpu"])
        setup = cpu["aggregate"] + cpu["covariate set-up"] + cpu["outcome set-up"]
        each = [f"{cpu[f'{part} subsets'] / 3:.2f}" for part in PARTS]
        size = name.removeprefix("coverage world, ")
        lines.append([size, f"{setup:.1f}", *each, f"{float(row['peak_mb']):.0f}"])
    header = ["size", "set-up, CPU s", "a covariate subset", "an outcome subset", "peak MB"]
    return measure.markdown(header, lines)


def _machine(rows: Sequence[Row]) -> str:
    """Every row names its own machine and day; the page tells them together."""
    days = sorted({row["date"] for row in rows})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    last, code = rows[-1], measure.code_digest()
    old = sum(row.get("code") != code for row in rows)
    aged = f" ({old} of them with earlier code)" if old else ""
    versions = ", ".join(f"{name} {last[name]}" for name in measure.PACKAGES)
    return (
        f"Measured {when} on {last['cores']} shared cores ({last['processor']}), Python "
        f"{last['python']}, {versions}; {len(rows)} measurements{aged}, each in a "
        "process of its own."
    )
