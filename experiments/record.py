"""What a kept line says of its making: engine version, commit, library versions, full settings."""

from __future__ import annotations

import platform
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from whygap._version import ENGINE
from whygap.settings import Settings

__all__ = [
    "STANDING",
    "engine_of",
    "engines",
    "library_versions",
    "made_by",
    "newest",
    "of_one_engine",
]

STANDING = {9}  # engines whose pages stand: case studies ran again with 10 where it matters
PACKAGES = ("numpy", "scipy", "scikit-learn", "lightgbm")


def made_by(settings: Settings) -> dict[str, Any]:
    """For a line that is written now."""
    return {
        "engine": ENGINE,
        "commit": _commit(),
        "versions": dict(library_versions()),
        "settings": settings.to_mapping(),
    }


def engine_of(line: Mapping[str, Any]) -> int:
    """The engine of a kept line; lines older than its version number are engine 1.

    Engine 9 changed outcome values and shares only: a line of engine 8 that has none is 9's. Engine
    10 changed covariate shares where points were asked for, too, and analyses of a region with the
    outcome first, of which no line is kept: any other line of engine 9 is 10's.
    """
    found = line.get("engine")
    if not isinstance(found, int):
        return 1
    if found == 8 and not _may_hold_outcome_shares(line):
        found = 9
    return 10 if found == 9 and not _holds_shares_beside_points(line) else found


def _may_hold_outcome_shares(line: Mapping[str, Any]) -> bool:
    """Unless the line says what it holds, and it is something else."""
    if "estimates" in line:
        of_outcome = {name for name in line["estimates"] if name.startswith("outcome ")}
        return bool(of_outcome - {"outcome denominator"})
    if "question" in line:
        return bool(line["question"] == "outcome")
    return "points" not in line and "rules" not in line


def _holds_shares_beside_points(line: Mapping[str, Any]) -> bool:
    if line.get("question") == "covariate":
        return bool(line.get("defined", True))
    answered = {name.partition(" ")[0] for name in line.get("estimates", ())}
    return {"points", "covariate"} <= answered


def newest(lines: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of every configuration and seed the line of the newest engine, in order."""
    ordered = sorted(lines, key=lambda line: (line["config"], line["seed"], engine_of(line)))
    return list({(line["config"], line["seed"]): line for line in ordered}.values())


def of_one_engine(lines: Sequence[dict[str, Any]], planned: int) -> list[dict[str, Any]]:
    """Those of the newest engine that has run a quarter of the plan, else of the one that ran most.

    So a cell of a page never mixes engines, and a few draws of a new one do not displace many.
    """
    counts = Counter(map(engine_of, lines))
    enough = [engine for engine, count in counts.items() if 4 * count >= planned]
    chosen = max(enough) if enough else max(counts, key=lambda e: (counts[e], e), default=None)
    return [line for line in lines if engine_of(line) == chosen]


def engines(lines: Sequence[Mapping[str, Any]]) -> str:
    """Which version of the engine made which replicates."""
    counts: dict[int, Counter[str]] = {}
    for line in lines:
        counts.setdefault(engine_of(line), Counter())[line["config"]] += 1
    if not counts:
        return "None has been run."
    if len(counts) == 1:
        return f"Made by engine {next(iter(counts))}."
    told = "; ".join(
        f"engine {engine}: " + ", ".join(f"{c} ({n})" for c, n in sorted(counts[engine].items()))
        for engine in sorted(counts)
    )
    return f"**Several versions of the engine made them.** In {told}."


@cache
def library_versions() -> Mapping[str, str]:
    """Python's and those of the packages that decide a number."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed as a package"
    return found


@cache
def _commit() -> str:
    """Short hash of the checkout, with a + where files differ from it; empty without git."""
    here = Path(__file__).resolve().parent
    describe = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]  # the hash, not a tag
    try:
        done = subprocess.run(  # noqa: S603 - our own words
            describe, cwd=here, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()
