"""Semi-synthetic worlds as files: numpy arrays only, so that replicates need no table packages.

A pool holds rows of the table it was made from. Keep it where the table may be kept.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path

import numpy as np

from experiments.worlds import VERSION
from experiments.worlds.atoms import Atoms
from whygap.domains import ByDomain
from whygap.errors import InputError
from whygap.tables.design import Column, Player

__all__ = ["is_current", "load_pool", "save_pool"]


def save_pool(world: Atoms, path: Path, made_from: str = "") -> Path:
    """Write a world of atoms; the model itself is left out."""
    path.parent.mkdir(parents=True, exist_ok=True)
    nouns = {
        "columns": [asdict(column) for column in world.columns],
        "groups": [asdict(player) for player in world.groups],
        "baseline": world.baseline,
        "worlds": VERSION,
        "made_from": made_from,
    }
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        np.savez_compressed(
            file,
            nouns=np.array(json.dumps(nouns)),
            features=world.features,
            mass_source=world.mass.source,
            mass_target=world.mass.target,
            risk_source=world.risk.source,
            risk_target=world.risk.target,
            prediction=world.prediction,
            intercept=world.intercept,
            slope=world.slope,
        )
    return partial.replace(path)


def is_current(path: Path, made_from: str = "") -> bool:
    """Whether the pool is there, of the same rows and of the present worlds."""
    if not path.exists():
        return False
    with np.load(path) as kept:
        nouns = json.loads(str(kept["nouns"]))
    return (nouns.get("worlds"), nouns.get("made_from", "")) == (VERSION, made_from)


@lru_cache(maxsize=4)
def load_pool(path: Path) -> Atoms:
    """Read a world that `save_pool` wrote."""
    if not path.exists():
        raise InputError(
            f"The pool '{path}' is not there",
            hint="Run 'python -m experiments semisynthetic --data DIR' once to build it.",
        )
    with np.load(path) as kept:
        nouns = json.loads(str(kept["nouns"]))
        return Atoms(
            features=kept["features"],
            columns=tuple(
                Column(c["name"], c["kind"], tuple(c["levels"])) for c in nouns["columns"]
            ),
            baseline=tuple(nouns["baseline"]),
            groups=tuple(Player(g["name"], tuple(g["columns"])) for g in nouns["groups"]),
            mass=ByDomain(kept["mass_source"], kept["mass_target"]),
            risk=ByDomain(kept["risk_source"], kept["risk_target"]),
            prediction=kept["prediction"],
            intercept=kept["intercept"],
            slope=kept["slope"],
        )
