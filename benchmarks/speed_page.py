"""The tables of docs/benchmarks.md from benchmarks/results/speed.csv."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import measure

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"


def write(rows: list[dict[str, Any]]) -> None:
    """Fill the page's sections with what there is."""
    by_name = {row["name"]: row for row in rows}
    measure.replace_section(PAGE, "stages", _stages(rows))
    measure.replace_section(PAGE, "coverage", _coverage(by_name))
    measure.replace_section(PAGE, "slopes", _slopes(by_name))
    measure.replace_section(PAGE, "agreement", _agreement(by_name))
    measure.replace_section(PAGE, "machine", _machine(rows))


def _stages(rows: list[dict[str, Any]]) -> str:
    lines = []
    for row in rows:
        if row["name"].startswith("coverage"):
            continue
        cpu, wall = json.loads(row["cpu"]), json.loads(row["wall"])
        parts = [_part(row, cpu, part) for part in ("covariate", "outcome")]
        total = sum(value for stage, value in wall.items() if stage != "model and tables")
        own = "" if "workers" in row["name"] else f"{cpu['aggregate']:.1f}"
        lines.append([row["name"], own, *parts, f"{total:.0f}", f"{float(row['peak_mb']):.0f}"])
    header = [
        "case",
        "aggregate, CPU s",
        "covariate part, CPU s",
        "outcome part, CPU s",
        "wall s, loaded machine",
        "peak MB",
    ]
    return measure.markdown(header, lines)


def _part(row: dict[str, Any], cpu: dict[str, float], part: str) -> str:
    """CPU seconds and subsets of one part."""
    if part not in cpu:
        return "not asked for"
    subsets = int(float(row[f"{part}_subsets"]))
    if not subsets:
        return f"{cpu[part]:.1f} (undefined)"
    if "workers" in row["name"]:
        return f"{subsets} subsets"
    return f"{cpu[part]:.1f} ({subsets} subsets, {subsets / cpu[part]:.1f} per s)"


def _coverage(rows: dict[str, Any]) -> str:
    lines = []
    for name, row in rows.items():
        if not name.startswith("coverage"):
            continue
        cpu = json.loads(row["cpu"])
        setup = cpu["aggregate"] + cpu["covariate set-up"] + cpu["outcome set-up"]
        lines.append(
            [
                name.removeprefix("coverage world, "),
                f"{setup:.1f}",
                f"{cpu['covariate subsets'] / 3:.2f}",
                f"{cpu['outcome subsets'] / 3:.2f}",
                f"{float(row['peak_mb']):.0f}",
            ]
        )
    header = ["size", "set-up, CPU s", "a covariate subset", "an outcome subset", "peak MB"]
    return measure.markdown(header, lines)


def _slopes(rows: dict[str, Any]) -> str:
    """Exponents b of cost ~ size^b, by least squares on the logarithms."""
    lines = []
    for learner in ("fast", "auto"):
        for part in ("covariate", "outcome"):
            points = [
                (n, json.loads(rows[name]["cpu"])[f"{part} subsets"])
                for n in (1000, 2000, 4000, 8000)
                if (name := f"coverage world, n={n}, {learner}") in rows
            ]
            lines += _line(f"coverage world, {part} subset, {learner}", "rows per domain", points)
    for part in ("covariate", "outcome"):
        points = [
            (int(float(rows[name][f"{part}_subsets"])), json.loads(rows[name]["cpu"])[part])
            for size in ("174 subsets, fast", "300 subsets, fast", "fast")
            if (name := f"NE to WV, {size}") in rows
        ]
        lines += _line(f"NE to WV, {part} part, fast", "subsets", [p for p in points if p[0]])
    points = [
        (n, json.loads(rows[name]["cpu"])["aggregate"])
        for n in (10_000, 30_000, 100_000, 1_000_000)
        if (name := f"wide, {n} + {n} x 50, aggregate, fast") in rows
    ]
    lines += _line("50 columns, aggregate, fast", "rows per domain", points)
    return measure.markdown(["cost of", "grows with", "from", "to", "exponent"], lines)


def _line(name: str, size: str, points: list[tuple[int, float]]) -> list[list[Any]]:
    if len(points) < 3:
        return []
    x = [math.log(n) for n, _ in points]
    y = [math.log(cost) for _, cost in points]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    top = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    slope = top / sum((a - mean_x) ** 2 for a in x)
    ends = [f"{n:,}: {cost:.2f} s" for n, cost in (points[0], points[-1])]
    return [[name, size, *ends, f"{slope:.2f}"]]


def _agreement(rows: dict[str, Any]) -> str:
    """Shares of one run beside those of another, in standard errors of the second."""
    pairs = [
        ("NE to WV, fast", "NE to WV, auto"),
        ("NE to WV, 174 subsets, fast", "NE to WV, 174 subsets, auto"),
        ("NE to WV, 174 subsets, fast", "NE to WV, fast"),
        ("demo, fast", "demo, auto"),
    ]
    lines = []
    for one, two in pairs:
        for part in ("covariate", "outcome"):
            found = _distances(rows, one, two, part)
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


def _distances(rows: dict[str, Any], one: str, two: str, part: str) -> list[float]:
    if one not in rows or two not in rows:
        return []
    shares = [json.loads(rows[name].get(f"{part}_shares") or "{}") for name in (one, two)]
    common = [player for player in shares[1] if player in shares[0]]
    return [abs(shares[0][p][0] - shares[1][p][0]) / shares[1][p][1] for p in common]


def _machine(rows: list[dict[str, Any]]) -> str:
    here = measure.machine()
    versions = ", ".join(f"{name} {here[name]}" for name in measure.PACKAGES)
    return (
        f"Measured {here['date']} on {here['cores']} shared cores ({here['processor']}), Python "
        f"{here['python']}, {versions}; {len(rows)} measurements, each in a process of its own."
    )
