"""One column of both tables -> one encoded column: levels aligned, rare levels pooled.

The rule for rare levels: in a column with more than 20 levels, levels with fewer rows than
max(10, 0.5% of the rows of both tables together) become one level, "(other)".
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from whygap.domains import DOMAINS, Array, ByDomain
from whygap.errors import ColumnError
from whygap.notes import Fact, Note, NoteLevel
from whygap.tables import columns
from whygap.tables.columns import RawColumn, RawKind
from whygap.tables.design import POOLED_LEVEL, Column

__all__ = ["NOTABLE_SHARE", "EncodedColumn", "encode_column"]

MANY_LEVELS = 20  # levels up to which a category is read level by level, however rare some are
MOSTLY_NUMBERS = 10  # levels per word: one word among ten is rather a mark for "missing"
NOTABLE_SHARE = 0.01  # share of rows left out, or without a counterpart, that may change the answer
UNITS = {"date": "days since 1970-01-01", "time": "seconds since midnight", "duration": "days"}


@dataclass(frozen=True, slots=True, eq=False)
class EncodedColumn:
    """A column of both domains as numbers, NaN for missing."""

    column: Column
    values: ByDomain[Array]
    raw_kind: RawKind
    is_whole: bool = False  # both tables had whole-number types
    unique_text: bool = False  # differs in every row of each table
    notes: tuple[Note, ...] = ()

    @property
    def name(self) -> str:
        """The caller's name of the column."""
        return self.column.name

    @property
    def pooled(self) -> Array:
        """Join the values of the domains, source first."""
        return np.concatenate([self.values.source, self.values.target])


def encode_column(name: str, raw: ByDomain[RawColumn]) -> EncodedColumn:
    """Encode a column in a single way for the two tables.

    Args:
        name: the caller's name of the column.
        raw: the column as read from each table.
    """
    raw_alike, notes = _reconcile(name, raw)
    infinite = sum(column.infinite for column in raw)
    if infinite:
        notes = (Note("infinite", "warning", {"column": name, "rows": infinite}), *notes)
    kind: RawKind = next((r.kind for r in raw_alike if r.kind != "missing"), "missing")
    if kind == "text":
        encoded = _encode_text(name, raw_alike)
    elif kind == "ordered":
        encoded = _encode_ordered(name, raw_alike)
    else:
        values, is_whole = raw_alike.map(lambda r: r.values), all(r.is_whole for r in raw_alike)
        one_kind = {r.kind for r in raw_alike} <= {kind, "missing"}
        meaning = kind if one_kind and kind in ("boolean", "date", "time") else ""
        encoded = EncodedColumn(Column(name, "numeric", meaning=meaning), values, kind, is_whole)
        if kind in UNITS:
            notes += (Note("used_as", "info", {"column": name, "unit": UNITS[kind]}),)
    return replace(encoded, notes=notes + encoded.notes)


def _reconcile(name: str, raw: ByDomain[RawColumn]) -> tuple[ByDomain[RawColumn], tuple[Note, ...]]:
    """Read a column in a single way where the two tables hold different kinds."""
    kinds = {r.kind for r in raw} - {"missing"}
    if kinds == {"number", "boolean"} or len(kinds) < 2:
        return raw, ()
    if kinds == {"text", "ordered"}:  # text takes the order, when that has all the levels
        levels = next(r.levels for r in raw if r.kind == "ordered")
        if any(set(r.levels) - set(levels) for r in raw):
            return raw.map(columns.to_text), (Note("ordered_in_one", "warning", {"column": name}),)
        codes = raw.map(lambda r: columns.into_levels(r, levels))
        return codes.map(lambda values: RawColumn("ordered", values, levels)), ()
    if kinds & {"text", "ordered"} and kinds & {"number", "boolean"}:
        side = "source" if raw.source.kind in ("number", "boolean") else "target"
        note = Note("mixed_types", "warning", {"column": name, "domain": side})
        return raw.map(columns.to_text), (note,)
    message = f"Column '{name}' is of different kinds in the two tables"
    actual = f"{raw.source.kind} in source, {raw.target.kind} in target"
    raise ColumnError(message, got=actual, hint="Give it the same type in both tables.")


def _encode_text(name: str, raw: ByDomain[RawColumn]) -> EncodedColumn:
    levels = tuple(sorted({level for r in raw for level in r.levels}))
    values = raw.map(lambda r: columns.into_levels(r, levels))
    total = _level_counts(np.concatenate(list(values)), len(levels))
    # Fewer than ten rows say nothing about a level; 200 levels can still be told apart.
    limit = max(10, 0.005 * sum(map(len, values)))
    rare = total < limit
    notes: list[Note] = []
    members = levels  # the level that each code stands for
    if len(levels) > MANY_LEVELS and rare.sum() > 1:
        share = float(total[rare].sum() / total.sum())
        facts: dict[str, Fact] = {"column": name, "limit": float(limit), "share": share}
        facts |= {"n_pooled": int(rare.sum()), "n_levels": len(rare)}
        notes.append(Note("pooled", "info", facts))
        codes = np.where(rare, (~rare).sum(), np.cumsum(~rare) - 1).astype(float)
        commonest = levels[int(np.argmax(np.where(rare, total, -1.0)))]
        frequent = tuple(levels[i] for i in np.flatnonzero(~rare))
        pooled_level = POOLED_LEVEL
        while pooled_level in levels:
            pooled_level += "*"
        levels = (*frequent, pooled_level)
        members = (*frequent, commonest)
        values = values.map(lambda v: columns.recode(v, codes))
    notes += [*_one_sided_notes(name, levels, values), *_number_notes(name, members)]
    unique = all(len(r.levels) == len(r.values) > 1 for r in raw)
    column = Column(name, "category", levels)
    return EncodedColumn(column, values, "text", unique_text=unique, notes=tuple(notes))


def _encode_ordered(name: str, raw: ByDomain[RawColumn]) -> EncodedColumn:
    """Encode ordered levels; where the orders of the two tables conflict, the order is dropped."""
    first, second = (r.levels for r in raw)
    longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
    if shorter != tuple(level for level in longer if level in set(shorter)):
        note = Note("different_orders", "warning", {"column": name})
        encoded = _encode_text(name, raw.map(columns.to_text))
        return replace(encoded, notes=(note, *encoded.notes))
    codes = np.concatenate([columns.into_levels(r, longer) for r in raw])
    used = columns.only_observed(RawColumn("ordered", codes, longer))
    cut = len(raw.source.values)
    values = ByDomain(used.values[:cut], used.values[cut:])
    notes = tuple(_one_sided_notes(name, used.levels, values))
    return EncodedColumn(Column(name, "ordinal", used.levels), values, "ordered", notes=notes)


def _number_notes(name: str, levels: tuple[str, ...]) -> Iterator[Note]:
    """Report text that is nearly all numbers: a missing value written as a word, as a rule."""
    with_points = {level: level.replace(".", "").replace(",", ".") for level in levels}
    words = [w for w, point in with_points.items() if not any(map(columns.is_number, (w, point)))]
    if len(levels) >= MOSTLY_NUMBERS and 0 < len(words) <= len(levels) / MOSTLY_NUMBERS:
        yield Note("nearly_numbers", "warning", {"column": name, "values": tuple(words[:3])})


def _level_counts(values: Array, levels: int) -> Array:
    return np.bincount(columns.present(values).astype(np.int64), minlength=levels).astype(float)


def _one_sided_notes(name: str, levels: tuple[str, ...], values: ByDomain[Array]) -> Iterator[Note]:
    """Report levels that only a single table has."""
    counts = values.map(lambda v: _level_counts(v, len(levels)))
    for domain, second in zip(DOMAINS, reversed(DOMAINS), strict=True):
        number = counts[domain]
        opposite = counts[second]
        rows = len(values[domain])
        one_sided = np.flatnonzero((number > 0) & (opposite == 0))
        if not len(one_sided) or not opposite.sum():
            continue
        one_sided = one_sided[np.argsort(-number[one_sided])]
        affected = number[one_sided].sum()
        level: NoteLevel = "warning" if affected / rows >= NOTABLE_SHARE else "info"
        facts: dict[str, Fact] = {"column": name, "values": tuple(levels[i] for i in one_sided)}
        facts |= {"rows": int(affected), "of_rows": rows, "domain": domain, "other": second}
        yield Note("one_sided_levels", level, facts)
