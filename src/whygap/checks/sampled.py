"""Some of the rows and columns of a design, for trials that answer in seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from whygap.domains import Array, IntArray
from whygap.tables.design import Design, Player

FEW_CLASSES = 20  # outcome values, each of which a sample keeps rows of; more are numbers
WIDE = 50  # columns: beyond, trials with all rows and columns take minutes


def some_columns(design: Design, most: int) -> Design:
    """About `most` columns of W and Z of a wide table, evenly taken; of others all.

    A group of covariates is left its first column.
    """
    total = len(design.columns)
    if total <= WIDE:
        return design
    share = most / total
    w = _evenly(design.baseline, share)
    z = _evenly([player.columns[0] for player in design.players], share)
    position = {column: k for k, column in enumerate((*w, *z))}
    owner = {player.columns[0]: player.name for player in design.players}
    return replace(
        design,
        features=design.features.map(lambda x: x[:, list(position)]),
        columns=tuple(design.columns[c] for c in position),
        baseline=tuple(position[c] for c in w),
        players=tuple(Player(owner[c], (position[c],)) for c in z),
    )


def _evenly(columns: Sequence[int], share: float) -> list[int]:
    if not columns:
        return []
    count = max(round(share * len(columns)), min(len(columns), 2))
    return [columns[k * len(columns) // count] for k in range(count)]


def some_rows(design: Design, most: int, seed: int) -> Design:
    rng = np.random.default_rng([seed, most])
    return design.take(design.outcome.map(lambda outcome: _chosen(outcome, most, rng)))


def _chosen(outcome: Array, most: int, rng: np.random.Generator) -> IntArray:
    if len(outcome) <= most:
        return np.arange(len(outcome))
    kept, values = [], np.unique(outcome)
    if len(values) > FEW_CLASSES:
        return np.sort(rng.choice(len(outcome), most, replace=False))
    for value in values:
        rows = np.flatnonzero(outcome == value)
        count = max(round(most * len(rows) / len(outcome)), min(len(rows), 25))
        kept.append(rng.choice(rows, count, replace=False))
    return np.sort(np.concatenate(kept))
