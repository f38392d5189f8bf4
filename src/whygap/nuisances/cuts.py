"""Cuts of a number into ranges, in words that mean exactly the same rows as the number does."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np

from whygap.domains import Array
from whygap.tables.design import Column


def cuts_near(values: Array, probabilities: Sequence[float]) -> list[float]:
    """Cuts near these quantiles of the known values; every range has rows, a constant has no cut.

    A cut belongs to the range below it.
    """
    known = values[~np.isnan(values)]
    distinct = np.unique(known)
    if len(distinct) < 2:
        return []
    quantiles = np.quantile(known, probabilities)
    below = np.searchsorted(distinct, quantiles, side="right") - 1
    places = np.unique(np.clip(below, 0, len(distinct) - 2))
    return [shortest_between(distinct[k], distinct[k + 1]) for k in places]


def shortest_between(low: float, high: float) -> float:
    """The number from `low` to below `high` with the fewest digits."""
    for digits in range(1, 17):  # seventeen digits tell every float64 from its neighbours
        for number in (low, (low + high) / 2):
            rounded = float(f"{number:.{digits}g}")
            if low <= rounded < high:
                return rounded
    return float(low)


def in_words(column: Column, number: float) -> str:
    """One value of a column as its table shows it."""
    if column.levels:
        return column.levels[int(number)] or "(empty)"
    match column.meaning:
        case "boolean":
            return str(bool(number))
        case "date":
            return _moment(timedelta(days=number), number)
        case "time":
            return _moment(timedelta(seconds=number), number)[len("1970-01-01 ") :] or "00:00"
        case _:
            return f"{number:.15g}"


def _moment(since: timedelta, number: float) -> str:
    """A day, with the time of day where it is not midnight."""
    try:
        moment = datetime(1970, 1, 1) + since
    except OverflowError:
        return f"{number:.15g}"
    if moment == datetime(moment.year, moment.month, moment.day):
        return moment.date().isoformat()
    short = "minutes" if moment.second == moment.microsecond == 0 else "seconds"
    return moment.isoformat(" ", short)
