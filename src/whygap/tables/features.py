"""W and Z: read, encode, and decide what cannot be used, always saying so."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.errors import ColumnError, listed
from whygap.tables.columns import present
from whygap.tables.design import Note
from whygap.tables.encode import OTHER, EncodedColumn, encode_column
from whygap.tables.extras import read_kept
from whygap.tables.open import Frame, Mask
from whygap.tables.roles import Roles

__all__ = ["Features", "encode_features"]

ID_NAME = re.compile(r"(^|[_\W])(id|uuid|guid|key|index|row)$|^unnamed: \d+$|(?<=[a-z])(ID|Id)$")
SURE_ROWS = 1000  # whole numbers that are measured repeat themselves in so many rows


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """The usable columns, and what was done to them or left out."""

    columns: tuple[EncodedColumn, ...]
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class Useless:
    """Why a column cannot be used: an error where it was named, a note where it was not."""

    error: str
    hint: str
    level: Literal["info", "warning"]
    note: str


ALL_MISSING = Useless(
    "is missing in every row of both tables",
    "Leave it out.",
    "warning",
    "missing in every row of both tables",
)
ALL_RARE = Useless(
    "has only rare levels",
    "Group its levels into larger ones, for example postcodes into regions.",
    "warning",
    "all levels are rare (group them into larger ones)",
)
CONSTANT = Useless(
    "has one single value in both tables",
    "Leave it out: it cannot explain a gap.",
    "info",
    "one single value in both tables",
)


def encode_features(frames: ByDomain[Frame], roles: Roles, keep: ByDomain[Mask]) -> Features:
    """Encode every column of W and Z on the kept rows.

    Columns the caller did not name one by one are left out, with a note, when they hold a single
    value or nothing; a column that was named is an error then.
    """
    columns: list[EncodedColumn] = []
    notes: list[Note] = []
    left_out: dict[Useless, list[str]] = {}
    for name in roles.features:
        encoded = encode_column(name, read_kept(frames, name, keep))
        reason = useless(encoded)
        if reason and name in roles.named:
            raise ColumnError(f"Column '{name}' {reason.error}", hint=reason.hint)
        refuse_empty_side(encoded)
        looks_unique = identifier_notes(encoded, name in roles.named)
        if reason:
            left_out.setdefault(reason, []).append(name)
            continue
        columns.append(encoded)
        notes += [*encoded.notes, *looks_unique]
    said = [
        Note(reason.level, f"Left out, {reason.note}: {listed(names)}.")
        for reason, names in left_out.items()
    ]
    return Features(tuple(columns), (*said, *notes))


def useless(encoded: EncodedColumn) -> Useless | None:
    """Why a column cannot be used, if so."""
    values = present(encoded.pooled)
    if not len(values):
        return ALL_MISSING
    if len(values) < len(encoded.pooled) or np.any(values != values[0]):
        return None
    levels = encoded.column.levels
    return ALL_RARE if levels and levels[-1].startswith(OTHER) else CONSTANT


def refuse_empty_side(encoded: EncodedColumn) -> None:
    """A column that is filled in one table and empty in the other cannot be compared."""
    empty = encoded.values.map(lambda values: bool(np.isnan(values).all()))
    if empty.source == empty.target:
        return
    where = "source" if empty.source else "target"
    raise ColumnError(
        f"Column '{encoded.name}' is missing in every row of {where}",
        hint="It cannot be compared: drop it, or list covariates=[...] without it.",
    )


def identifier_notes(encoded: EncodedColumn, named: bool) -> tuple[Note, ...]:
    """A column that differs in every row is refused; whole numbers that were named are used."""
    if not looks_like_identifier(encoded):
        return ()
    if named and encoded.raw_kind == "number":
        text = f"Column '{encoded.name}' differs in every row, like an identifier."
        return (Note("warning", text),)
    raise ColumnError(
        f"Column '{encoded.name}' looks like an identifier: it differs in every row",
        hint=f"Drop it, or, if it says which rows belong together, clusters='{encoded.name}'.",
    )


def looks_like_identifier(encoded: EncodedColumn) -> bool:
    """Unique per row in both tables, and text, or whole numbers that are not measurements."""
    if encoded.raw_kind == "text":
        return encoded.unique_text
    if encoded.raw_kind != "number" or not encoded.whole:
        return False
    return all(unique(values) for values in encoded.values) and (
        ID_NAME.search(encoded.name) is not None
        or all(np.ptp(values) < 2 * len(values) for values in encoded.values)
        or min(map(len, encoded.values)) >= SURE_ROWS
    )


def unique(values: Array) -> bool:
    """No value twice, none missing."""
    return not np.isnan(values).any() and len(np.unique(values)) == len(values)
