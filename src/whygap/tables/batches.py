"""Tables that need not be in memory: read in batches, a random sample of their rows drawn."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pa_parquet
from numpy.typing import NDArray

from whygap.errors import TableError, first_line

__all__ = [
    "AT_ONCE",
    "ArrowStream",
    "chosen_rows",
    "give_back",
    "lazy_slices",
    "one_below_the_other",
    "slices",
]

AT_ONCE = 250_000  # rows of a batch: of thirty columns these are some 60 MB
SEED = 0  # of the rows that are drawn: the same table gives the same sample


def slices(native: Any, rows: int | None = None) -> Iterator[Any]:
    """A table in memory, some rows at a time."""
    frame, rows = nw.from_native(native, eager_only=True), rows or AT_ONCE
    for start in range(0, len(frame), rows):
        yield frame[start : start + rows].to_native()


def lazy_slices(plan: Any) -> Iterator[Any]:
    """A polars plan, some rows at a time; it is never collected whole."""
    total = int(nw.from_native(plan).select(nw.len()).collect().item())
    for start in range(0, total, AT_ONCE):
        yield plan.slice(start, AT_ONCE).collect(engine="streaming")


@dataclass(eq=False)
class ArrowStream:
    """A stream of record batches: it can be read once, so what was asked for is kept.

    By batches it goes to a temporary file first: drawing rows and averaging are two readings.
    """

    reader: Any
    label: str
    table: Any = None
    file: Path | None = None
    names: list[str] = field(default_factory=list)

    def load(self, columns: Sequence[str]) -> Any:
        """These columns of all rows, in memory."""
        if self.table is None:
            self._begin(columns)
            batches = [batch.select(list(columns)) for batch in self.reader]
            self.table = pa.Table.from_batches(batches, self._schema(columns))
        self._require(columns)
        return self.table.select(list(columns))

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """These columns, some rows at a time."""
        if self.table is not None:
            self._require(columns)
            yield from slices(self.table.select(list(columns)))
            return
        if self.file is None:
            self._begin(columns)
            self.file = self._written(columns)
        self._require(columns)
        yield from parquet_batches(self.file, columns)

    def _written(self, columns: Sequence[str]) -> Path:
        """A file that goes when the stream does."""
        handle, name = tempfile.mkstemp(suffix=".parquet")
        os.close(handle)
        weakref.finalize(self, Path(name).unlink, missing_ok=True)
        with pa_parquet.ParquetWriter(name, self._schema(columns)) as writer:
            for batch in self.reader:
                writer.write_batch(batch.select(list(columns)))
        return Path(name)

    def _schema(self, columns: Sequence[str]) -> Any:
        return pa.schema([self.reader.schema.field(name) for name in columns])

    def _begin(self, columns: Sequence[str]) -> None:
        if self.names:
            raise self._spent()
        self.names = list(columns)

    def _require(self, columns: Sequence[str]) -> None:
        if not set(columns) <= set(self.names):
            raise self._spent()

    def _spent(self) -> TableError:
        return TableError(
            f"The stream of the {self.label} table has been read already",
            hint="Give a table, or make the stream anew for every study.",
        )


def parquet_batches(path: Path, columns: Sequence[str]) -> Iterator[Any]:
    """Columns of a Parquet file, some rows at a time."""
    with pa_parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(AT_ONCE, columns=list(columns), use_threads=False):
            yield pa.Table.from_batches([batch]).select(list(columns))


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """Rows drawn without replacement, in their order, and how many there were."""

    native: Any
    total: int


def chosen_rows(batches: Iterable[Any], most: int, label: str = "given") -> Chosen:
    """At most so many rows: every row gets a random number, and the smallest are kept."""
    rng = np.random.default_rng(SEED)
    numbers: list[NDArray[np.float64]] = []
    parts: list[Any] = []
    total, bound = 0, np.inf
    for native in batches:
        number = rng.random(len(nw.from_native(native, eager_only=True)))
        total += len(number)
        low = number < bound
        numbers.append(number[low])
        parts.append(taken(native, low))
        if sum(map(len, numbers)) > 2 * most:  # so that at most twice as many are ever held
            bound = smallest(numbers, most)
            parts = [taken(one, n < bound) for one, n in zip(parts, numbers, strict=True)]
            numbers = [n[n < bound] for n in numbers]
    if sum(map(len, numbers)) > most:
        bound = smallest(numbers, most)
        parts = [taken(one, n < bound) for one, n in zip(parts, numbers, strict=True)]
    return Chosen(one_below_the_other(parts, label), total)


def smallest(numbers: Sequence[NDArray[np.float64]], count: int) -> float:
    """What exactly so many of the numbers lie below."""
    return float(np.partition(np.concatenate(numbers), count)[count])


def taken(native: Any, rows: NDArray[np.bool_]) -> Any:
    return nw.from_native(native, eager_only=True)[np.flatnonzero(rows)].to_native()


def one_below_the_other(parts: Sequence[Any], label: str) -> Any:
    """One table of several of the same columns."""
    filled = [part for part in parts if len(nw.from_native(part, eager_only=True))] or parts[:1]
    if all(isinstance(part, pa.Table) for part in filled):
        try:
            return pa.concat_tables(filled, promote_options="permissive")
        except pa.ArrowException as err:
            raise TableError(
                f"The files of the {label} table have columns of different types",
                got=first_line(err),
            ) from err
    frames = [nw.from_native(part, eager_only=True) for part in filled]
    return nw.concat(frames, how="vertical").to_native()


def give_back() -> None:
    """Arrow keeps what tables took for the next ones: of a million rows, more than a gigabyte."""
    pa.default_memory_pool().release_unused()


Stream = Callable[[Sequence[str]], Iterator[Any]]
