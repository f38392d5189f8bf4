"""Ten states against Ohio, watched: where is it guessed worse who earns more than 60,000 dollars?

The workers of 2024 (`experiments.workers`). The folder that `watch` keeps lies beside the user's
temporary files; of the tables nothing is kept but the estimates on the page.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from experiments.cases import data_folder
from experiments.pages import number, table, write_page
from experiments.record import made_by
from experiments.simulation import Order
from experiments.summary import comma_separated
from experiments.workers import ALL_STATES, HOME, QUESTIONS, workers_study
from whygap._watch import Watch, watch
from whygap.estimate import Estimate
from whygap.results import Gap
from whygap.results.files import write_whole
from whygap.settings import Settings

__all__ = ["RULES", "run", "states_table", "watched"]

PARTS = ("baseline", "covariate", "outcome")
RULES = {"looks": 10, "rule": [{"name": "guessed worse", "part": "outcome", "below": -0.01}]}
SETTINGS = Settings(learner="fast", progress=False)


def watched(data: Path | None, into: Path, rows: int | None = None, states: int = 10) -> Watch:
    """The states in the order of their names, against Ohio."""
    codes = sorted((code for code in ALL_STATES if code != HOME), key=ALL_STATES.__getitem__)
    studies = [
        workers_study(data, QUESTIONS["high"], "accuracy", code, rows) for code in codes[:states]
    ]
    targets = {study.target_name: study.target for study in studies}
    study = replace(studies[0], target_name="state")
    return watch(study, targets, state=into, settings=SETTINGS, rules=RULES)


def run(order: Order) -> Path:
    """Explain the states that are missing, write the table and the page; returns its path."""
    folder = order.folder("states")
    data_folder(order.data)
    into = Path(tempfile.gettempdir()) / "whygap-states"
    found = watched(order.data, into, *((400, 2) if order.quick else ()))
    frame = found.to_frame()
    names = list(frame.column_names)
    body = list(zip(*(frame[name].to_pylist() for name in names), strict=True))
    write_whole(folder / "states.csv", comma_separated(names, body, digits=5))
    note = (
        f"Made by engine {made_by(SETTINGS)['engine']}; every estimate is in `states.csv`. The "
        "folder of the watch is not kept here."
    )
    alarms = "\n".join(f"- {alarm}" for alarm in found.alarms) or "None."
    return write_page(
        folder / "states.md",
        order.command("states --data DIR"),
        note,
        states=states_table(found),
        alarms=alarms,
    )


def states_table(found: Watch) -> str:
    """A line for every state: the gap, its parts, the largest points."""
    body = [
        [name, _said(gap.total), *(_said(gap.parts.get(p)) for p in PARTS),
         _largest(gap)]
        for name, gap in found.gaps.items()
    ]  # fmt: skip
    return table(["state", "gap", *PARTS, "largest points"], body, text=6)


def _said(estimate: Estimate | None) -> str:
    if estimate is None:
        return "–"
    low, high = estimate.interval(0.95)
    return f"{number(100 * estimate.value, 1)} ({number(100 * low, 1)} to {number(100 * high, 1)})"


def _largest(gap: Gap) -> str:
    every = {name: points for part in gap.points.values() for name, points in part.items()}
    if not every:
        return "–"
    first = max(every, key=lambda name: abs(every[name].value))
    return f"{first}: {_said(every[first])}"
