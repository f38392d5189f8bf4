"""Cuts each domain into blocks: seeded, outcome-stratified, clusters kept together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whygap.domains import DOMAINS, Array, ByDomain, Domain, IntArray
from whygap.errors import TableError
from whygap.learning.blocks import Blocks
from whygap.settings import Settings
from whygap.tables.design import Design


def make_blocks(design: Design, settings: Settings, rng: np.random.Generator) -> Blocks:
    """Seeded, outcome-stratified, cluster-respecting blocks in each domain."""
    if settings.split is None:
        shares = np.full(settings.folds, 1.0 / settings.folds)
        evaluated = tuple(range(settings.folds))
    else:
        others = settings.folds - 1
        shares = np.array([settings.split] + [(1.0 - settings.split) / others] * others)
        evaluated = (0,)
    labels = ByDomain(*(_labels(design, d, shares, rng) for d in DOMAINS))
    for domain in DOMAINS:
        _check(labels[domain], design.outcome[domain], len(shares), domain)
    chosen = labels.zip(
        design.outcome, lambda b, y: _for_training(b, y, settings.most_training_rows, rng)
    )
    return Blocks(
        count=len(shares),
        evaluated=evaluated,
        order=labels.zip(chosen, lambda b, first: np.lexsort((~first, b))),
        bounds=labels.map(lambda b: np.searchsorted(np.sort(b), np.arange(len(shares) + 1))),
        trained=labels.zip(chosen, lambda b, first: np.bincount(b[first], minlength=len(shares))),
    )


def _for_training(
    label: IntArray, outcome: Array, most: int | None, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """At most `most` rows, the same fraction of every block and outcome."""
    if most is None or len(label) <= most:
        return np.ones(len(label), dtype=bool)
    chosen = np.zeros(len(label), dtype=bool)
    stratum = 2 * label + (outcome > 0)
    for number, size in enumerate(np.bincount(stratum)):
        rows = np.flatnonzero(stratum == number)
        count = max(1, int(size * most / len(label)))
        chosen[rng.choice(rows, min(count, size), replace=False, shuffle=False)] = True
    return chosen


def _labels(design: Design, domain: Domain, shares: Array, rng: np.random.Generator) -> IntArray:
    outcome = design.outcome[domain]
    if design.clusters is None:
        unit = np.arange(len(outcome))
    else:
        unit = np.unique(design.clusters[domain], return_inverse=True)[1]
    size = np.bincount(unit)
    stratum = np.bincount(unit, weights=outcome) > 0
    label = np.empty(len(size), dtype=np.int64)
    for value in (False, True):
        members = rng.permutation(np.flatnonzero(stratum == value))
        label[members] = _deal(size[members], shares, rng)
    return label[unit]


def _deal(size: IntArray, shares: Array, rng: np.random.Generator) -> IntArray:
    """Deal shuffled units to blocks in proportion to the shares of rows."""
    if len(size) == 0:
        return np.zeros(0, dtype=np.int64)
    reached = (np.cumsum(size) - size / 2) / size.sum()
    start = rng.permutation(len(shares))
    edges = np.cumsum(shares[start])
    place = np.minimum(np.searchsorted(edges, reached), len(shares) - 1)
    return np.asarray(start[place], dtype=np.int64)


def _check(labels: IntArray, outcome: Array, count: int, domain: Domain) -> None:
    """Every block needs rows of both outcomes; disjointness holds by construction."""
    rows = np.bincount(labels, minlength=count)
    positives = np.bincount(labels, weights=outcome, minlength=count)
    if rows.min() < 5 or positives.min() < 1 or (rows - positives).min() < 1:
        raise TableError(
            f"The {domain} table is too small for {count} folds: each needs at least 5 rows with "
            "both outcome values",
            got=f"{len(labels)} rows, {int(outcome.sum())} of them positive",
            hint="Use fewer folds, or more rows.",
        )
