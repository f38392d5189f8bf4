"""Do 90% intervals hold where subsets are sampled?

    python benchmarks/sampled_coverage.py --world five      outcome shares of five players
    python benchmarks/sampled_coverage.py --world twelve    points of ten players, two of W beside

Each draw is analysed twice with the same learner and seed. Of five players, who would have all 32
subsets valued, once 20 of these are; ten have as many as the stopping rule asks for, and 400.
`--draws` and `--jobs` say how often and on how many cores; `--keep` names the file of all lines.
"""

from __future__ import annotations

import argparse
import statistics
from dataclasses import replace
from pathlib import Path

import numpy as np

from experiments.replicates import Config, Line, read_lines, replicate, run_missing
from experiments.simulation import config_truths
from whygap.running import game
from whygap.shapley import subsets

WORLDS = {
    "five": Config(
        "comparison_b",
        (2000, 2000),
        settings={"learner": "fast", "subsets": 20},
        parts=("outcome",),
    ),
    "twelve": Config("correlated", (2000, 2000), settings={"learner": "fast"}, parts=("points",)),
}
NAMES = {"five": "outcome share ", "twelve": "points covariate "}
MOST = {"five": "all", "twelve": 400}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--world", choices=list(WORLDS), required=True)
    parser.add_argument("--keep", type=Path, default=Path("sampled_coverage.jsonl"))
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    sampled = WORLDS[asked.world]
    many = replace(sampled, settings={**sampled.settings, "subsets": MOST[asked.world]})
    truths = config_truths(sampled)
    for config in (sampled, many):
        run_missing(config, range(asked.draws), asked.keep, jobs=asked.jobs, job=_job)
    print("| | truth | covers, sampled | covers, many | width, sampled over many |")
    print("|---|---:|---:|---:|---:|")
    pair = [
        {line["seed"]: line for line in read_lines(asked.keep, c.label)} for c in (sampled, many)
    ]
    seeds = sorted(set(pair[0]) & set(pair[1]))
    rows = [_row(name, truth, [[one[s] for s in seeds] for one in pair])
            for name, truth in truths.items() if name.startswith(NAMES[asked.world])]  # fmt: skip
    for row in rows:
        print("| {} | {:.4f} | {:.3f} | {:.3f} | {:.3f} |".format(*row))
    means = [float(np.mean([row[k] for row in rows])) for k in (2, 3)]
    print(f"{len(seeds)} draws; on average {means[0]:.3f} and {means[1]:.3f}")


def _job(config: Config, seed: int) -> Line:
    """A replicate that samples subsets even of few players, unless it asks for all."""
    game._EXACT_UP_TO = subsets.ALL_PLAYERS = 0
    return replicate(config, seed)


def _row(
    name: str, truth: float, lines: list[list[Line]]
) -> tuple[str, float, float, float, float]:
    found = [np.array([one["estimates"][name][2:4] for one in some], dtype=float) for some in lines]
    held = [float(np.mean((low <= truth) & (truth <= high))) for low, high in (f.T for f in found)]
    widths = [statistics.median(f[:, 1] - f[:, 0]) for f in found]
    return name, truth, held[0], held[1], widths[0] / widths[1]


if __name__ == "__main__":
    main()
