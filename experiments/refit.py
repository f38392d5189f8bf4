"""Does a repaired model win what was forecast? Held-out rows decide.

Three forecasts of an analysis are put to the test in the target: correcting the score, correcting
it with the variable named first, and with all columns. In the correlated world fresh rows are free,
and a plain gradient boosting of the score and these columns is judged on them. Of real tables
(`--data`) half of the target's rows are analysed; on the other half a revision
(`experiments.repair`) is fitted and judged, every row by a model that has not seen it. A revision
always knows W, and so do its forecasts.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special

from experiments.cases import Move, insurance_study, readmission_study
from experiments.pages import number, table, write_page
from experiments.record import engines, made_by, newest
from experiments.repair import Bench
from experiments.replicates import Config, Line, read_lines, run_missing
from experiments.simulation import Order, Plan
from experiments.summary import band, comma_separated
from experiments.worlds.by_name import make_world
from whygap.datasets import load_employment
from whygap.domains import Array, ByDomain
from whygap.nuisances.recoverable import prepare_gain
from whygap.progress import Silent
from whygap.results.files import write_whole
from whygap.running.analysis import Analysis
from whygap.running.game import probe_subsets
from whygap.settings import Settings
from whygap.study import Study
from whygap.tables.design import Design

__all__ = ["STEPS", "case", "holds", "plan", "replicate", "run"]

FRESH = 20_000  # rows that a refitted model learns from and is judged on where rows are free
LEVEL = 0.95
STEPS = ("corrected", "with the first", "with all")
SPLITS = 3  # ways of halving the target of a real comparison
MOVES = (
    Move("NE", "WV"),
    Move("NE", "NM"),
    Move("NE", "WY"),
    Move("NE", "NE", 2018, 2024),
    Move("KS", "LA", 2024, 2024),
)
COMPARISONS: dict[str, Callable[[Path | None], Study]] = {
    "employment (demo)": lambda _: load_employment().study(),
    **{f"insurance, {move.name}": partial(insurance_study, move=move) for move in MOVES},
    "readmission, 3,750 each": partial(readmission_study, rows=3750),
    "readmission, 16,000 each": partial(readmission_study, rows=16000),
}


def plan(*, quick: bool) -> Plan:
    """The correlated world."""
    settings = {"learner": "fast", "subsets": 160}
    world = Config(world="correlated", rows=(2000, 2000), settings=settings, level=LEVEL,
                   parts=("recoverable",), options={"refit": "boosted"})  # fmt: skip
    return [(world, 2 if quick else 100)]


def case(name: str) -> Config:
    """One of the real comparisons."""
    return Config(world="case", options={"case": name}, settings={"learner": "fast"},
                  parts=("recoverable",), level=LEVEL)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Forecast:
    """The variable named first, and of every step what is forecast and its standard error."""

    first: str
    steps: Mapping[str, tuple[float, float]]


def _forecast(design: Design, settings: Settings, given: int) -> Forecast:
    """What can be won here; the first `given` players, columns of W, are known in every step."""
    analysis = Analysis.begin(design, settings, Silent())
    recoverable = analysis.details(("recoverable",)).recoverable
    shares = recoverable.variables if recoverable else None
    if not shares:
        return Forecast("", {})
    names = list(shares)
    first = max(range(given, len(names)), key=lambda player: shares[names[player]].value)
    game = prepare_gain(analysis.crossfits[0], "target", probe_subsets(len(names), settings.seed))
    known = tuple(range(given))
    subsets = (known, (*known, first), tuple(range(len(names))))
    values = (game.value(subset) for subset in subsets)
    steps = {step: (v.value, v.standard_error) for step, v in zip(STEPS, values, strict=True)}
    return Forecast(names[first], steps)


def replicate(config: Config, seed: int) -> Line:
    """Forecasts of one draw, and what refitted models win on fresh rows."""
    started, settings = time.process_time(), config.settings_of(seed)
    world = make_world(config.world, config.metric, {})
    rng = np.random.default_rng([seed, *config.rows])
    design = world.draw(ByDomain(*config.rows), rng)
    train, judge = (world.draw(ByDomain(2, FRESH), rng) for _ in range(2))
    forecast = _forecast(design, settings, given=0)
    names = [design.columns[c].name for c in design.baseline + design.covariates]
    columns = ([], [names.index(forecast.first)], list(range(len(names))))
    won = {step: _won(train, judge, chosen) for step, chosen in zip(STEPS, columns, strict=True)}
    return _line(config, seed, settings, started, forecast, won)


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


def _on_real_rows(data: Path | None, config: Config, seed: int) -> Line:
    """Half of the target's rows are analysed; on the other half a revision is fitted and judged."""
    started, settings = time.process_time(), config.settings_of(seed)
    design = COMPARISONS[str(config.options["case"])](data).design
    order = np.random.default_rng(seed).permutation(design.rows.target)
    half = len(order) // 2
    everyone = np.arange(design.rows.source)
    mine, others = (design.take(ByDomain(everyone, rows)) for rows in (order[:half], order[half:]))
    forecast = _forecast(mine, settings, given=len(design.baseline))
    won = _revised(others, forecast.first, settings)
    return _line(config, seed, settings, started, forecast, won)


def _revised(design: Design, first: str, settings: Settings) -> dict[str, tuple[float, float]]:
    """What a revision wins of squared error when it starts from the model's own score."""
    bench = Bench(replace(design, source_risk=design.prediction), settings)
    names = [player.name for player in design.players]
    chosen = ((), (names.index(first),), tuple(range(len(names))))
    before, found = bench.original().scores.brier, {}
    for step, players in zip(STEPS, chosen, strict=True):
        saved = before - bench.targeted(players).scores.brier
        found[step] = (saved.value, saved.standard_error)
    return found


def _line(
    config: Config,
    seed: int,
    settings: Settings,
    started: float,
    forecast: Forecast,
    won: Mapping[str, tuple[float, float]],
) -> Line:
    steps = {step: [*forecast.steps[step], *won[step]] for step in forecast.steps}
    return {
        "config": config.label,
        "seed": seed,
        **made_by(settings),
        "cpu_seconds": round(time.process_time() - started, 2),
        "first": forecast.first,
        "steps": steps,
    }


def run(order: Order) -> Path:
    """Run what is missing, write the table and the page."""
    folder = order.folder("refit")
    path, drawn = folder / "replicates.jsonl", []
    how: dict[str, Any] = {"jobs": order.jobs, "anew": order.anew, "report": order.report}
    for config, count in plan(quick=order.quick):
        if order.jobs:
            run_missing(config, range(count), path, job=replicate, **how)
        drawn += newest(read_lines(path, config.label))
    real = {}
    for name in COMPARISONS:
        if order.jobs and order.data is not None and not order.quick:
            job = partial(_on_real_rows, order.data)
            run_missing(case(name), range(SPLITS), path, job=job, **how)
        real[name] = newest(read_lines(path, case(name).label))
    lines = [*drawn, *(line for kept in real.values() for line in kept)]
    head = ["config", "seed", "first", "step", "forecast", "error", "won", "error of won"]
    body = [[ln["config"], ln["seed"], ln["first"], step, *numbers]
            for ln in lines for step, numbers in ln["steps"].items()]  # fmt: skip
    write_whole(folder / "refit.csv", comma_separated(head, body, digits=5))
    tested = [line["steps"][step] for kept in real.values() for line in kept for step in STEPS]
    held, held_jointly = (
        sum(holds(numbers, at_once=count) for numbers in tested)
        for count in (len(STEPS), max(len(tested), 1))
    )
    note = f"{engines(lines)} Draws are kept in `replicates.jsonl`."
    command = order.command("refit --data DIR")
    return write_page(folder / "refit.md", command, note, world=_table(drawn), real=_real(real),
                      draws=len(drawn), held=held, held_jointly=held_jointly, of=len(tested),
                      band=band(LEVEL, max(len(drawn), 1)))  # fmt: skip


def holds(numbers: Sequence[float], at_once: int = 1) -> bool:
    """Whether forecast and gain agree, the errors of both counted; `at_once` by Bonferroni."""
    forecast, error, won, error_of_won = numbers
    reach = float(special.ndtri(1 - (1 - LEVEL) / 2 / at_once))
    return abs(won - forecast) <= reach * math.hypot(error, error_of_won)


def _table(lines: Sequence[Line]) -> str:
    body = []
    for step in STEPS if lines else ():
        numbers = np.array([line["steps"][step] for line in lines])
        held = float(np.mean([holds(row) for row in numbers]))
        means = (number(100 * float(numbers[:, k].mean()), 3) for k in (0, 2))
        body.append([step, *means, number(held, 2)])
    return table(["the score", "mean forecast", "mean won", "won what was forecast"], body)


def _real(cases: Mapping[str, Sequence[Line]]) -> str:
    body = []
    for name, lines in cases.items():
        for line in lines:
            for step in STEPS:
                numbers = line["steps"][step]
                forecast, error, won, error_of_won = numbers
                low, high = (100 * (forecast + side * 1.96 * error) for side in (-1, 1))
                body.append(
                    [
                        f"{name}, {line['seed'] + 1}",
                        step.replace("the first", line["first"]),
                        number(100 * forecast, 2),
                        f"{number(low, 2)} to {number(high, 2)}",
                        f"{number(100 * won, 2)} ± {number(196 * error_of_won, 2)}",
                        "yes" if holds(numbers, at_once=len(STEPS)) else "**no**",
                    ]
                )
    head = ["comparison, halving", "the score", "forecast", "95%", "won", "as forecast"]
    return table(head, body)
