"""The real comparisons told as stories: the drop, its causes, who is hit, what a repair won back.

Nothing is run here. `power` keeps what an analysis says in words, `refit` what repairs won on rows
that the analysis had not seen.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from experiments.pages import number, write_page
from experiments.power import COMPARISONS
from experiments.record import engine_of
from experiments.refit import LEVEL, STEPS, case, holds
from experiments.simulation import Order

__all__ = ["run"]

Steps = Mapping[str, Sequence[float]]
TITLES = {
    "corrected": "correcting the score with W",
    "with the first": "with {first} beside it",
    "with all": "with every column",
}


def run(order: Order) -> Path:
    """Gather and write the page; returns its path."""
    texts = _texts(order.output / "power" / "stories.jsonl")
    won = _won(order.output / "refit" / "refit.csv")
    stories = [
        {"name": name, "text": texts[name]["text"], "repairs": [_repair(*one) for one in won[name]]}
        for name in COMPARISONS
        if name in texts
    ]
    made = ", ".join(sorted({str(engine_of(line)) for line in texts.values()})) or "none"
    note = (
        f"Texts made by engine {made} when [power](../power/power.md) was run; the repairs are "
        "those of [refit](../refit/refit.md)."
    )
    command = order.command("stories")
    return write_page(
        order.folder("stories") / "stories.md", command, note, stories=stories, level=LEVEL
    )


def _texts(path: Path) -> dict[str, Mapping[str, str]]:
    """Of every comparison what the newest engine said."""
    lines = (
        [json.loads(text) for text in path.read_text("utf-8").splitlines()] if path.exists() else []
    )
    return {line["comparison"]: line for line in sorted(lines, key=engine_of)}


def _won(path: Path) -> dict[str, list[tuple[str, Steps]]]:
    """Of every comparison its halvings: the variable named first, and forecast and gain by step."""
    names = {case(name).label: name for name in COMPARISONS}
    found: dict[str, dict[str, tuple[str, dict[str, list[float]]]]] = {n: {} for n in COMPARISONS}
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if row["config"] in names:
                    _, steps = found[names[row["config"]]].setdefault(
                        row["seed"], (row["first"], {})
                    )
                    keys = ("forecast", "error", "won", "error of won")
                    steps[row["step"]] = [float(row[key]) for key in keys]
    return {name: list(halvings.values()) for name, halvings in found.items()}


def _repair(first: str, steps: Steps) -> str:
    """One halving in words."""
    told = []
    for step in STEPS:
        forecast, error, won, _ = steps[step]
        reach = 1.96 * error
        ends = f"{number(100 * (forecast - reach), 1)} to {number(100 * (forecast + reach), 1)}"
        kept = "" if holds(steps[step], len(STEPS)) else ", **not as forecast**"
        what = TITLES[step].format(first=first)
        told.append(f"{what}: {number(100 * won, 1)} won, {number(100 * forecast, 1)} forecast "
                    f"({ends}){kept}")  # fmt: skip
    return "; ".join(told)
