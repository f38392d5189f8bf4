"""A world with known truth, made of a coarser, richer copy of a study's tables.

In a world whose atoms are the rows of a table, a column with thousands of distinct values gives
every row away: conditional means given it are those of single rows, which no analysis could learn
and no population has. So columns get few values each. And where rows are few, a cell of W, one
covariate and the risk's bin would still hold few of them: so small tables are filled up with
copies in which some covariates were swapped between rows of one domain that agree on W. Each
covariate keeps its own distribution given W in both domains.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from whygap.domains import Array, ByDomain, IntArray
from whygap.settings import Settings
from whygap.simulate import World, semisynthetic
from whygap.tables.design import Design

__all__ = ["PLAN", "coarsened", "copies_needed", "enriched", "world_of"]


@dataclass(frozen=True, slots=True)
class PoolPlan:
    """How rich the pool of atoms is, and how its risks are fitted."""

    atoms: int = 20_000  # aimed at: small tables are filled up with copies until there are as many
    levels: int = 8  # values of a covariate, at most: a curve still shows, and each has many rows
    baseline_levels: int = 10  # of a W column, before their product is brought down to the cells
    rows_per_cell: int = 600  # of W, for means within a cell to be more than noise
    fewest_cells: int = 4  # of W: two values for each of two columns, however few the rows
    swapped: float = 0.1  # share of a covariate's values in a copy: most of a row stays together
    rounds: int = 120  # of boosting; fewer rows get fewer: their noise would become the truth
    rows_for_all_rounds: int = 3000  # from so many on, all `rounds`
    rows_per_leaf: int = 30  # of the user's own: a leaf's mean is then known to about a tenth
    least_share: float = 0.1  # of the rarer domain's share of rows: no P(domain | row) is below it


PLAN = PoolPlan()


def world_of(design: Design, settings: Settings) -> World:
    """The world in which the study's analysis is rehearsed."""
    rows, copies = min(design.rows), copies_needed(design)
    rounds = round(PLAN.rounds * min(1.0, rows / PLAN.rows_for_all_rounds) ** 0.5)
    fit = semisynthetic.Fit(
        risk_rounds=rounds,
        domain_rounds=rounds // 2,
        least_rows=PLAN.rows_per_leaf * copies,
        clip=PLAN.least_share * rows / sum(design.rows),
    )
    rng = np.random.default_rng([settings.seed, copies])
    pool = enriched(coarsened(design), copies, rng)
    return semisynthetic.from_design(pool, fit=fit, seed=settings.seed)


def coarsened(design: Design) -> Design:
    """At most eight values per covariate; one combination of W values per 600 rows or so."""
    pooled = np.concatenate(list(design.features))
    cells = max(PLAN.fewest_cells, len(pooled) / PLAN.rows_per_cell)
    most = dict.fromkeys(design.covariates, PLAN.levels)
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
    return max(1, round(PLAN.atoms / sum(design.rows)))


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
            swapped = np.flatnonzero(rng.random(len(rows)) < PLAN.swapped)
            own = cell[swapped]
            donor = order[starts[own] + (rng.random(len(own)) * sizes[own]).astype(np.int64)]
            for column in player.columns:
                copy[swapped, column] = rows[donor, column]
        blocks.append(copy)
    return np.vstack(blocks)


def _cells(columns: Array) -> IntArray:
    code = np.zeros(len(columns), dtype=np.int64)
    for column in columns.T:
        values = np.unique(column, return_inverse=True)[1]
        code = np.unique(code * (values.max() + 1) + values, return_inverse=True)[1]
    return code.astype(np.int64)


def _baseline_levels(columns: Array, cells: float) -> list[int]:
    """Values per W column, so that their product stays below the number of cells if it can."""
    levels = [min(len(np.unique(column)), PLAN.baseline_levels) for column in columns.T]
    while math.prod(levels) > cells and max(levels) > 2:
        levels[int(np.argmax(levels))] -= 1
    return levels


def _quantile_bins(column: Array, most: int) -> Array:
    """Each value becomes the median, itself a value, of its quantile bin; missing stays missing."""
    known = ~np.isnan(column)
    values = column[known]
    if len(np.unique(values)) <= most:
        return column
    edges = np.unique(np.quantile(values, np.arange(1, most) / most))
    bins = np.searchsorted(edges, values, side="right")
    for number in np.unique(bins):
        inside = bins == number
        values[inside] = np.quantile(values[inside], 0.5, method="lower")
    shrunk = column.copy()
    shrunk[known] = values
    return shrunk


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
