"""A wide synthetic study, generated in chunks: normal and categorical columns, both shifts.

`wide_design` makes the arrays an analysis starts from; `wide_study` writes Parquet files chunk by
chunk and asks about them, so that reading and encoding are measured too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import whygap as wg
from whygap.domains import ByDomain
from whygap.tables.design import Column, Design, Player

CHUNK = 100_000
BASELINE = 3
LEVELS = 5


@dataclass(frozen=True)
class _World:
    """Every fourth column a category of five levels; accuracy of a linear model.

    In the target one covariate moves by a standard deviation, towards values where outcomes are
    noisier, and another loses its effect.
    """

    columns: int
    players: int

    @property
    def kinds(self) -> list[str]:
        return ["category" if j % 4 == 3 else "numeric" for j in range(self.columns)]

    @property
    def weight(self) -> np.ndarray:
        weight = np.random.default_rng(1).normal(size=self.columns) / np.sqrt(self.columns)
        weight[[BASELINE + 1, BASELINE + 2]] = 1.0, 1.0
        return weight

    @property
    def groups(self) -> dict[str, list[int]]:
        parts = np.array_split(np.arange(BASELINE, self.columns), self.players)
        return {f"g{k}": [int(j) for j in part] for k, part in enumerate(parts)}

    def predicted(self, table: np.ndarray) -> np.ndarray:
        return (table @ self.weight > 0).astype(float)


def wide_design(rows: int, columns: int, players: int) -> Design:
    """`rows` per domain, as arrays."""
    world = _World(columns, players)
    features, outcome = {}, {}
    for shifted, domain in enumerate(("source", "target")):
        table, label = np.empty((rows, columns)), np.empty(rows)
        for part, rng in _chunks(rows, shifted):
            table[part], label[part] = _rows(world, part, shifted, rng)
        features[domain], outcome[domain] = table, label
    tables, labels = ByDomain(**features), ByDomain(**outcome)
    predicted = tables.map(world.predicted)
    return Design.affine(
        features=tables,
        columns=tuple(
            Column(f"x{j}", kind)  # type: ignore[arg-type]
            for j, kind in enumerate(world.kinds)
        ),
        baseline=tuple(range(BASELINE)),
        players=tuple(Player(name, tuple(group)) for name, group in world.groups.items()),
        outcome=labels,
        prediction=predicted,
        intercept=predicted.map(lambda p: 1 - p),
        slope=predicted.map(lambda p: 2 * p - 1),
    )


def wide_study(folder: Path, rows: int, columns: int, players: int) -> wg.Study:
    """The same rows in two Parquet files, categories as text; nothing is read yet."""
    world = _World(columns, players)
    paths = [folder / f"{domain}.parquet" for domain in ("source", "target")]
    for shifted, path in enumerate(paths):
        writer = None
        for part, rng in _chunks(rows, shifted):
            table = _arrow(world, *_rows(world, part, shifted, rng))
            writer = writer or pq.ParquetWriter(path, table.schema)
            writer.write_table(table)
        if writer is not None:
            writer.close()
    return wg.Study(
        *paths,
        outcome="y",
        baseline=[f"x{j}" for j in range(BASELINE)],
        prediction="label",
        groups={name: [f"x{j}" for j in group] for name, group in world.groups.items()},
    )


def _arrow(world: _World, table: np.ndarray, label: np.ndarray) -> pa.Table:
    names = np.array([f"level {k}" for k in range(LEVELS)])
    found = {
        f"x{j}": names[table[:, j].astype(int)] if kind == "category" else table[:, j]
        for j, kind in enumerate(world.kinds)
    }
    return pa.table({**found, "label": world.predicted(table), "y": label})


def _chunks(rows: int, domain: int) -> Iterator[tuple[slice, np.random.Generator]]:
    for start in range(0, rows, CHUNK):
        stop = min(start + CHUNK, rows)
        yield slice(start, stop), np.random.default_rng([7, domain, start])


def _rows(
    world: _World, part: slice, shifted: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    size = part.stop - part.start
    table = rng.normal(size=(size, world.columns))
    for j, kind in enumerate(world.kinds):
        if kind == "category":
            table[:, j] = rng.integers(0, LEVELS, size)
    table[:, BASELINE + 1] += shifted
    own = world.weight
    if shifted:
        own[BASELINE + 2] = 0.0
    score = (table @ own) * np.where(table[:, BASELINE + 1] > 1, 0.3, 1.0)
    risk = 1 / (1 + np.exp(-score))
    return table, (rng.random(size) < risk).astype(float)
