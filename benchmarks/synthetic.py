"""A wide synthetic design, generated in chunks: normal and categorical columns, both shifts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from whygap.domains import ByDomain
from whygap.tables.design import Column, Design, Player

CHUNK = 100_000
BASELINE = 3


def wide_design(rows: int, columns: int, players: int) -> Design:
    """`rows` per domain; every fourth column a category of five levels; accuracy of a linear model.

    In the target one covariate moves by half a standard deviation and another loses its effect.
    """
    kinds = ["category" if j % 4 == 3 else "numeric" for j in range(columns)]
    weight = np.random.default_rng(1).normal(size=columns) / np.sqrt(columns)
    weight[[BASELINE + 1, BASELINE + 2]] = 1.0, 1.0
    features, outcome = {}, {}
    for shifted, domain in enumerate(("source", "target")):
        table = np.empty((rows, columns))
        label = np.empty(rows)
        for part, rng in _chunks(rows, shifted):
            table[part], label[part] = _rows(kinds, weight, part, shifted, rng)
        features[domain], outcome[domain] = table, label
    tables, labels = ByDomain(**features), ByDomain(**outcome)
    predicted = tables.map(lambda x: (_score(x, weight) > 0).astype(float))
    groups = np.array_split(np.arange(BASELINE, columns), players)
    return Design(
        features=tables,
        columns=tuple(Column(f"x{j}", kind) for j, kind in enumerate(kinds)),  # type: ignore[arg-type]
        baseline=tuple(range(BASELINE)),
        players=tuple(
            Player(f"g{k}", tuple(int(j) for j in group)) for k, group in enumerate(groups)
        ),
        outcome=labels,
        prediction=predicted,
        intercept=predicted.map(lambda p: 1 - p),
        slope=predicted.map(lambda p: 2 * p - 1),
    )


def _chunks(rows: int, domain: int) -> Iterator[tuple[slice, np.random.Generator]]:
    for start in range(0, rows, CHUNK):
        stop = min(start + CHUNK, rows)
        yield slice(start, stop), np.random.default_rng([7, domain, start])


def _rows(
    kinds: list[str], weight: np.ndarray, part: slice, shifted: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    size = part.stop - part.start
    table = rng.normal(size=(size, len(kinds)))
    for j, kind in enumerate(kinds):
        if kind == "category":
            table[:, j] = rng.integers(0, 5, size)
    table[:, BASELINE + 1] += 0.5 * shifted
    own = weight.copy()
    if shifted:
        own[BASELINE + 2] = 0.0
    risk = 1 / (1 + np.exp(-_score(table, own)))
    return table, (rng.random(size) < risk).astype(float)


def _score(table: np.ndarray, weight: np.ndarray) -> np.ndarray:
    return np.asarray(table @ weight)
