"""The columns that are neither W, Z, Y nor a prediction: weights, clusters, a known risk."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from whygap.domains import DOMAINS, Array, ByDomain, IntArray
from whygap.errors import ColumnError
from whygap.notes import Note
from whygap.tables.columns import RawColumn, into_levels, raw_column, to_text
from whygap.tables.encode import HUGE
from whygap.tables.open import Frame, Mask
from whygap.tables.roles import Roles

__all__ = ["Extras", "read_extras", "read_kept", "require_weights"]


@dataclass(frozen=True, slots=True, eq=False)
class Extras:
    """Weights, clusters and the known source risk of the kept rows, where named."""

    weights: ByDomain[Array] | None
    clusters: ByDomain[IntArray] | None
    source_risk: ByDomain[Array] | None
    notes: tuple[Note, ...]


def read_extras(frames: ByDomain[Frame], roles: Roles, keep: ByDomain[Mask]) -> Extras:
    """Read and check the columns that were named."""
    weights = clusters = risk = None
    notes: tuple[Note, ...] = ()
    if roles.weights is not None:
        weights = read_weights(roles.weights, read_kept(frames, roles.weights, keep))
        notes += zero_notes(weights)
    if roles.clusters is not None:
        clusters = read_clusters(frames, roles.clusters, keep)
        notes += shared_notes(roles.clusters, clusters)
    if roles.source_risk is not None:
        risk = read_risk(roles.source_risk, read_kept(frames, roles.source_risk, keep))
    return Extras(weights, clusters, risk, notes)


def read_kept(frames: ByDomain[Frame], name: str, keep: ByDomain[Mask]) -> ByDomain[RawColumn]:
    """One column of both tables on the kept rows."""

    def read(frame: Frame, rows: Mask) -> RawColumn:
        array = frame.arrow(name)
        return raw_column(array if rows.all() else array.filter(pa.array(rows)), name, frame.label)

    return frames.zip(keep, read)


def numbers(name: str, role: str, raw: ByDomain[RawColumn]) -> ByDomain[Array]:
    for domain, column in raw.items():
        require_numbers(f"Column '{name}' ({role})", column, domain)
    return raw.map(lambda column: column.values)


def require_numbers(what: str, column: RawColumn, where: str) -> None:
    """Finite ones, none missing."""
    if column.kind not in ("number", "boolean", "missing"):
        raise ColumnError(f"{what} must hold numbers", got=f"{column.kind} in {where}")
    if column.infinite:
        raise ColumnError(f"{what} holds {column.infinite} infinite values in {where}")
    if column.missing:
        raise ColumnError(
            f"{what} is missing in {column.missing} rows of {where}",
            hint="Fill the values in, or drop these rows.",
        )


def require_weights(name: str, column: RawColumn, where: str) -> None:
    """Numbers that are not negative."""
    what, values = f"Column '{name}' (weights)", column.values
    require_numbers(what, column, where)
    negative = int((values < 0).sum())
    if negative:
        raise ColumnError(
            f"{what} is negative in {negative} rows of {where}", got=f"{values.min():g}"
        )


def read_weights(name: str, raw: ByDomain[RawColumn]) -> ByDomain[Array]:
    for domain, column in raw.items():
        require_weights(name, column, domain)
        if not column.values.any():
            raise ColumnError(f"Column '{name}' (weights) is zero in every row of {domain}")
    weights = raw.map(lambda column: column.values)
    # Only proportions matter: weights whose squares would leave the range are scaled to 1.
    return weights.map(lambda w: w if 1 / HUGE < w.max() < HUGE else w / w.max())


def zero_notes(weights: ByDomain[Array]) -> tuple[Note, ...]:
    return tuple(
        Note("zero_weights", "info", {"rows": count, "domain": domain})
        for domain in DOMAINS
        if (count := int((weights[domain] == 0).sum()))
    )


def read_clusters(frames: ByDomain[Frame], name: str, keep: ByDomain[Mask]) -> ByDomain[IntArray]:
    """Cluster numbers 0, 1, ..., the same number for the same name in both tables."""
    arrays = frames.zip(keep, lambda frame, rows: frame.arrow(name).filter(pa.array(rows)))
    raw = ByDomain(*(raw_column(arrays[domain], name, domain) for domain in DOMAINS))
    for domain, column in raw.items():
        if column.missing:
            raise ColumnError(
                f"Column '{name}' (clusters) is missing in {column.missing} rows of {domain}",
                hint="Every row needs a cluster; give single rows a name of their own.",
            )
    values = same_scale(arrays, raw)
    _, position = np.unique(np.concatenate(list(values)), return_inverse=True)
    cut = len(values.source)
    return ByDomain(position[:cut].astype(np.int64), position[cut:].astype(np.int64))


def shared_notes(name: str, clusters: ByDomain[IntArray]) -> tuple[Note, ...]:
    shared = len(np.intersect1d(clusters.source, clusters.target))
    if not shared:
        return ()
    return (Note("shared_clusters", "info", {"clusters": shared, "column": name}),)


def same_scale(arrays: ByDomain[Any], raw: ByDomain[RawColumn]) -> ByDomain[Any]:
    """Values that are equal exactly where the names are equal; long whole numbers stay exact."""
    if all(pa.types.is_integer(array.type) for array in arrays):
        return whole_numbers(arrays)
    if len({column.kind for column in raw} - {"boolean"}) == 1 and not raw.source.levels:
        return raw.map(lambda column: column.values)
    text = raw.map(to_text)
    levels = sorted({level for column in text for level in column.levels})
    return text.map(lambda column: into_levels(column, levels))


def whole_numbers(arrays: ByDomain[Any]) -> ByDomain[Any]:
    """In the type that holds them all; as Python's own where there is none."""

    def cast(kind: Any) -> ByDomain[Any]:
        return arrays.map(lambda array: array.cast(kind).to_numpy(zero_copy_only=False))

    for kind in (pa.int64(), pa.uint64()):
        with contextlib.suppress(pa.ArrowInvalid):  # one of them is too large, or negative
            return cast(kind)
    return arrays.map(lambda array: np.array(array.to_pylist(), dtype=object))


def read_risk(name: str, raw: ByDomain[RawColumn]) -> ByDomain[Array]:
    risk = numbers(name, "source_risk", raw)
    for domain, values in risk.items():
        if values.min() <= 0 or values.max() >= 1:
            raise ColumnError(
                f"Column '{name}' (source_risk) must lie strictly between 0 and 1",
                got=f"values from {values.min():g} to {values.max():g} in {domain}",
            )
    return risk
