"""Is the evidence of the present engine, and do its numbers come out again?

python -m experiments recheck --share 0.01 --seed 0

Says which engine made the lines that every page rests on, and runs a random sample of those of the
present engine again. Fails when a line is older, when a page says that an older engine made it, or
when a number has moved.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import joblib

from experiments import (
    coverage,
    culprits,
    judging,
    metrics,
    semisynthetic,
    shares,
    true_risk,
    untuned,
)
from experiments.canaries import Numbers, moved
from experiments.record import STANDING, engine_of
from experiments.replicates import Config, Line, replicate
from experiments.simulation import Order, all_lines
from whygap._version import ENGINE
from whygap.errors import ResultError

__all__ = ["older_pages", "resting_on", "rests_on", "run", "sample"]

T = TypeVar("T")

EXPERIMENTS = (coverage, culprits, judging, metrics, semisynthetic, shares, true_risk, untuned)
NEAR = 0.1  # standard errors that other libraries and processors may move a number by
# What tells two lines apart, whatever the experiment; a newer line replaces an older one.
SAME = ("config", "seed", "comparison", "question", "kind", "rows", "players", "subsets", "learner")


def run(order: Order, given: argparse.Namespace) -> str:
    """Who made what is kept, and the largest difference of the lines run again.

    Raises:
        ResultError: an older engine made a page or a line that one rests on, or a number moved.
    """
    lines, pages = resting_on(order.output), older_pages(order.output)
    told = [by_engine(folder, kept) for folder, kept in lines.items()]
    told += [f"{page}: says that another engine made it" for page in pages]
    worst, again = _run_again(order, given)
    text = "\n".join([*told, *again])
    older = sum(engine_of(line) < ENGINE for kept in lines.values() for line in kept)
    if older or pages or worst > NEAR:
        count = f"{older} of {sum(map(len, lines.values()))} lines are of older engines"
        raise ResultError(f"{text}\n{count}; the largest difference is {worst:.2g}")
    return text


def older_pages(output: Path) -> list[str]:
    """Pages whose last section names an engine that is neither the present one nor stands."""
    found = []
    for path in sorted(output.glob("*/*.md")):
        made = path.read_text(encoding="utf-8").rpartition("## How these numbers came about")[2]
        if set(re.findall(r"\bengine (\d+)", made)) - {*map(str, (ENGINE, *STANDING))}:
            found.append(path.stem)
    return found


def _run_again(order: Order, given: argparse.Namespace) -> tuple[float, list[str]]:
    """The largest difference in standard errors, and that of each line chosen."""
    configs = planned()
    present = [
        ((name, line["config"]), line)
        for name in dict.fromkeys(name for name, _ in configs)
        for line in all_lines(order.output / name)
        if engine_of(line) == ENGINE and (name, line["config"]) in configs
    ]
    chosen = sample(present, given.share, given.seed)
    workers = joblib.Parallel(n_jobs=max(order.jobs, 1), return_as="generator")
    jobs = (joblib.delayed(replicate)(configs[which], line["seed"]) for which, line in chosen)
    worst, told = 0.0, []
    for (which, line), again in zip(chosen, workers(jobs), strict=True):
        distance = difference(again, line)
        worst = max(worst, distance)
        told.append(f"{': '.join(which)}, seed {line['seed']}: {distance:.2g} standard errors")
        order.report(told[-1])
    return worst, told or [f"none of engine {ENGINE} to run again"]


def resting_on(output: Path) -> dict[str, list[Line]]:
    """Of every folder of evidence the newest line of each thing that was run."""
    found: dict[str, list[Line]] = {}
    for path in sorted(output.glob("*/*.jsonl*")):
        if path.stem.startswith("peers"):
            continue  # other tools have no engine of ours
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8") as file:
            lines = sorted(map(json.loads, file), key=engine_of)
        newest = {tuple(str(line.get(name)) for name in SAME): line for line in lines}
        found.setdefault(path.parent.name, []).extend(newest.values())
    return found


def rests_on(output: Path, folders: Sequence[str]) -> str:
    """A sentence for pages that gather others' lines."""
    lines = resting_on(output)
    told = [by_engine(folder, lines[folder]) for folder in folders if folder in lines]
    return f"Lines behind them, by engine: {'; '.join(told)}." if told else ""


def by_engine(folder: str, lines: list[Line]) -> str:
    """E.g. `rules: engine 3: 10, engine 5: 200`."""
    counts = Counter(map(engine_of, lines))
    told = ", ".join(f"engine {engine}: {counts[engine]}" for engine in sorted(counts))
    return f"{folder}: {told}"


def sample(lines: list[T], share: float, seed: int) -> list[T]:
    """A random share of the lines, at least one of any."""
    count = max(round(share * len(lines)), min(len(lines), 1))
    return random.Random(seed).sample(lines, count)  # noqa: S311 - nothing secret


def planned() -> Mapping[tuple[str, str], Config]:
    """Every configuration of a full plan whose world is there, by experiment and label.

    Two experiments may ask other questions of one world, under one label.
    """
    return {
        (module.__name__.rpartition(".")[2], config.label): config
        for module in EXPERIMENTS
        for config, count in module.plan(quick=False)
        if count
    }


def difference(again: Line, kept: Line) -> float:
    """The largest difference of any estimate, in kept standard errors."""
    return max(moved(_numbers(again), _numbers(kept)).values())


def _numbers(line: Line) -> Numbers:
    return {name: [row[0], row[1] or 0.0] for name, row in line["estimates"].items()}
