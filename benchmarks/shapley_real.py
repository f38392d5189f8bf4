"""Sampling error of our shares beside shapiq's samplers on games of the paper's case.

    python benchmarks/shapley_real.py --data DIR --keep FILE [--game points] [--seeds 2]

The games are those of NE to WV with `fast`: points of the covariates, and what can be won back in
the target. A value of a subset takes a hundredth of a second, so every value is kept in FILE and
made once. True shares are ours with 2,000 subsets of another seed.
"""

from __future__ import annotations

import argparse
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from shapley_sampling import Game, compare

from experiments.cases import Move, insurance_study
from whygap.nuisances.points import covariate_points
from whygap.nuisances.recoverable import prepare_gain
from whygap.progress import Silent
from whygap.running.analysis import Analysis
from whygap.running.game import probe_subsets
from whygap.running.workers import one_thread
from whygap.settings import Settings
from whygap.shapley import SubsetPlan, linear_weights

BUDGET = 256  # about what the stopping rule asks for
MANY, OTHER_SEED = 2000, 99


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("--game", choices=["points", "here"], default="points")
    parser.add_argument("--seeds", type=int, default=2)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    with one_thread():
        errors = _compared(asked)
    for name, error in sorted(errors.items(), key=lambda pair: pair[1]):
        print(f"| {asked.game} | {BUDGET} | {name} | {error:.2f} |")


def _compared(asked: argparse.Namespace) -> dict[str, float]:
    game = _game(asked.data, asked.game)
    kept: dict[tuple[int, ...], float] = {}
    if asked.keep.exists():
        kept = pickle.loads(asked.keep.read_bytes())  # noqa: S301 - our own file

    def value(member: Any) -> np.ndarray:
        subsets = [tuple(int(k) for k in np.flatnonzero(row)) for row in np.atleast_2d(member)]
        for subset in set(subsets) - set(kept):
            kept[subset] = game.value(subset).value
        asked.keep.write_bytes(pickle.dumps(kept))
        return np.array([kept[subset] for subset in subsets])

    many = SubsetPlan(game.players, OTHER_SEED).take(MANY)
    member = np.zeros((len(many), game.players))
    for row, subset in zip(member, many, strict=True):
        row[list(subset)] = 1
    values = np.concatenate([value(part) for part in np.array_split(member, 40)])
    shapley = linear_weights(many, game.players) @ values
    return compare(Game(value, shapley), game.players, BUDGET, asked.seeds, slow=False)


def _game(data: Path, name: str) -> Any:
    design = insurance_study(data, Move("NE", "WV")).design
    (crossfit,) = Analysis.begin(design, Settings(learner="fast"), Silent()).crossfits
    if name == "points":
        return covariate_points(crossfit, probe_subsets(len(design.players), 0))
    players = len(design.baseline) + len(design.players)
    return prepare_gain(crossfit, "target", probe_subsets(players, 0))


if __name__ == "__main__":
    main()
