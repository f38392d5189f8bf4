"""Canaries: a dozen small replicates whose numbers are stored, so that a change of them is seen.

    python -m experiments canaries              compare with what is stored
    python -m experiments canaries --write      store the numbers of today

`tests/canaries` compares them at every change. A number that moved by more than `TOLERANCE`
standard errors means: raise `ENGINE` (`whygap._version`), store the numbers anew and say why in the
changelog; or take the change back.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from experiments.analysis import Found, PartName, Subset, analyse, draw
from experiments.worlds.by_name import make_world
from whygap._version import ENGINE
from whygap.results.files import write_whole
from whygap.settings import Settings
from whygap.tables.design import Design

__all__ = ["CANARIES", "STORED", "TOLERANCE", "Canary", "measure", "moved", "run", "stored"]

STORED = Path(__file__).resolve().parents[1] / "tests" / "canaries" / "numbers.json"
TOLERANCE = 0.02  # standard errors: above what libraries and processors differ by, below any choice
LEAST_ERROR = 1e-6  # a number without sampling error may differ by rounding


@dataclass(frozen=True)
class Canary:
    """One small analysis.

    Attributes:
        world: a name of `experiments.worlds.by_name`, or "employment".
        rows: source and target rows.
        parts: detailed parts; none is the aggregate alone.
        settings: settings other than the defaults; the learner is `fast` unless named.
        metric: a metric of whygap.
        subsets: player numbers of the subsets to value; None values all and solves for shares.
        kind: which null world.
        no_baseline: W is empty.
        weighted: rows have weights.
    """

    world: str = "gaussian"
    rows: tuple[int, int] = (500, 500)
    parts: tuple[PartName, ...] = ()
    settings: tuple[tuple[str, Any], ...] = ()
    metric: str = "accuracy"
    subsets: tuple[Subset, ...] | None = None
    kind: str = ""
    no_baseline: bool = False
    weighted: bool = False


SINGLES: tuple[Subset, ...] = ((), (0,), (1,))
CANARIES = {
    "aggregate": Canary(metric="brier"),
    "aggregate, no W": Canary(no_baseline=True),
    "covariate": Canary(rows=(2000, 2000), parts=("covariate",)),
    "outcome": Canary(parts=("outcome",)),
    "outcome, two repeats": Canary(parts=("outcome",), subsets=SINGLES, settings=(("repeats", 2),)),
    "known source risk": Canary(world="known_risk", parts=("outcome",), subsets=SINGLES),
    "five players": Canary(world="comparison_b", parts=("outcome",)),
    "null": Canary(world="null", kind="identical", parts=("covariate", "outcome"), subsets=((),)),
    "untuned": Canary(world="untuned", rows=(600, 400), parts=("outcome",)),
    "clusters": Canary(world="clustered", parts=("covariate",), subsets=SINGLES),
    "weights": Canary(parts=("covariate", "outcome"), subsets=SINGLES, weighted=True),
    "real rows": Canary(world="employment", parts=("covariate", "outcome"), subsets=SINGLES),
    "auto": Canary(rows=(2000, 2000), parts=("covariate",), settings=(("learner", "auto"),)),
    "auto, real rows": Canary(
        world="employment", parts=("outcome",), subsets=SINGLES, settings=(("learner", "auto"),)
    ),
}
Numbers = dict[str, list[float]]


def measure(canary: Canary) -> Numbers:
    """Every estimate of one canary: [value, standard error]."""
    settings = Settings(
        **{"learner": "fast", "seed": 1, "progress": False, "support": "all"}
        | dict(canary.settings)
    )
    found = analyse(_design(canary), settings, canary.parts, canary.subsets, 0.9)
    return {name: [e.value, e.standard_error] for name, e in _kept(found).items()}


def _kept(found: Found) -> dict[str, Any]:
    return {name: e for name, e in found.estimates.items() if np.isfinite(e.value)}


def _design(canary: Canary) -> Design:
    if canary.world == "employment":
        design = _real_rows()
    else:
        kind = {"kind": canary.kind} if canary.kind else {}
        world = make_world(canary.world, canary.metric, kind)
        design = draw(world, canary.rows, seed=1)
    if canary.no_baseline:
        design = replace(design, baseline=())
    if canary.weighted:
        rng = np.random.default_rng(1)
        design = replace(design, weights=design.rows.map(lambda n: rng.uniform(0.5, 1.5, n)))
    return design


@cache
def _real_rows() -> Design:
    """Rows of the shipped employment tables, with few of their columns."""
    from whygap.datasets import load_employment

    shipped = load_employment()
    study = shipped.study(
        source=shipped.source.slice(0, 700),
        target=shipped.target.slice(0, 700),
        baseline=["sex"],
        covariates=["age", "schooling", "marital_status"],
        groups={},
    )
    return study.design


def moved(now: Numbers, before: Numbers) -> dict[str, float]:
    """By how many stored standard errors each number moved; infinitely where it is new or gone."""
    found = dict.fromkeys(now.keys() ^ before.keys(), float("inf"))
    for name in now.keys() & before.keys():
        (value, error), (old, old_error) = now[name], before[name]
        unit = max(old_error, LEAST_ERROR)
        found[name] = max(abs(value - old), abs(error - old_error)) / unit
    return found


def stored() -> dict[str, Any]:
    """What is stored: `engine` and, by canary, its numbers."""
    found: dict[str, Any] = json.loads(STORED.read_text(encoding="utf-8"))
    return found


def run(order: Any, given: argparse.Namespace) -> str:
    """Compare with what is stored, or store anew."""
    now: dict[str, Numbers] = {}
    for name, canary in CANARIES.items():
        order.report(name)
        now[name] = measure(canary)
    if given.write:
        short = {
            n: {q: [float(f"{x:.9g}") for x in e] for q, e in m.items()} for n, m in now.items()
        }
        text = json.dumps({"engine": ENGINE, "numbers": short}, indent=1, sort_keys=True)
        return f"wrote {write_whole(STORED, text + chr(10))}"
    before = stored()["numbers"]
    worst = {name: max(moved(now[name], before.get(name, {})).values()) for name in now}
    lines = [f"{name}: {distance:.2g} standard errors" for name, distance in worst.items()]
    return "\n".join([*lines, f"tolerance: {TOLERANCE} standard errors"])
