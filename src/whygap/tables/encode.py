"""One column of both tables -> one encoded column: levels aligned, rare levels pooled.

The rule for rare levels: in a column with more than 20 levels, levels with fewer rows than
max(10, 0.5% of the rows of both tables together) become one level, "(other)".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from whygap.domains import DOMAINS, Array, ByDomain
from whygap.errors import ColumnError
from whygap.notes import Fact, Note, NoteLevel
from whygap.tables import columns
from whygap.tables.columns import RawColumn, RawKind
from whygap.tables.design import OTHER, Column
from whygap.tables.open import Mask

__all__ = ["HUGE", "MANY_ROWS", "EncodedColumn", "encode_column"]

MANY_LEVELS = 20  # up to here a category is read level by level, however rare some are
MOSTLY_NUMBERS = 10  # one word among ten levels is rather a mark for "missing"
HUGE = 1e100  # sums of squares of larger numbers would overflow float64
MANY_ROWS = 0.01  # share of rows left out, or without a counterpart, that may change the answer
UNITS = {"date": "days since 1970-01-01", "time": "seconds since midnight", "duration": "days"}


@dataclass(frozen=True, slots=True, eq=False)
class EncodedColumn:
    """A column of both domains as numbers."""

    column: Column
    values: ByDomain[Array]  # per domain, NaN for missing
    raw_kind: RawKind  # what it was
    whole: bool = False  # both came from whole-number types
    unique_text: bool = False  # text that differs in every row of each table
    notes: tuple[Note, ...] = field(default=())  # what was done

    @property
    def name(self) -> str:
        """The caller's name of the column."""
        return self.column.name

    @property
    def pooled(self) -> Array:
        """Values of both domains, source first."""
        return np.concatenate([self.values.source, self.values.target])


@dataclass(frozen=True, slots=True, eq=False)
class Noted:
    raw: ByDomain[RawColumn]
    notes: tuple[Note, ...] = ()


def encode_column(name: str, raw: ByDomain[RawColumn]) -> EncodedColumn:
    """Encode one column of both tables alike."""
    usable = without_huge(name, raw)
    same = reconcile(name, usable.raw)
    notes = usable.notes + same.notes
    kind: RawKind = next((r.kind for r in same.raw if r.kind != "missing"), "missing")
    if kind == "text":
        encoded = encode_text(name, same.raw)
    elif kind == "ordered":
        encoded = encode_ordered(name, same.raw)
    else:
        values, whole = same.raw.map(lambda r: r.values), all(r.whole for r in same.raw)
        alike = {r.kind for r in same.raw} <= {kind, "missing"}
        meaning = kind if alike and kind in ("boolean", "date", "time") else ""
        column = Column(name, "numeric", meaning=meaning)
        encoded = EncodedColumn(column, values, kind, whole)
        if kind in UNITS:
            notes += (Note("used_as", "info", {"column": name, "unit": UNITS[kind]}),)
    return replace(encoded, notes=notes + encoded.notes)


def reconcile(name: str, raw: ByDomain[RawColumn]) -> Noted:
    kinds = {r.kind for r in raw} - {"missing"}
    if kinds == {"number", "boolean"} or len(kinds) < 2:
        return Noted(raw)
    if kinds == {"text", "ordered"}:
        return agree_on_order(name, raw)
    if kinds & {"text", "ordered"} and kinds & {"number", "boolean"}:
        which = "source" if raw.source.kind in ("number", "boolean") else "target"
        note = Note("mixed_types", "warning", {"column": name, "domain": which})
        return Noted(raw.map(columns.to_text), (note,))
    raise ColumnError(
        f"Column '{name}' is of different kinds in the two tables",
        got=f"{raw.source.kind} in source, {raw.target.kind} in target",
        hint="Give it the same type in both tables.",
    )


def agree_on_order(name: str, raw: ByDomain[RawColumn]) -> Noted:
    """Text in one table takes the order of the other, when that order has all its levels."""
    levels = next(r.levels for r in raw if r.kind == "ordered")
    if any(set(r.levels) - set(levels) for r in raw):
        note = Note("ordered_in_one", "warning", {"column": name})
        return Noted(raw.map(columns.to_text), (note,))
    return Noted(raw.map(lambda r: RawColumn("ordered", columns.into_levels(r, levels), levels)))


def without_huge(name: str, raw: ByDomain[RawColumn]) -> Noted:
    """Numbers whose squares could not be added up are missing, as infinite ones already are."""
    huge = raw.map(lambda column: np.abs(column.values) > HUGE)

    def cut(column: RawColumn, rows: Mask) -> RawColumn:
        return replace(column, values=np.where(rows, np.nan, column.values))

    counts = {
        "infinite": sum(column.infinite for column in raw),
        "huge": sum(int(rows.sum()) for rows in huge),
    }
    notes = tuple(
        Note(kind, "warning", {"column": name, "rows": count})
        for kind, count in counts.items()
        if count
    )
    return Noted(raw.zip(huge, cut) if any(rows.any() for rows in huge) else raw, notes)


def encode_text(name: str, raw: ByDomain[RawColumn]) -> EncodedColumn:
    levels = tuple(sorted({level for r in raw for level in r.levels}))
    values = raw.map(lambda r: columns.into_levels(r, levels))
    total = level_counts(np.concatenate(list(values)), len(levels))
    # Fewer than ten rows say nothing about a level; 200 levels can still be told apart.
    limit = max(10, 0.005 * sum(map(len, values)))
    rare = total < limit
    notes: tuple[Note, ...] = ()
    members = levels
    if len(levels) > MANY_LEVELS and rare.sum() > 1:
        notes = (pooling_note(name, rare, total, limit),)
        pooled = pool(levels, rare, total)
        levels, members = pooled.levels, pooled.members
        values = values.map(lambda v: columns.recode(v, pooled.codes))
    notes = (*notes, *one_sided_notes(name, levels, values), *number_notes(name, members))
    unique = all(len(r.levels) == len(r.values) > 1 for r in raw)
    return EncodedColumn(Column(name, "category", levels), values, "text", False, unique, notes)


def encode_ordered(name: str, raw: ByDomain[RawColumn]) -> EncodedColumn:
    """Ordered levels; where the two orders contradict each other the order is dropped."""
    first, second = (r.levels for r in raw)
    longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
    if shorter != tuple(level for level in longer if level in set(shorter)):
        note = Note("different_orders", "warning", {"column": name})
        encoded = encode_text(name, raw.map(columns.to_text))
        return replace(encoded, notes=(note, *encoded.notes))
    codes = np.concatenate([columns.into_levels(r, longer) for r in raw])
    used = columns.only_observed(RawColumn("ordered", codes, longer))
    cut = len(raw.source.values)
    values = ByDomain(used.values[:cut], used.values[cut:])
    notes = tuple(one_sided_notes(name, used.levels, values))
    return EncodedColumn(Column(name, "ordinal", used.levels), values, "ordered", notes=notes)


def number_notes(name: str, levels: tuple[str, ...]) -> Iterator[Note]:
    """Text that is nearly all numbers: most often a missing value was written as a word."""
    words = [level for level in levels if not reads_like_number(level)]
    if len(levels) >= MOSTLY_NUMBERS and 0 < len(words) <= len(levels) / MOSTLY_NUMBERS:
        yield Note("nearly_numbers", "warning", {"column": name, "values": tuple(words[:3])})


def reads_like_number(level: str) -> bool:
    """Also 3,5 and 1.234,5."""
    with_point = level.replace(".", "").replace(",", ".")
    return columns.is_number(level) or columns.is_number(with_point)


def level_counts(values: Array, levels: int) -> Array:
    return np.bincount(columns.present(values).astype(np.int64), minlength=levels).astype(float)


@dataclass(frozen=True, slots=True, eq=False)
class Pooled:
    """Frequent levels and one for the rest, the level each stands for, old codes -> new codes."""

    levels: tuple[str, ...]
    members: tuple[str, ...]
    codes: Array


def pool(levels: tuple[str, ...], rare: Mask, total: Array) -> Pooled:
    """Rare levels become one at the end; the most frequent of them speaks for it."""
    kept = np.flatnonzero(~rare)
    name = OTHER
    while name in levels:
        name += "*"
    codes = np.full(len(levels), float(len(kept)))
    codes[kept] = np.arange(len(kept))
    frequent = tuple(levels[i] for i in kept)
    member = levels[int(np.argmax(np.where(rare, total, -1.0)))]
    return Pooled((*frequent, name), (*frequent, member), codes)


def pooling_note(name: str, rare: Mask, total: Array, limit: float) -> Note:
    share = float(total[rare].sum() / total.sum())
    levels = {"n_pooled": int(rare.sum()), "n_levels": len(rare), "limit": float(limit)}
    return Note("pooled", "info", {"column": name, **levels, "share": share})


def one_sided_notes(name: str, levels: tuple[str, ...], values: ByDomain[Array]) -> Iterator[Note]:
    counts = values.map(lambda v: level_counts(v, len(levels)))
    for domain, other in zip(DOMAINS, reversed(DOMAINS), strict=True):
        here, there, rows = counts[domain], counts[other], len(values[domain])
        alone = np.flatnonzero((here > 0) & (there == 0))
        if not len(alone) or not there.sum():
            continue
        alone = alone[np.argsort(-here[alone])]
        affected = here[alone].sum()
        names: dict[str, Fact] = {"column": name, "values": tuple(levels[i] for i in alone)}
        counts_ = {"rows": int(affected), "of_rows": rows}
        level: NoteLevel = "warning" if affected / rows >= MANY_ROWS else "info"
        facts: dict[str, Fact] = {**names, **counts_, "domain": domain, "other": other}
        yield Note("one_sided_levels", level, facts)
