"""One column of both tables -> one encoded column: levels aligned, rare levels pooled.

The rule for rare levels: in a column with more than 20 levels, levels with fewer rows than
max(10, 0.5% of the rows of both tables together) become one level, "(other)".
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.errors import ColumnError
from whygap.tables.columns import RawColumn, RawKind, only_observed, to_text
from whygap.tables.design import Column, Note
from whygap.tables.frame import Mask

__all__ = ["MANY_LEVELS", "OTHER", "EncodedColumn", "encode_column"]

MANY_LEVELS = 20
RARE_ROWS = 10
MOSTLY_NUMBERS = 10
RARE_SHARE = 0.005
OTHER = "(other)"
HUGE = 1e100
UNITS = {
    "date": "days since 1970-01-01",
    "time": "seconds since midnight",
    "duration": "days",
}


@dataclass(frozen=True, slots=True, eq=False)
class EncodedColumn:
    """A column of both domains as numbers.

    Attributes:
        column: name, kind, levels.
        values: per domain, NaN for missing.
        raw_kind: what it was.
        whole: both came from whole-number types.
        unique_text: text that differs in every row of each table.
        notes: what was done.
    """

    column: Column
    values: ByDomain[Array]
    raw_kind: RawKind
    whole: bool = False
    unique_text: bool = False
    notes: tuple[Note, ...] = field(default=())

    @property
    def name(self) -> str:
        """The caller's name of the column."""
        return self.column.name

    @property
    def pooled(self) -> Array:
        """Values of both domains, source first."""
        return np.concatenate([self.values.source, self.values.target])


def encode_column(name: str, raw: ByDomain[RawColumn]) -> EncodedColumn:
    """Encode one column of both tables alike."""
    usable, notes = without_huge(name, raw)
    same, more = reconcile(name, usable)
    notes = infinite_notes(name, raw) + notes + more
    kind: RawKind = next((r.kind for r in same if r.kind != "missing"), "missing")
    if kind == "text":
        encoded = encode_text(name, same)
    elif kind == "ordered":
        encoded = encode_ordered(name, same)
    else:
        encoded = EncodedColumn(
            Column(name, "numeric"), same.map(lambda r: r.values), kind, all(r.whole for r in same)
        )
        if kind in UNITS:
            notes += (Note("info", f"Column '{name}' is used as {UNITS[kind]}."),)
    return replace(encoded, notes=notes + encoded.notes)


def reconcile(name: str, raw: ByDomain[RawColumn]) -> tuple[ByDomain[RawColumn], tuple[Note, ...]]:
    """Make the kinds of the two tables agree, or say why they cannot."""
    kinds = {r.kind for r in raw} - {"missing"}
    if kinds == {"number", "boolean"} or len(kinds) < 2:
        return raw, ()
    if kinds == {"text", "ordered"}:
        return agree_on_order(name, raw)
    if kinds & {"text", "ordered"} and kinds & {"number", "boolean"}:
        which = "source" if raw.source.kind in ("number", "boolean") else "target"
        text = f"Column '{name}' holds numbers in {which} and text in the other table: read as text"
        return raw.map(to_text), (Note("warning", text + "."),)
    raise ColumnError(
        f"Column '{name}' is of different kinds in the two tables",
        got=f"{raw.source.kind} in source, {raw.target.kind} in target",
        hint="Give it the same type in both tables.",
    )


def agree_on_order(
    name: str, raw: ByDomain[RawColumn]
) -> tuple[ByDomain[RawColumn], tuple[Note, ...]]:
    """Text in one table takes the order of the other, when all its levels are known there."""
    ordered, text = raw if raw.source.kind == "ordered" else (raw.target, raw.source)
    if not set(text.levels) <= set(ordered.levels):
        note = f"Column '{name}' is ordered in one table only: read as unordered"
        return raw.map(to_text), (Note("warning", note + "."),)
    lookup = np.array([float(ordered.levels.index(level)) for level in text.levels] + [np.nan])
    codes = np.where(np.isnan(text.values), len(text.levels), text.values).astype(np.int64)
    moved = RawColumn("ordered", lookup[codes], ordered.levels)
    pair = ByDomain(ordered, moved) if raw.source is ordered else ByDomain(moved, ordered)
    return pair, ()


def without_huge(
    name: str, raw: ByDomain[RawColumn]
) -> tuple[ByDomain[RawColumn], tuple[Note, ...]]:
    """Numbers so large that their squares could not be added up become missing ones."""
    huge = raw.map(lambda column: np.abs(column.values) > HUGE)
    total = sum(int(rows.sum()) for rows in huge)
    if not total:
        return raw, ()
    text = f"Column '{name}': {total} values beyond {HUGE:g} in size are treated as missing."
    cut = raw.zip(huge, lambda c, rows: replace(c, values=np.where(rows, np.nan, c.values)))
    return cut, (Note("warning", text),)


def infinite_notes(name: str, raw: ByDomain[RawColumn]) -> tuple[Note, ...]:
    """Infinite values became missing ones."""
    total = sum(r.infinite for r in raw)
    if not total:
        return ()
    text = f"Column '{name}': {total} infinite values are treated as missing."
    return (Note("warning", text),)


def aligned(raw: ByDomain[RawColumn], levels: tuple[str, ...]) -> ByDomain[Array]:
    """Codes of both tables into one list of levels."""
    position = {level: float(i) for i, level in enumerate(levels)}

    def codes(column: RawColumn) -> Array:
        lookup = np.array([position[level] for level in column.levels] + [np.nan])
        missing = np.isnan(column.values)
        return lookup[np.where(missing, len(column.levels), column.values).astype(np.int64)]

    return raw.map(codes)


def encode_text(name: str, raw: ByDomain[RawColumn]) -> EncodedColumn:
    """Levels of both tables, sorted; rare ones pooled."""
    levels = tuple(sorted(set(raw.source.levels) | set(raw.target.levels)))
    values = aligned(raw, levels)
    counts = values.map(lambda v: level_counts(v, len(levels)))
    rows = len(values.source) + len(values.target)
    rare = (counts.source + counts.target) < max(RARE_ROWS, RARE_SHARE * rows)
    notes: tuple[Note, ...] = ()
    shown = levels
    if len(levels) > MANY_LEVELS and rare.sum() > 1:
        total = counts.source + counts.target
        notes = (pooling_note(name, rare, total, max(RARE_ROWS, RARE_SHARE * rows)),)
        levels, shown, lookup = pool(levels, rare, total)
        values = values.map(lambda v: relabel(v, lookup))
        counts = values.map(lambda v: level_counts(v, len(levels)))
    notes += one_sided_notes(name, levels, counts, values)
    notes += number_notes(name, shown)
    column = Column(name, "category", levels)
    unique = all(len(r.levels) == len(r.values) > 1 for r in raw)
    return EncodedColumn(column, values, "text", False, unique, notes)


def encode_ordered(name: str, raw: ByDomain[RawColumn]) -> EncodedColumn:
    """Ordered levels; where the two orders contradict each other the order is dropped."""
    first, second = (r.levels for r in raw)
    longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
    if shorter != tuple(level for level in longer if level in set(shorter)):
        text = f"Column '{name}' has different orders in the two tables: read as unordered."
        encoded = encode_text(name, raw.map(to_text))
        return replace(encoded, notes=(Note("warning", text), *encoded.notes))
    both = RawColumn("ordered", np.concatenate(list(aligned(raw, longer))), longer)
    used = only_observed(both)
    cut = len(raw.source.values)
    values = ByDomain(used.values[:cut], used.values[cut:])
    counts = values.map(lambda v: level_counts(v, len(used.levels)))
    column = Column(name, "ordinal", used.levels)
    notes = one_sided_notes(name, used.levels, counts, values)
    return EncodedColumn(column, values, "ordered", False, notes=notes)


def number_notes(name: str, levels: tuple[str, ...]) -> tuple[Note, ...]:
    """Text that is nearly all numbers: most often a missing value was written as a word."""
    words = [level for level in levels if not is_number(level)]
    if len(levels) < MOSTLY_NUMBERS or not 0 < len(words) <= len(levels) / MOSTLY_NUMBERS:
        return ()
    shown = ", ".join(f"'{word}'" for word in words[:3])
    text = f"Column '{name}' is text although nearly all its values are numbers; not so: {shown}."
    return (Note("warning", text),)


def is_number(text: str) -> bool:
    """Whether a text reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def level_counts(values: Array, levels: int) -> Array:
    """Rows per level."""
    seen = values[~np.isnan(values)].astype(np.int64)
    return np.bincount(seen, minlength=levels).astype(float)


def relabel(values: Array, lookup: Array) -> Array:
    """Codes through a lookup table, missing kept."""
    missing = np.isnan(values)
    return np.asarray(lookup[np.where(missing, len(lookup) - 1, values).astype(np.int64)])


def pool(
    levels: tuple[str, ...], rare: Mask, total: Array
) -> tuple[tuple[str, ...], tuple[str, ...], Array]:
    """Frequent levels and one pooled level at the end; what each stands for; old -> new codes."""
    kept = np.flatnonzero(~rare)
    name = OTHER
    while name in levels:
        name += "*"
    lookup = np.full(len(levels) + 1, float(len(kept)))
    lookup[kept] = np.arange(len(kept))
    lookup[-1] = np.nan
    frequent = tuple(levels[i] for i in kept)
    member = levels[int(np.argmax(np.where(rare, total, -1.0)))]
    return (*frequent, name), (*frequent, member), lookup


def pooling_note(name: str, rare: Mask, total: Array, limit: float) -> Note:
    """Says how many levels and rows were pooled."""
    text = (
        f"Column '{name}': {int(rare.sum()):,} of {len(rare):,} levels with fewer than "
        f"{limit:.0f} rows each ({total[rare].sum() / total.sum():.1%} of the rows) are pooled "
        f"into '{OTHER}'."
    )
    return Note("info", text)


def one_sided_notes(
    name: str, levels: tuple[str, ...], counts: ByDomain[Array], values: ByDomain[Array]
) -> tuple[Note, ...]:
    """Levels seen in one domain only: no overlap there."""
    notes = []
    for domain, other in (("source", "target"), ("target", "source")):
        here = counts.source if domain == "source" else counts.target
        there = counts.target if domain == "source" else counts.source
        alone = np.flatnonzero((here > 0) & (there == 0))
        if not len(alone) or not there.sum():
            continue
        rows = len(values.source if domain == "source" else values.target)
        share = here[alone].sum() / rows
        shown = ", ".join(f"'{levels[i]}'" for i in alone[np.argsort(-here[alone])][:3])
        more = f" and {len(alone) - 3} more" if len(alone) > 3 else ""
        plural = "levels" if len(alone) > 1 else "level"
        text = (
            f"Column '{name}': {plural} {shown}{more} ({here[alone].sum():,.0f} of {rows:,} "
            f"{domain} rows) not seen in {other}: no overlap there."
        )
        notes.append(Note("warning" if share >= 0.01 else "info", text))
    return tuple(notes)
