"""Roles guessed from the tables themselves; every guess is to be read by a person."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from whygap.domains import ByDomain
from whygap.errors import ColumnError
from whygap.tables.columns import RawColumn, raw_column
from whygap.tables.frame import Frame
from whygap.tables.read import open_table

__all__ = ["GuessedRoles", "guess_roles"]

OUTCOME = re.compile(
    r"^(y|label|outcome|target|class|event)$|readmi|died|death|mortal|default|churn|diagnos|"
    r"employed|coverage|approved|fraud|_?outcome_?|_label$",
    re.IGNORECASE,
)
PREDICTION = re.compile(r"pred|prob|risk|score|yhat|y_hat|p_hat", re.IGNORECASE)
BASELINE = re.compile(
    r"^(age|agep|sex|gender|female|male|race|rac1p|ethnic\w*|race_\w+|hispanic)$", re.IGNORECASE
)
WEIGHTS = re.compile(r"(^|_)(weights?|wt|wgt|pwgtp)$", re.IGNORECASE)
CLUSTERS = re.compile(
    r"(^|_)(household|patient|subject|person|hospital|site|cluster|family|serialno)"
    r"(_?(id|nr|no))?$|_id$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class GuessedRoles:
    """A guess per role; None or empty where nothing fits."""

    outcome: str | None = None
    prediction: str | None = None
    weights: str | None = None
    clusters: str | None = None
    baseline: tuple[str, ...] = ()
    covariates: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    outcome_values: tuple[str, ...] = field(default=())


def guess_roles(source: Any, target: Any) -> GuessedRoles:
    """Read both tables and guess, by names first and values second."""
    tables = ByDomain(open_table(source, "source"), open_table(target, "target"))
    names = [name for name in tables.source.names if name in set(tables.target.names)]
    frame = tables.source.read(names)
    return assign(readable(frame, names))


def readable(frame: Frame, names: Sequence[str]) -> dict[str, RawColumn]:
    """Columns that hold single values."""
    found = {}
    for name in names:
        try:
            found[name] = raw_column(frame.arrow(name), name, frame.label)
        except ColumnError:
            continue
    return found


def assign(columns: dict[str, RawColumn]) -> GuessedRoles:
    """One role per column, the most telling roles first."""
    left = dict(columns)

    def take(test: Callable[[str, RawColumn], bool]) -> str | None:
        for name, column in left.items():
            if test(name, column):
                del left[name]
                return name
        return None

    drop = tuple(name for name, column in left.items() if differs_everywhere(column))
    for name in drop:
        del left[name]
    weights = take(lambda name, column: WEIGHTS.search(name) is not None and is_number(column))
    clusters = take(lambda name, column: CLUSTERS.search(name) is not None and repeats(column))
    prediction = take(lambda n, c: PREDICTION.search(n) is not None and is_probability(c))
    prediction = prediction or take(lambda _, column: is_probability(column))
    outcome = take(lambda name, column: OUTCOME.search(name) is not None and two_valued(column))
    if outcome is None:
        flags = [name for name, column in left.items() if two_valued(column)]
        outcome = flags[-1] if flags else None
        left.pop(outcome or "", None)
    baseline = tuple(name for name in left if BASELINE.search(name))
    rest = tuple(name for name in left if name not in set(baseline))
    values = () if outcome is None else shown_values(columns[outcome])
    return GuessedRoles(
        outcome, prediction, weights, clusters, baseline, rest, drop, outcome_values=values
    )


def seen(column: RawColumn) -> Any:
    """The values that are not missing."""
    return column.values[~np.isnan(column.values)]


def two_valued(column: RawColumn) -> bool:
    """Exactly two distinct values."""
    return column.kind in ("number", "boolean", "text") and len(np.unique(seen(column))) == 2


def shown_values(column: RawColumn) -> tuple[str, ...]:
    """The distinct values as text."""
    distinct = np.unique(seen(column))
    if column.levels:
        return tuple(column.levels[int(i)] for i in distinct)
    return tuple(f"{value:g}" for value in distinct)


def is_number(column: RawColumn) -> bool:
    """A column of numbers."""
    return column.kind == "number"


def is_probability(column: RawColumn) -> bool:
    """Fractions from 0 to 1, more than a few of them."""
    values = seen(column)
    if not is_number(column) or not len(values):
        return False
    return bool(values.min() >= 0 and values.max() <= 1 and len(np.unique(values)) > 10)


def repeats(column: RawColumn) -> bool:
    """Many values, some of them in several rows."""
    distinct = len(np.unique(seen(column)))
    return max(10, len(column.values) / 50) < distinct < len(column.values)


def differs_everywhere(column: RawColumn) -> bool:
    """Like an identifier."""
    if column.kind == "text" or (column.kind == "number" and column.whole):
        return len(column.values) > 20 and len(np.unique(column.values)) == len(column.values)
    return False
