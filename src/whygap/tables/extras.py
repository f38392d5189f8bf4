"""The columns that are neither W, Z, Y nor a prediction: weights, clusters, a known risk."""

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from whygap.domains import DOMAINS, Array, ByDomain, IntArray
from whygap.errors import ColumnError
from whygap.notes import Fact, Note
from whygap.tables.columns import RawColumn, into_levels, raw_column, require_numbers, to_text
from whygap.tables.frames import Frame, Mask
from whygap.tables.roles import Roles

__all__ = ["Extras", "read_extras", "read_kept"]


@dataclass(frozen=True, slots=True, eq=False)
class Extras:
    """Weights, clusters and the known source risk of the kept rows, where named."""

    weights: ByDomain[Array] | None
    clusters: ByDomain[IntArray] | None
    source_risk: ByDomain[Array] | None
    notes: tuple[Note, ...]


def read_extras(frames: ByDomain[Frame], roles: Roles, keep: ByDomain[Mask]) -> Extras:
    """Read and check the columns that were named.

    Args:
        frames: both tables, read.
        roles: which column is what.
        keep: per domain, which rows have an outcome and a prediction.
    """
    weights = clusters = risk = None
    notes: list[Note] = []
    if roles.weights is not None:
        weights = _read_weights(roles.weights, read_kept(frames, roles.weights, keep))
        for domain, values in weights.items():
            if zeros := int((values == 0).sum()):
                notes.append(Note("zero_weights", "info", {"rows": zeros, "domain": domain}))
    if roles.clusters is not None:
        clusters = _read_clusters(frames, roles.clusters, keep)
        if shared := len(np.intersect1d(clusters.source, clusters.target)):
            facts: dict[str, Fact] = {"clusters": shared, "column": roles.clusters}
            notes.append(Note("shared_clusters", "info", facts))
    if roles.source_risk is not None:
        name = f"Column '{roles.source_risk}' (source_risk)"
        risk = _complete_numbers(name, read_kept(frames, roles.source_risk, keep))
        for domain, values in risk.items():
            if values.min() <= 0 or values.max() >= 1:
                actual = f"values from {values.min():g} to {values.max():g} in {domain}"
                raise ColumnError(f"{name} must lie strictly between 0 and 1", got=actual)
    return Extras(weights, clusters, risk, tuple(notes))


def read_kept(frames: ByDomain[Frame], name: str, keep: ByDomain[Mask]) -> ByDomain[RawColumn]:
    """Read a column of each table on the kept rows.

    Args:
        frames: both tables, read.
        name: the column to read.
        keep: per domain, a truth value for each row of the table.
    """

    def read(frame: Frame, rows: Mask) -> RawColumn:
        array = frame.arrow(name)
        return raw_column(array if rows.all() else array.filter(pa.array(rows)), name, frame.label)

    return frames.zip(keep, read)


def _complete_numbers(subject: str, raw: ByDomain[RawColumn]) -> ByDomain[Array]:
    """Refuse all except finite numbers, none missing."""
    for domain, column in raw.items():
        if column.infinite:
            raise ColumnError(f"{subject} holds {column.infinite} infinite values in {domain}")
        if column.missing and not column.levels:
            hint = "Fill the values in, or drop these rows."
            raise ColumnError(
                f"{subject} is missing in {column.missing} rows of {domain}", hint=hint
            )
    return require_numbers(subject, raw)


def _read_weights(name: str, raw: ByDomain[RawColumn]) -> ByDomain[Array]:
    subject = f"Column '{name}' (weights)"
    weights = _complete_numbers(subject, raw)
    for domain, values in weights.items():
        if negative := int((values < 0).sum()):
            actual = f"{values.min():g}"
            raise ColumnError(f"{subject} is negative in {negative} rows of {domain}", got=actual)
        if not values.any():
            raise ColumnError(f"{subject} is zero in every row of {domain}")
    # Only proportions matter: tiny weights, whose squares are 0 in float64, are scaled to 1.
    return weights.map(lambda w: w if w.max() > 1e-100 else w / w.max())


def _read_clusters(frames: ByDomain[Frame], name: str, keep: ByDomain[Mask]) -> ByDomain[IntArray]:
    """Map clusters to 0, 1, ..., with equal numbers for equal names in the two tables."""
    arrays = frames.zip(keep, lambda frame, rows: frame.arrow(name).filter(pa.array(rows)))
    raw = ByDomain(*(raw_column(arrays[domain], name, domain) for domain in DOMAINS))
    for domain, column in raw.items():
        if column.missing:
            message = f"Column '{name}' (clusters) is missing in {column.missing} rows of {domain}"
            hint = "Every row needs a cluster; give single rows a name of their own."
            raise ColumnError(message, hint=hint)
    values = _same_scale(arrays, raw)
    _, position = np.unique(np.concatenate(list(values)), return_inverse=True)
    cut = len(values.source)
    return ByDomain(position[:cut].astype(np.int64), position[cut:].astype(np.int64))


def _same_scale(arrays: ByDomain[Any], raw: ByDomain[RawColumn]) -> ByDomain[Any]:
    """Return values that are equal exactly where names are; long whole numbers stay exact."""
    if all(pa.types.is_integer(array.type) for array in arrays):
        for kind in (pa.int64(), pa.uint64()):
            with contextlib.suppress(pa.ArrowInvalid):  # too large, or negative
                cast = [array.cast(kind).to_numpy(zero_copy_only=False) for array in arrays]
                return ByDomain(*cast)
        return arrays.map(lambda array: np.array(array.to_pylist(), dtype=object))
    if len({column.kind for column in raw} - {"boolean"}) == 1 and not raw.source.levels:
        return raw.map(lambda column: column.values)
    text = raw.map(to_text)
    levels = sorted({level for column in text for level in column.levels})
    return text.map(lambda column: into_levels(column, levels))
