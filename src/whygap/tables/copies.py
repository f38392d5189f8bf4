"""Rows that stand more than once: in both tables, or several times in one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from whygap.domains import DOMAINS, Array, ByDomain
from whygap.notes import Fact, Note
from whygap.tables.design import Design

__all__ = ["copy_notes"]

FEW_PAIRS = 10  # of equal rows: where neither table repeats itself, chance makes no more
OFTEN = 2  # times as many as chance makes: its own count is estimated from few pairs


def copy_notes(design: Design, names: ByDomain[str]) -> Iterator[Note]:
    """Rows equal in every column that chance does not explain.

    Rows of few codes are equal often, measured ones never; so how often chance makes them equal is
    read off the tables. Two independent tables have no more equal pairs between them than they have
    within, per pair of rows (by Cauchy and Schwarz). One table has more than both the other one and
    the pairs between them where its rows were copied.
    """
    counts = row_keys(design).map(lambda keys: np.unique(keys, return_counts=True))
    number = counts.map(lambda found: found[1].astype(float))
    rows = number.map(lambda n: float(n.sum()))
    _, *here = np.intersect1d(
        counts.source[0], counts.target[0], assume_unique=True, return_indices=True
    )
    between = float(number.source[here[0]] @ number.target[here[1]])
    pairs = number.map(lambda n: float(n @ (n - 1)))
    rate = pairs.zip(rows, lambda n, total: n / max(total * (total - 1), 1))
    across = between / (rows.source * rows.target)
    if _too_many(between, rows.source * rows.target * (rate.source * rate.target) ** 0.5):
        shared = int(number.target[here[1]].sum())
        facts: dict[str, Fact] = {"shared": shared, "rows": int(rows.target)}
        yield Note(
            "shared_rows", "warning", {**facts, "source": names.source, "target": names.target}
        )
    if design.clusters is None:
        yield from _within(number, rate, across, names)


def _too_many(found: float, by_chance: float) -> bool:
    return found > OFTEN * by_chance + FEW_PAIRS


def _within(
    number: ByDomain[Array], rate: ByDomain[float], across: float, names: ByDomain[str]
) -> Iterator[Note]:
    for domain, other, name in zip(DOMAINS, reversed(DOMAINS), names, strict=True):
        own, rows = number[domain], float(number[domain].sum())
        pairs = rows * (rows - 1)
        if _too_many(pairs * rate[domain], pairs * max(rate[other], across)):
            copies = int((own - 1).sum())
            facts: dict[str, Fact] = {"repeated": copies, "rows": int(rows), "table": name}
            yield Note("repeated_rows", "warning", facts)


def row_keys(design: Design) -> ByDomain[NDArray[np.uint64]]:
    """One number a row: equal rows have equal ones, and others practically never."""
    draw = np.random.default_rng(0)
    pairs = zip(design.features, design.outcome, design.prediction, strict=True)
    tables = [[*x.T, y, p] for x, y, p in pairs]
    factors = draw.integers(0, 2**63, len(tables[0]), dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    keys = []
    for columns in tables:
        key = np.zeros(len(columns[-1]), dtype=np.uint64)
        for values, factor in zip(columns, factors, strict=True):
            key = mixed(key * factor + mixed(_bits(values)))
        keys.append(key)
    return ByDomain(*keys)


def _bits(values: Array) -> NDArray[np.uint64]:
    plain = np.where(np.isnan(values), np.nan, values + 0.0)  # one NaN, and -0 is 0
    return np.ascontiguousarray(plain, dtype=np.float64).view(np.uint64)


def mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Every bit depends on every other (the finisher of splitmix64)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
