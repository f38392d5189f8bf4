"""The columns that are neither W, Z, Y nor a prediction: weights, clusters, a known risk."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from whygap.domains import Array, ByDomain, IntArray
from whygap.errors import ColumnError
from whygap.tables.columns import RawColumn, raw_column, to_text
from whygap.tables.design import Note
from whygap.tables.frame import Frame, Mask

__all__ = ["read_clusters", "read_kept", "read_risk", "read_weights"]


def read_kept(frames: ByDomain[Frame], name: str, keep: ByDomain[Mask]) -> ByDomain[RawColumn]:
    """One column of both tables on the kept rows."""

    def read(frame: Frame, rows: Mask) -> RawColumn:
        array = frame.arrow(name)
        return raw_column(array if rows.all() else array.filter(pa.array(rows)), name, frame.label)

    return frames.zip(keep, read)


def numbers(name: str, role: str, raw: ByDomain[RawColumn]) -> ByDomain[Array]:
    """A numeric column without missing or infinite values."""
    for domain, column in (("source", raw.source), ("target", raw.target)):
        if column.kind not in ("number", "boolean", "missing"):
            raise ColumnError(
                f"Column '{name}' ({role}) must hold numbers", got=f"{column.kind} in {domain}"
            )
        if column.infinite:
            raise ColumnError(
                f"Column '{name}' ({role}) holds {column.infinite} infinite values in {domain}"
            )
        if column.missing:
            raise ColumnError(
                f"Column '{name}' ({role}) is missing in {column.missing} rows of {domain}",
                hint="Fill the values in, or drop these rows.",
            )
    return raw.map(lambda column: column.values)


def read_weights(name: str, raw: ByDomain[RawColumn]) -> tuple[ByDomain[Array], tuple[Note, ...]]:
    """Row weights: finite, not negative, not all zero."""
    weights = numbers(name, "weights", raw)
    notes = []
    for domain, values in (("source", weights.source), ("target", weights.target)):
        if (values < 0).any():
            raise ColumnError(
                f"Column '{name}' (weights) is negative in {int((values < 0).sum())} rows of "
                f"{domain}",
                got=f"{values.min():g}",
            )
        if not values.any():
            raise ColumnError(f"Column '{name}' (weights) is zero in every row of {domain}")
        zeros = int((values == 0).sum())
        if zeros:
            notes.append(Note("info", f"{zeros:,} {domain} rows have weight zero."))
    return weights.map(in_range), tuple(notes)


def in_range(weights: Array) -> Array:
    """Only proportions matter: weights whose squares would leave the range are scaled to 1."""
    largest = weights.max()
    return weights if 1e-100 < largest < 1e100 else weights / largest


def read_clusters(
    frames: ByDomain[Frame], name: str, keep: ByDomain[Mask]
) -> tuple[ByDomain[IntArray], tuple[Note, ...]]:
    """Cluster numbers 0, 1, ..., the same number for the same name in both tables."""
    arrays = frames.zip(keep, lambda frame, rows: frame.arrow(name).filter(pa.array(rows)))
    for domain, array in (("source", arrays.source), ("target", arrays.target)):
        missing = raw_column(array, name, domain).missing
        if missing:
            raise ColumnError(
                f"Column '{name}' (clusters) is missing in {missing} rows of {domain}",
                hint="Every row needs a cluster; give single rows a name of their own.",
            )
    values = same_scale(arrays, name)
    _, position = np.unique(np.concatenate(list(values)), return_inverse=True)
    cut = len(values.source)
    clusters = ByDomain(position[:cut].astype(np.int64), position[cut:].astype(np.int64))
    shared = len(np.intersect1d(clusters.source, clusters.target))
    if not shared:
        return clusters, ()
    text = (
        f"{shared:,} clusters ('{name}') have rows in both tables; the two tables are treated as "
        "independent samples."
    )
    return clusters, (Note("warning", text),)


def same_scale(arrays: ByDomain[Any], name: str) -> ByDomain[Any]:
    """Values that are equal exactly where the names are equal; long whole numbers stay exact."""
    if all(pa.types.is_signed_integer(array.type) for array in arrays):
        return arrays.map(lambda array: array.cast(pa.int64()).to_numpy(zero_copy_only=False))
    raw = arrays.map(lambda array: raw_column(array, name, "the table"))
    if len({column.kind for column in raw} - {"boolean"}) == 1 and not raw.source.levels:
        return raw.map(lambda column: column.values)
    text = raw.map(to_text)
    levels = sorted(set(text.source.levels) | set(text.target.levels))
    position = {level: float(i) for i, level in enumerate(levels)}
    lookup = text.map(lambda column: np.array([position[level] for level in column.levels]))
    return text.zip(lookup, lambda column, table: table[column.values.astype(np.int64)])


def read_risk(name: str, raw: ByDomain[RawColumn]) -> ByDomain[Array]:
    """A known source risk, strictly between 0 and 1."""
    risk = numbers(name, "source_risk", raw)
    for domain, values in (("source", risk.source), ("target", risk.target)):
        if values.min() <= 0 or values.max() >= 1:
            raise ColumnError(
                f"Column '{name}' (source_risk) must lie strictly between 0 and 1",
                got=f"values from {values.min():g} to {values.max():g} in {domain}",
            )
    return risk
