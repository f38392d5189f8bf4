"""A coarser, richer copy of a study's tables, so that a world made of their rows is smooth.

In a world whose atoms are the rows of a table, a column with thousands of distinct values gives
every row away: conditional means given it are those of single rows, which no analysis could learn
and no population has. So columns get few values each. And where rows are few, a cell of W, one
covariate and the risk's bin would still hold few of them: so small tables are filled up with
copies in which some covariates were swapped between rows of one domain that agree on W. Each
covariate keeps its own distribution given W in both domains.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from whygap.domains import Array, ByDomain, IntArray
from whygap.tables.design import Design

__all__ = ["coarsened", "copies_needed", "enriched"]

ROWS_PER_CELL = 600
FEWEST_CELLS = 4
LEVELS = 8
POOL = 20_000
SWAPPED = 0.1


def coarsened(design: Design) -> Design:
    """At most eight values per covariate; one combination of W values per 600 rows or so."""
    pooled = np.concatenate(list(design.features))
    cells = max(FEWEST_CELLS, len(pooled) / ROWS_PER_CELL)
    most = dict.fromkeys(design.covariates, LEVELS)
    levels = _baseline_levels(pooled[:, list(design.baseline)], cells)
    most |= dict(zip(design.baseline, levels, strict=True))
    for position, count in most.items():
        kind = design.columns[position].kind
        shrink = _common_levels if kind == "category" else _quantile_bins
        pooled[:, position] = shrink(pooled[:, position], count)
    features = ByDomain(pooled[: design.rows.source], pooled[design.rows.source :])
    return replace(design, features=features, notes=())


def copies_needed(design: Design) -> int:
    """How many copies of each row fill the pool."""
    return max(1, round(POOL / sum(design.rows)))


def enriched(design: Design, copies: int, rng: np.random.Generator) -> Design:
    """Every row, and copies of it with some covariates of other rows of its domain and W."""
    features = design.features.map(lambda rows: _with_copies(design, rows, copies, rng))
    repeated = design.take(design.rows.map(lambda rows: np.tile(np.arange(rows), copies)))
    return replace(repeated, features=features, clusters=None, source_risk=None)


def _with_copies(design: Design, rows: Array, copies: int, rng: np.random.Generator) -> Array:
    cell = _cells(rows[:, list(design.baseline)])
    order = np.argsort(cell, kind="stable")
    starts = np.searchsorted(cell[order], np.arange(cell.max() + 2))
    sizes = np.diff(starts)
    blocks = [rows]
    for _ in range(copies - 1):
        copy = rows.copy()
        for player in design.players:
            swapped = np.flatnonzero(rng.random(len(rows)) < SWAPPED)
            own = cell[swapped]
            donor = order[starts[own] + (rng.random(len(own)) * sizes[own]).astype(np.int64)]
            for column in player.columns:
                copy[swapped, column] = rows[donor, column]
        blocks.append(copy)
    return np.vstack(blocks)


def _cells(columns: Array) -> IntArray:
    """Number the combinations of values."""
    code = np.zeros(len(columns), dtype=np.int64)
    for column in columns.T:
        values = np.unique(column, return_inverse=True)[1]
        code = np.unique(code * (values.max() + 1) + values, return_inverse=True)[1]
    return code.astype(np.int64)


def _baseline_levels(columns: Array, cells: float) -> list[int]:
    """Values per W column, so that their product stays below the number of cells if it can."""
    levels = [min(_distinct(column), 10) for column in columns.T]
    while math.prod(levels) > cells and max(levels) > 2:
        levels[int(np.argmax(levels))] -= 1
    return levels


def _distinct(column: Array) -> int:
    return len(np.unique(column))


def _quantile_bins(column: Array, most: int) -> Array:
    """Each value becomes a typical one of its quantile bin; missing stays missing."""
    known = ~np.isnan(column)
    values = column[known]
    if _distinct(values) <= most:
        return column
    edges = np.unique(np.quantile(values, np.arange(1, most) / most))
    bins = np.searchsorted(edges, values, side="right").astype(np.int64)
    shrunk = column.copy()
    shrunk[known] = _typical(values, bins)[bins]
    return shrunk


def _typical(values: Array, bins: IntArray) -> Array:
    """The median of each bin, as one of its own values."""
    typical = np.zeros(int(bins.max()) + 1)
    for number in np.unique(bins):
        typical[number] = np.quantile(values[bins == number], 0.5, method="lower")
    return typical


def _common_levels(column: Array, most: int) -> Array:
    """The most frequent levels keep their codes; all others take the code of the next one."""
    known = ~np.isnan(column)
    levels, counts = np.unique(column[known], return_counts=True)
    if len(levels) <= most:
        return column
    ordered = levels[np.argsort(-counts, kind="stable")]
    shrunk = column.copy()
    shrunk[known & np.isin(column, ordered[most:])] = ordered[most - 1]
    return shrunk
