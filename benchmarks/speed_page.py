"""The tables of benchmarks/README.md from benchmarks/results/speed.csv."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import measure
from speed_jobs import (
    COVERAGE_ROWS,
    MILLION,
    REFERENCES,
    SUBSETS,
    WIDE_ROWS,
    coverage_name,
    insurance_name,
    wide_name,
)

PAGE = Path(__file__).parent / "README.md"
PARTS = ("covariate", "outcome")
NOT_COUNTED = ("model and tables", "reading")

Row = Mapping[str, Any]
Shares = Mapping[str, Sequence[float]]


def write(rows: Sequence[Row]) -> None:
    """Fill the page's sections with what there is."""
    by_name = {row["name"]: row for row in rows}
    measure.replace_section(PAGE, "stages", _stages(rows))
    measure.replace_section(PAGE, "coverage", _coverage(by_name))
    measure.replace_section(PAGE, "slopes", _slopes(by_name))
    measure.replace_section(PAGE, "agreement", _agreement(by_name))
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


def _slopes(rows: Mapping[str, Row]) -> str:
    """Exponents b of cost ~ size^b, by least squares on the logarithms."""
    lines: list[list[str]] = []
    for learner in ("fast", "auto"):
        for part in PARTS:
            names = {coverage_name(n, learner): n for n in COVERAGE_ROWS}
            points = _points(rows, names, f"{part} subsets")
            lines += _line(f"coverage world, {part} subset, {learner}", "rows per domain", points)
    for part in PARTS:
        ways = [*(f"{n} subsets, fast" for n in (*SUBSETS, 1200)), "fast"]
        known = {insurance_name(way): rows.get(insurance_name(way), {}) for way in ways}
        counts = {
            name: int(float(row[f"{part}_subsets"]))
            for name, row in known.items()
            if row.get(f"{part}_subsets")
        }
        points = _points(rows, {name: n for name, n in counts.items() if n}, part)
        lines += _line(f"NE to WV, {part} part, fast", "subsets", points)
    names = {wide_name(n): n for n in WIDE_ROWS}
    names[f"files, {MILLION} + {MILLION} x 50, aggregate, fast"] = MILLION
    lines += _line(
        "50 columns, aggregate, fast", "rows per domain", _points(rows, names, "aggregate")
    )
    return measure.markdown(["cost of", "grows with", "from", "to", "exponent"], lines)


def _points(
    rows: Mapping[str, Row], sizes: Mapping[str, int], stage: str
) -> list[tuple[int, float]]:
    """(size, CPU seconds of a stage) of the measurements that are there."""
    return [(n, json.loads(rows[name]["cpu"])[stage]) for name, n in sizes.items() if name in rows]


def _line(name: str, size: str, points: list[tuple[int, float]]) -> list[list[str]]:
    if len(points) < 3:
        return []
    points = sorted(points)
    x = [math.log(n) for n, _ in points]
    y = [math.log(cost) for _, cost in points]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    top = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    slope = top / sum((a - mean_x) ** 2 for a in x)
    ends = [f"{n:,}: {cost:.2f} s" for n, cost in (points[0], points[-1])]
    return [[name, size, *ends, f"{slope:.2f}"]]


def _agreement(rows: Mapping[str, Row]) -> str:
    """Shares of one run beside those of a longer one."""
    lines = []
    for one, two in REFERENCES:
        for part in PARTS:
            found = distances(*(_shares(rows.get(name, {}), part) for name in (one, two)))
            if found:
                close = sum(d <= 1 for d in found)
                middle = sorted(found)[len(found) // 2]
                cells = [f"{close} of {len(found)}", f"{middle:.2f}", f"{max(found):.2f}"]
                lines.append([one, two, part, *cells])
    header = [
        "shares of",
        "beside",
        "part",
        "within 1 standard error",
        "median distance",
        "largest",
    ]
    return measure.markdown(header, lines)


def _shares(row: Row, part: str) -> Shares:
    return json.loads(row.get(f"{part}_shares") or "{}")  # type: ignore[no-any-return]


def distances(quick: Shares, long: Shares) -> list[float]:
    """How far shares moved, in standard errors of the longer run."""
    return [abs(quick[p][0] - long[p][0]) / long[p][1] for p in long if p in quick]


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
