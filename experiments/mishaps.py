"""Mishaps: one column of one table spoilt; does an answer come out that is sure and wrong?

A sure and wrong answer: the tables count as comparable, no problem is shown, and the 95% interval
of an inner part excludes the truth of the tables as they were. Where the intervals of the tables as
they were miss the truth as well, it was chance and not the mishap, and tables are drawn anew.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from experiments.pages import LEVEL, table, write_page
from experiments.record import engine_of, engines, made_by, newest
from experiments.replicates import Config, Line, run_missing
from experiments.simulation import Order, all_lines, pack
from experiments.worlds import clinic
from whygap._explain import explain
from whygap._version import ENGINE
from whygap.domains import Array, ByDomain
from whygap.errors import WhygapError
from whygap.results import Gap
from whygap.settings import Settings
from whygap.study import Study

__all__ = ["KINDS", "replicate", "run", "spoil"]

PARTS = ("baseline", "covariate", "outcome")
ROWS = (900, 700)
FACTORS = (1000, 100, 60, 18.02, 12, 10, 2.54, 2.205)  # grams, cents, minutes, mmol, inches, pounds
ORIGINS = (-273.15, -32, 1, 32, 100, 273.15, 1900)  # kelvin, Fahrenheit, counting from 1, years
CHOSEN, JUDGED = "chosen", "judged"  # draws that decisions were made on, and those that judge them
UNTOUCHED = "untouched"  # nothing is spoilt: how often is an alarm false?
DRAWS = 100  # pairs of tables that a seed may draw
COUNTS = {CHOSEN: 60, JUDGED: 200, UNTOUCHED: 60}
FIRST = {CHOSEN: 0, JUDGED: 3_000_000, UNTOUCHED: 2_000_000}  # draws that have no table in common


def _scaled(column: pd.Series, rng: np.random.Generator) -> Any:
    factor = float(rng.choice(FACTORS)) ** rng.choice([-1, 1])
    return _numbers(column) * factor


def _shifted(column: pd.Series, rng: np.random.Generator) -> Any:
    return _numbers(column) + float(rng.choice(ORIGINS))


def _recoded(column: pd.Series, rng: np.random.Generator) -> Any:
    """Texts in other letters or as codes; few codes in another order; numbers as codes of bins."""
    if not is_numeric_dtype(column):
        way = rng.integers(4)
        other = {"Yes": ["yes", "1", "2", "No"], "No": ["no", "0", "1", "Yes"]}
        return column.map({level: codes[way] for level, codes in other.items()})
    known = np.unique(column)
    if len(known) <= 10:
        return column.map(dict(zip(known, rng.permutation(known) + rng.integers(2), strict=True)))
    return pd.Series(np.digitize(column, np.quantile(column, [0.25, 0.5, 0.75])) + 1.0)


def _sorted(column: pd.Series, rng: np.random.Generator) -> Any:
    return pd.Series(np.sort(column)[:: rng.choice([-1, 1])])


def _counter(column: pd.Series, rng: np.random.Generator) -> Any:
    return pd.Series(np.arange(len(column), dtype=float) + rng.integers(2))


KINDS: dict[str, Callable[[pd.Series, np.random.Generator], Any]] = {
    "scaled": _scaled,
    "shifted": _shifted,
    "recoded": _recoded,
    "sorted": _sorted,
    "counter": _counter,
}


def _numbers(column: pd.Series) -> Array:
    """A column's numbers; a text's codes."""
    return np.asarray(column if is_numeric_dtype(column) else column == "Yes", dtype=float)


def spoil(tables: ByDomain[pd.DataFrame], seed: int) -> tuple[ByDomain[pd.DataFrame], str]:
    """One column of one table spoilt, and what was done in a few words."""
    rng = np.random.default_rng([seed, 1])
    kind, column = rng.choice(list(KINDS)), rng.choice(clinic.COLUMNS)
    place = "target" if rng.random() < 0.5 else "source"
    is_source = place == "source"
    spoilt, other = (tables.source, tables.target) if is_source else (tables.target, tables.source)
    rest = other
    if kind in ("scaled", "shifted") and not is_numeric_dtype(spoilt[column]):
        # Numbers in one table and texts in the other are refused; let both be numbers.
        rest = other.assign(**{column: _numbers(other[column])})
    made = spoilt.assign(**{column: np.asarray(KINDS[kind](spoilt[column], rng))})
    pair = ByDomain(made, rest) if is_source else ByDomain(rest, made)
    return pair, f"{kind} {column} in the {place}"


def explained(tables: ByDomain[pd.DataFrame], seed: int) -> Gap:
    """The parts of the gap, with the fast learner."""
    study = Study(
        tables.source, tables.target, outcome="y", prediction="risk", baseline=["age"]
    )  # fmt: skip
    settings = Settings(learner="fast", progress=False, seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return explain(study, detail=(), settings=settings)


def missed(gap: Gap) -> list[str]:
    """Inner parts whose interval excludes the truth of the tables as they were."""
    true, parts = clinic.truth(), gap.parts
    found = []
    for name in PARTS:
        if name in parts:
            low, high = parts[name].interval(LEVEL)
            if not low <= getattr(true, name) <= high:
                found.append(name)
    return found


def outcome_of(tables: ByDomain[pd.DataFrame], seed: int) -> Line:
    """What a user is told of two tables, and whether it is wrong."""
    try:
        gap = explained(tables, seed)
    except WhygapError as error:
        return {"comparable": False, "region": False, "problems": [str(error)], "missed": []}
    return {
        "comparable": gap.comparable,
        "region": "source_only" in gap.parts,
        "problems": list(gap.problems()),
        "missed": missed(gap),
    }


def replicate(config: Config, seed: int) -> Line:
    """Draw two tables, spoil a column of one, explain, and say what came of it."""
    started = time.process_time()
    draws = config.options["draws"]
    first = seed + FIRST[draws]
    for number in range(first * DRAWS, (first + 1) * DRAWS):
        tables = clinic.draw(config.rows, number)
        pair, words = (tables, "nothing") if draws == UNTOUCHED else spoil(tables, number)
        found = outcome_of(pair, seed)
        if not (is_wrong(found) and missed(explained(tables, seed))):
            break
    line = {"config": config.label, "seed": seed, "draw": number, "mishap": words, **found}
    settings = Settings(learner="fast", progress=False, seed=seed)
    spent = {"cpu_seconds": round(time.process_time() - started, 2)}
    return line | made_by(settings) | spent


def is_wrong(line: Line) -> bool:
    """Sure and wrong."""
    return bool(line["comparable"] and not line["problems"] and line["missed"])


def plan(*, quick: bool) -> list[tuple[Config, int]]:
    """The draws on which detection was chosen, and those that judge it."""
    counts = {JUDGED: 20} if quick else COUNTS
    return [
        (Config("clinic", ROWS, parts=(), options={"draws": draws}), count)
        for draws, count in counts.items()
    ]


def run(order: Order) -> Path:
    """Run what is missing and write the page; returns its path."""
    folder = order.folder("mishaps")
    steps = plan(quick=order.quick)
    kept: dict[str, list[Line]] = {}
    for config, count in steps:
        lines = [line for line in all_lines(folder) if line["config"] == config.label]
        done = {ln["seed"] for ln in lines if not order.anew or engine_of(ln) == ENGINE}
        missing = [seed for seed in range(count) if seed not in done] if order.jobs else []
        if missing:
            path = folder / "replicates.jsonl"
            how: dict[str, Any] = {"jobs": order.jobs, "report": order.report, "job": replicate}
            lines += run_missing(config, missing, path, anew=order.anew, **how)
        kept[config.options["draws"]] = newest(lines)
    pack(folder)
    everything = [line for lines in kept.values() for line in lines]
    note = f"{len(everything)} mishaps, kept in `replicates.jsonl.gz`. {engines(everything)}"
    anew = sum(line["draw"] % DRAWS > 0 for line in everything)
    values = {"table": _table(kept), "wrong": _wrong(kept), "rows": ROWS, "anew": anew}
    return write_page(folder / "mishaps.md", order.command("mishaps"), note, **values)


def _table(kept: dict[str, list[Line]]) -> str:
    body = []
    for draws, lines in kept.items():
        for kind in ["nothing"] if draws == UNTOUCHED else KINDS:
            here = [line for line in lines if line["mishap"].startswith(kind)]
            seen = [line["problems"] and line["comparable"] for line in here]
            refused = [not line["comparable"] for line in here]
            right = [not is_wrong(line) and line["comparable"] and not line["problems"]
                     for line in here]  # fmt: skip
            wrong = [is_wrong(line) for line in here]
            body.append(
                [draws, kind, len(here), *map(sum, (refused, map(bool, seen), right, wrong))]
            )
    head = ["draws", "mishap", "number", "not comparable", "problem shown", "right", "wrong"]
    return table(head, body, text=2)


def _wrong(kept: dict[str, list[Line]]) -> list[str]:
    found = [(draws, line) for draws, lines in kept.items() for line in lines if is_wrong(line)]
    return [f"{draws}: {line['mishap']} ({', '.join(line['missed'])})" for draws, line in found]
