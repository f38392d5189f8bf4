"""Random tables of every kind people have, and ways to hand them over."""

from __future__ import annotations

import atexit
import datetime
import hashlib
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import HealthCheck
from hypothesis import strategies as st

NAMES = st.sampled_from(
    ["age", "Ålder", "年齢", "a b", "x.y", "", "id", "é" * 30, "sélect", 'quo"te', "tab\tname"]
)
FOLDER = Path(tempfile.mkdtemp(prefix="whygap-random-tables-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
TEXT = st.text(max_size=4)
SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "int": st.integers(-3, 3),
    "big int": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(),
    "bool": st.booleans(),
    "text": TEXT,
    "few": st.sampled_from(["a", "b", "ü"]),
    "date": st.dates(datetime.date(1, 1, 1), datetime.date(9000, 1, 1)),
    "datetime": st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2200, 1, 1)),
    "timedelta": st.timedeltas(datetime.timedelta(-900), datetime.timedelta(900)),
    "decimal": st.decimals(-5, 5, places=2),
    "bytes": st.binary(max_size=3),
    "mixed": st.one_of(st.integers(-2, 2), TEXT, st.floats(), st.booleans()),
    "constant": st.just(1),
    "missing": st.none(),
    "list": st.lists(st.integers(), max_size=2),
    "complex": st.complex_numbers(max_magnitude=2),
}
USUAL = ["int", "float", "bool", "few", "text", "datetime", "decimal", "huge category", "ordered"]
ODD = [*SCALARS, "unique"]
ROWS = st.sampled_from([60, 60, 120, 200, 400, 2, 0])
PAIRS = [(0, 1), (0.0, 1.0), (False, True), ("no", "yes"), (-1, 1), (1, 2), (0, 2, 1)]


def often(draw: st.DrawFn) -> bool:
    """True nine times in ten."""
    return draw(st.integers(0, 9)) < 9


@st.composite
def column_of(draw: st.DrawFn, kind: str, rows: int, least: int = 1) -> pd.Series:
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    if kind == "huge category":
        return pd.Series([f"level {i}" for i in (10_000 * rng.random(rows) ** 8).astype(int)])
    if kind == "unique":
        return pd.Series(rng.permutation(rows))
    if kind == "ordered":
        levels = ["low", "mid", "high"] if often(draw) else ["high", "low"]
        return pd.Series(
            pd.Categorical.from_codes(rng.integers(-1, len(levels), rows), levels, ordered=True)
        )
    least = 2 if kind == "bool" and least > 2 else least
    few = draw(st.lists(SCALARS[kind], min_size=least, max_size=6, unique_by=repr))
    values: list[Any] = [few[i] for i in rng.integers(0, len(few), rows)]
    if draw(st.booleans()):
        values = with_gaps(values, 0.2, rng)
    try:
        return pd.Series(values)
    except (ValueError, OverflowError, TypeError):
        return pd.Series(values, dtype=object)


def with_gaps(values: list[Any], share: float, rng: np.random.Generator) -> list[Any]:
    gone = rng.random(len(values)) < share
    return [None if g else v for v, g in zip(values, gone, strict=True)]


def outcomes(risk: Any, pull: float, values: int, rng: np.random.Generator) -> list[int]:
    """Positions of labels: the second is as likely as the risk says (pull 1) or not (pull -1)."""
    chance = 0.5 + pull * (risk - 0.5)
    second = (rng.random(len(risk)) < chance).astype(int)
    third = rng.random(len(risk)) < 0.1 if values > 2 else np.zeros(len(risk), dtype=bool)
    return [int(i) for i in np.where(third, 2, second)]


@st.composite
def table_pair(draw: st.DrawFn) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two tables of anything at all; most studies of them are refused."""
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=often(draw)))
    kinds = [draw(st.sampled_from(USUAL if often(draw) else ODD)) for _ in names]
    pair = draw(st.sampled_from(PAIRS[:5] if often(draw) else PAIRS))
    percent = 1 if often(draw) else 100
    moved = draw(st.sampled_from([0.0, 0.5, 1.0]))
    tables = []
    for pull in (1.0, 1.0 - 2 * moved):
        rows = draw(ROWS)
        rng = np.random.default_rng(draw(st.integers(0, 2**31)))
        changed = [k if often(draw) else draw(st.sampled_from(ODD)) for k in kinds]
        parts = [draw(column_of(kind, rows)) for kind in changed]
        risk = rng.random(rows)
        labels = [pair[i] for i in outcomes(risk, pull, len(pair), rng)]
        y = pd.Series(with_gaps(labels, draw(st.sampled_from([0.0, 0.1])), rng))
        frame = pd.concat([*parts, y, pd.Series(risk * percent)], axis=1)
        frame.columns = pd.Index([*names, "y", "risk"])
        tables.append(frame)
    return tables[0], tables[1]


@st.composite
def usual_pair(draw: st.DrawFn) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two tables as people have them, awkward but usable: most studies of them are explained."""
    names = draw(st.lists(NAMES.filter(bool), min_size=3, max_size=6, unique=True))
    kinds = [draw(st.sampled_from(USUAL)) for _ in names]
    pair = draw(st.sampled_from(PAIRS[:5]))
    moved = draw(st.sampled_from([0.0, 0.5, 1.0]))
    tables = []
    for pull in (1.0, 1.0 - 2 * moved):
        rows = draw(st.sampled_from([60, 120, 200, 400]))
        rng = np.random.default_rng(draw(st.integers(0, 2**31)))
        risk = np.clip(np.round(rng.random(rows), draw(st.sampled_from([1, 2, 15]))), 0.02, 0.98)
        parts = [draw(column_of(kind, rows, least=3)) for kind in kinds]
        parts[0] = pd.Series(risk > 0.5) if draw(st.booleans()) else parts[0]
        labels = [pair[i] for i in outcomes(risk, pull, 2, rng)]
        lowest = 1 if often(draw) else 0
        unit = pd.Series(rng.integers(lowest, 40, rows) / 40)  # a weight, a cluster or a risk
        frame = pd.concat([*parts, unit, pd.Series(labels), pd.Series(risk)], axis=1)
        frame.columns = pd.Index([*names, "unit", "y", "risk"])
        tables.append(frame)
    return tables[0], tables[1]


def csv_file(table: pd.DataFrame) -> Path:
    """A file of the table; its name says what is in it."""
    text = table.to_csv(index=False).encode("utf-8", errors="replace")
    path = FOLDER / f"{hashlib.sha256(text).hexdigest()}.csv"
    path.write_bytes(text)
    return path


def convert(table: pd.DataFrame, kind: str) -> Any:
    """The same table in another library, where that library can hold it at all."""
    try:
        if kind == "polars":
            return pl.from_pandas(table)
        if kind == "lazy":
            return pl.from_pandas(table).lazy()
        if kind == "csv":
            return csv_file(table)
        if kind == "pyarrow":
            return pa.Table.from_pandas(table, preserve_index=False)
    except (pa.ArrowException, pl.exceptions.PolarsError, ValueError, TypeError, OverflowError):
        return table
    return table


ARGUMENTS = {
    "tables": st.one_of(usual_pair(), table_pair()),
    "kind": st.sampled_from(["pandas", "polars", "lazy", "pyarrow", "csv"]),
    "baseline": st.integers(0, 2),
    "named": st.booleans(),
    "extra": st.sampled_from(["", "", "weights", "clusters", "source_risk"]),
    "metric": st.sampled_from(["accuracy", "brier", "log_loss"]),
}
HEALTH = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
