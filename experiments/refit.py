"""Does a refitted model win what was forecast? Held-out rows decide.

Three forecasts of an analysis are put to the test in the target: recalibrating the score, refitting
with the variable named first beside it, and refitting with all columns. The refitted model is a
gradient boosting of the score and these columns that sees other rows than those it is judged on. In
the correlated world fresh rows are free; of the insurance tables (`--data`) half of the target's
rows are analysed and refitted on, the other half judge.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from experiments.pages import number, table, write_page
from experiments.record import engine_of, engines, made_by
from experiments.replicates import Config, Line, read_lines, run_missing
from experiments.simulation import Order, Plan
from experiments.summary import band, comma_separated
from experiments.worlds.by_name import make_world
from whygap.domains import Array, ByDomain, IntArray
from whygap.nuisances.recoverable import prepare_gain
from whygap.progress import Silent
from whygap.running.analysis import Analysis
from whygap.running.game import probe_subsets
from whygap.settings import Settings
from whygap.storage.files import write_whole
from whygap.tables.design import Design

__all__ = ["plan", "replicate", "run"]

FRESH = 20_000  # rows that a refitted model learns from and is judged on where rows are free
LEVEL = 0.95
STEPS = ("recalibrated", "with the first", "with all")


def plan(*, quick: bool) -> Plan:
    """The correlated world."""
    settings = {"learner": "fast", "subsets": 160}
    world = Config(world="correlated", rows=(2000, 2000), settings=settings, level=LEVEL,
                   parts=("recoverable",), options={"refit": "boosted"})  # fmt: skip
    return [(world, 2 if quick else 50)]


def replicate(config: Config, seed: int) -> Line:
    """Forecasts of one draw, and what refitted models win on fresh rows."""
    started, settings = time.process_time(), config.settings_of(seed)
    world = make_world(config.world, config.metric, {})
    rng = np.random.default_rng([seed, *config.rows])
    design = world.draw(ByDomain(*config.rows), rng)
    train, judge = (world.draw(ByDomain(2, FRESH), rng) for _ in range(2))
    found = _compare(design, train, judge, settings)
    return {
        "config": config.label,
        "seed": seed,
        **made_by(settings),
        "cpu_seconds": round(time.process_time() - started, 2),
        **found,
    }


def _compare(design: Design, train: Design, judge: Design, settings: Settings) -> dict[str, Any]:
    """The first variable's name; per step forecast, its error, the gain and its error."""
    analysis = Analysis.begin(design, settings, Silent())
    recoverable = analysis.details(("recoverable",)).recoverable
    shares = recoverable.here.variables if recoverable else None
    if not shares:
        return {"first": "", "steps": {}}
    first = list(shares).index(shares.largest_first()[0])
    game = prepare_gain(analysis.crossfits[0], "target", probe_subsets(len(shares), settings.seed))
    subsets = ((), (first,), tuple(range(len(shares))))
    steps = {}
    for step, subset in zip(STEPS, subsets, strict=True):
        forecast = game.value(subset)
        columns = [column for player in subset for column in game.groups[player]]
        won, error = _won(train, judge, columns)
        steps[step] = [forecast.value, forecast.standard_error, won, error]
    return {"first": list(shares)[first], "steps": steps}


def _won(train: Design, judge: Design, columns: Sequence[int]) -> tuple[float, float]:
    """Squared error that a refitted model saves on rows it has not seen, and its standard error."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        learning_rate=0.05, max_leaf_nodes=8, min_samples_leaf=50, early_stopping=True,
        random_state=0, max_iter=400,
    )  # fmt: skip
    model.fit(_inputs(train, columns), train.outcome.target)
    refitted = model.predict_proba(_inputs(judge, columns))[:, 1]
    y, f = judge.outcome.target, judge.prediction.target
    saved = (y - f) ** 2 - (y - refitted) ** 2
    return float(saved.mean()), float(saved.std(ddof=1) / math.sqrt(len(saved)))


def _inputs(design: Design, columns: Sequence[int]) -> Array:
    return np.column_stack([design.prediction.target, design.features.target[:, list(columns)]])


def run(order: Order) -> Path:
    """Run what is missing, write the table and the page."""
    folder = order.folder("refit")
    path, lines = folder / "replicates.jsonl", []
    for config, count in plan(quick=order.quick):
        if order.jobs:
            how: dict[str, Any] = {"jobs": order.jobs, "anew": order.anew, "report": order.report}
            run_missing(config, range(count), path, job=replicate, **how)
        kept = sorted(read_lines(path, config.label), key=engine_of)
        lines += list({line["seed"]: line for line in kept}.values())
    if order.jobs and order.data is not None and not order.quick:
        run_missing(INSURANCE, range(1), path, job=lambda _, seed: _insurance(order.data, seed))
    real = read_lines(path, INSURANCE.label)
    head = ["config", "seed", "first", "step", "forecast", "error", "won", "error of won"]
    body = [[ln["config"], ln["seed"], ln["first"], step, *numbers]
            for ln in [*lines, *real] for step, numbers in ln["steps"].items()]  # fmt: skip
    write_whole(folder / "refit.csv", comma_separated(head, body, digits=5))
    note = f"{engines([*lines, *real])} Draws are kept in `replicates.jsonl`."
    command = order.command("refit --data DIR")
    return write_page(folder / "refit.md", command, note, world=_table(lines), real=_real(real),
                      draws=len(lines), band=band(LEVEL, max(len(lines), 1)))  # fmt: skip


INSURANCE = Config(world="insurance", options={"move": "ne-wv"}, settings={"learner": "fast"},
                   parts=("recoverable",), rows=(3000, 3000), level=LEVEL)  # fmt: skip


def _insurance(data: Path | None, seed: int) -> Line:
    """NE to WV: half of the target's rows are analysed and refitted on, the others judge."""
    from experiments.cases import Move, insurance_study

    settings = INSURANCE.settings_of(seed)
    design = insurance_study(data, Move("NE", "WV")).design
    order = np.random.default_rng(seed).permutation(design.rows.target)
    half = len(order) // 2
    mine, others = (_with_target_rows(design, rows) for rows in (order[:half], order[half:]))
    found = _compare(mine, mine, others, settings)
    return {"config": INSURANCE.label, "seed": seed, **made_by(settings), **found}


def _with_target_rows(design: Design, rows: IntArray) -> Design:
    def taken(values: ByDomain[Array]) -> ByDomain[Array]:
        return ByDomain(values.source, values.target[rows])

    names = ("features", "outcome", "prediction", "intercept", "slope")
    return replace(design, **{name: taken(getattr(design, name)) for name in names})


def _holds(numbers: Sequence[float]) -> bool:
    """Whether what was won lies in the forecast's interval, its own error counted."""
    forecast, error, won, error_of_won = numbers
    return abs(won - forecast) <= 1.96 * math.hypot(error, error_of_won)


def _table(lines: Sequence[Line]) -> str:
    body = []
    for step in STEPS if lines else ():
        numbers = np.array([line["steps"][step] for line in lines])
        held = float(np.mean([_holds(row) for row in numbers]))
        means = (number(100 * float(numbers[:, k].mean()), 3) for k in (0, 2))
        body.append([step, *means, number(held, 2)])
    return table(["refitted", "mean forecast", "mean won", "won what was forecast"], body)


def _real(lines: Sequence[Line]) -> str:
    body = []
    for line in lines:
        for step, (forecast, error, won, error_of_won) in line["steps"].items():
            low, high = (100 * (forecast + side * 1.96 * error) for side in (-1, 1))
            inside = "yes" if _holds((forecast, error, won, error_of_won)) else "no"
            name = step.replace("the first", line["first"])
            body.append(
                [
                    name,
                    number(100 * forecast, 2),
                    f"{number(low, 2)} to {number(high, 2)}",
                    f"{number(100 * won, 2)} ± {number(196 * error_of_won, 2)}",
                    inside,
                ]
            )
    return table(["refitted", "forecast", "95%", "won on held-out rows", "as forecast"], body)
