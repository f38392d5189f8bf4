"""W and Z: read, encode, and decide what cannot be used, always saying so."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.errors import ColumnError
from whygap.tables.design import Note
from whygap.tables.encode import OTHER, EncodedColumn, encode_column
from whygap.tables.extras import read_kept
from whygap.tables.frame import Frame, Mask
from whygap.tables.roles import Roles, listed

__all__ = ["Features", "encode_features"]

ID_NAME = re.compile(r"(^|[_\W])(id|uuid|guid|key|index|row)$|^unnamed: \d+$|(?<=[a-z])(ID|Id)$")
SURE_ROWS = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """The usable columns, and those left out (name -> why)."""

    columns: tuple[EncodedColumn, ...]
    dropped: Mapping[str, str]
    notes: tuple[Note, ...]


def encode_features(frames: ByDomain[Frame], roles: Roles, keep: ByDomain[Mask]) -> Features:
    """Encode every column of W and Z on the kept rows.

    Columns the caller did not name one by one are left out, with a note, when they hold a single
    value or nothing; a column that was named is an error then.
    """
    columns, dropped, notes = [], [], []
    for name in roles.features:
        encoded = encode_column(name, read_kept(frames, name, keep))
        reason = useless(encoded)
        if reason and name in roles.named:
            raise useless_error(name, reason)
        refuse_empty_side(encoded)
        refuse_identifier(encoded, name in roles.named)
        if reason:
            dropped.append((name, reason))
            continue
        columns.append(encoded)
        notes += [*encoded.notes, *identifier_notes(encoded)]
    return Features(tuple(columns), dict(dropped), (*dropped_notes(dropped), *notes))


def useless(encoded: EncodedColumn) -> str:
    """Why a column cannot be used (all_missing, constant, all_rare), or an empty text."""
    values = encoded.pooled
    seen = values[~np.isnan(values)]
    if not len(seen):
        return "all_missing"
    if len(seen) == len(values) and np.all(seen == seen[0]):
        levels = encoded.column.levels
        return "all_rare" if levels and levels[-1].startswith(OTHER) else "constant"
    return ""


def useless_error(name: str, reason: str) -> ColumnError:
    """A column that was named and cannot be used."""
    if reason == "all_missing":
        return ColumnError(
            f"Column '{name}' is missing in every row of both tables", hint="Leave it out."
        )
    if reason == "all_rare":
        return ColumnError(
            f"Column '{name}' has only rare levels",
            hint="Group its levels into larger ones, for example postcodes into regions.",
        )
    return ColumnError(
        f"Column '{name}' has one single value in both tables",
        hint="Leave it out: it cannot explain a gap.",
    )


def dropped_notes(dropped: Sequence[tuple[str, str]]) -> tuple[Note, ...]:
    """One note per reason."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in dropped:
        by_reason.setdefault(reason, []).append(name)
    said = {
        "constant": ("info", "Left out, one single value in both tables"),
        "all_missing": ("warning", "Left out, missing in every row of both tables"),
        "all_rare": ("warning", "Left out, all levels are rare (group them into larger ones)"),
    }
    notes = []
    for reason, names in by_reason.items():
        level, text = said[reason]
        notes.append(Note("info" if level == "info" else "warning", f"{text}: {listed(names)}."))
    return tuple(notes)


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


def refuse_identifier(encoded: EncodedColumn, named: bool) -> None:
    """Text that differs in every row is refused; whole numbers too, unless named as a feature."""
    if not looks_like_identifier(encoded) or (named and encoded.raw_kind == "number"):
        return
    raise ColumnError(
        f"Column '{encoded.name}' looks like an identifier: it differs in every row",
        hint=f"Drop it, or, if it says which rows belong together, clusters='{encoded.name}'.",
    )


def identifier_notes(encoded: EncodedColumn) -> tuple[Note, ...]:
    """A whole-number column that was named although it differs in every row."""
    if not looks_like_identifier(encoded):
        return ()
    text = f"Column '{encoded.name}' differs in every row, like an identifier."
    return (Note("warning", text),)


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
