"""Run a random sample of the kept replicates again, and say how far the numbers are apart.

python -m experiments recheck --share 0.01 --seed 0
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Mapping
from pathlib import Path

from experiments import coverage, culprits, judging, semisynthetic, shares, true_risk, untuned
from experiments.canaries import Numbers, moved
from experiments.record import engine_of
from experiments.replicates import Config, Line, replicate
from experiments.simulation import Order, all_lines
from whygap._version import ENGINE

__all__ = ["run", "sample"]

EXPERIMENTS = (coverage, culprits, judging, semisynthetic, shares, true_risk, untuned)


def run(order: Order, given: argparse.Namespace) -> str:
    """The largest difference of each line chosen, and of all."""
    configs = planned()
    lines = [ln for folder in _folders(order.output) for ln in all_lines(folder)]
    present = [ln for ln in lines if engine_of(ln) == ENGINE and ln["config"] in configs]
    older = sum(engine_of(line) < ENGINE for line in lines)
    told = [f"{len(lines)} kept replicates, {older} of them by older engines"]
    worst = 0.0
    for line in sample(present, given.share, given.seed):
        again = replicate(configs[line["config"]], line["seed"])
        distance = difference(again, line)
        worst = max(worst, distance)
        order.report(f"{line['config']}, seed {line['seed']}: {distance:.2g} standard errors")
        told.append(f"{line['config']}, seed {line['seed']}: {distance:.2g}")
    chosen = len(told) - 1
    if not chosen:
        return f"{told[0]}; none of engine {ENGINE} to run again"
    return "\n".join(
        [*told, f"largest difference of {chosen} run again: {worst:.2g} standard errors"]
    )


def sample(lines: list[Line], share: float, seed: int) -> list[Line]:
    """A random share of the lines, at least one of any."""
    count = max(round(share * len(lines)), min(len(lines), 1))
    return random.Random(seed).sample(lines, count)  # noqa: S311 - nothing secret


def planned() -> Mapping[str, Config]:
    """Every configuration of a full plan whose world is there, by label."""
    found: dict[str, Config] = {}
    for module in EXPERIMENTS:
        for config, count in module.plan(quick=False):
            if count:
                found[config.label] = config
    return found


def difference(again: Line, kept: Line) -> float:
    """The largest difference of any estimate, in kept standard errors."""
    return max(moved(_numbers(again), _numbers(kept)).values())


def _numbers(line: Line) -> Numbers:
    return {name: [row[0], row[1] or 0.0] for name, row in line["estimates"].items()}


def _folders(output: Path) -> list[Path]:
    return [output / module.__name__.rpartition(".")[2] for module in EXPERIMENTS]
