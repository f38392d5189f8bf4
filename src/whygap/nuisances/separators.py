"""Columns that give away which table a row is from, and what each looks like."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from whygap.data_checks import FEW_VALUES, auc_of_counts
from whygap.domains import Array, ByDomain, IntArray
from whygap.results.overlap import LIMITS, OTHER_CODING, Separator
from whygap.tables.design import Column, Design

# An AUC below which two columns look alike once units or origin are set right: less than a
# standard deviation apart
_ALIKE = 0.75
_NAMED = 5  # the reason names as many columns as a reader takes in
_YEARS = (1900, 2100)  # numbers that are no codes: tables of neighbouring years share some
_FEW_CODES = 5  # numbers up to here may be codes


def find_separators(design: Design) -> tuple[Separator, ...]:
    """The columns that separate the tables most, surest first."""
    found = [one for j in range(len(design.columns)) for one in _separator(design, j)]
    return tuple(sorted(found, key=lambda one: (one.level != "problem", -one.auc))[:_NAMED])


@dataclass(frozen=True, slots=True, eq=False)
class _Counted:
    """The distinct values of a column's rows, in order, and how often each stands there."""

    values: Array
    counts: IntArray

    @classmethod
    def of(cls, rows: Array) -> _Counted:
        """What is known; missing values are left out."""
        return cls(*np.unique(rows[~np.isnan(rows)], return_counts=True))

    @property
    def size(self) -> int:
        return int(self.counts.sum())

    def changed(self, values: Array) -> _Counted:
        """Other numbers in the same rows."""
        return replace(self, values=values)

    def quantile(self, level: float) -> float:
        """Of the rows, as numpy has it: between neighbours in proportion."""
        place = level * (self.size - 1)
        around = np.searchsorted(
            np.cumsum(self.counts), (math.floor(place), math.ceil(place)), side="right"
        )
        low, high = self.values[around]
        return float(low + (place % 1) * (high - low))

    def median(self) -> float:
        return self.quantile(0.5)

    def spread(self) -> float:
        return float(np.ptp(self.values))

    def is_whole(self) -> bool:
        return np.array_equal(self.values, np.round(self.values))


def _separator(design: Design, position: int) -> Iterator[Separator]:
    """The column, where it tells the tables apart or was coded differently."""
    column = design.columns[position]
    values = design.features.map(lambda x: x[:, position])
    known = values.map(_Counted.of)
    auc = _column_auc(values, known, column.kind)
    mishap, codes = _mishap(column, known, told=auc > LIMITS.tells)
    if mishap or auc > LIMITS.tells:
        looks_like = mishap or _difference(column, known)
        yield Separator(column.name, auc, looks_like, bool(mishap), codes)


def column_auc(values: ByDomain[Array], kind: str) -> float:
    """How well one column alone tells the tables apart, missing values included; 0.5 is not at all.

    Larger or smaller numbers tell, and so do those further from the source's median; of levels and
    of few numbers, which may be codes, each does.
    """
    return _column_auc(values, values.map(_Counted.of), kind)


def _column_auc(values: ByDomain[Array], known: ByDomain[_Counted], kind: str) -> float:
    missing = values.zip(known, lambda v, k: len(v) - k.size)
    shares = missing.zip(values, lambda m, v: m / len(v))
    by_missing = float(1 + abs(shares.source - shares.target)) / 2
    counts = _together(known)
    if any(missing):
        counts = np.column_stack([counts, list(missing)])
    if kind != "category" and counts.shape[1] > FEW_VALUES:
        return max(by_missing, _auc(known)) if all(k.size for k in known) else by_missing
    return max(auc_of_counts(counts[0], counts[1], unordered=True), by_missing)


def _together(known: ByDomain[_Counted]) -> Array:
    """How often each value of either table stands in the source and in the target."""
    _, place = np.unique(np.concatenate([k.values for k in known]), return_inverse=True)
    both = place[: len(known.source.values)], place[len(known.source.values) :]
    count = int(place.max(initial=-1)) + 1
    return np.stack([np.bincount(p, k.counts, count) for p, k in zip(both, known, strict=True)])


def _auc(known: ByDomain[_Counted]) -> float:
    """How well numbers tell the tables apart by size, or by how far out they lie."""
    middle = known.source.median()
    further = known.map(lambda k: k.changed(np.abs(k.values - middle)))
    looks = (_together(known), _together(further))
    return max(auc_of_counts(zeros, ones, unordered=False) for zeros, ones in looks)


def _difference(column: Column, known: ByDomain[_Counted]) -> str:
    """What tells the tables apart, where it may well be so."""
    for domain, rows in (("source", known.source), ("target", known.target)):
        if not rows.size:
            return f"empty in the {domain}"
        if rows.spread() == 0:
            return f"constant in the {domain}"
    return "other levels" if column.levels else "other values"


def _mishap(column: Column, known: ByDomain[_Counted], told: bool) -> tuple[str, str]:
    """Say what a difference in recording looks like, and which codes differ; "" for none."""
    if not all(k.size and k.spread() for k in known):
        return "", ""
    if np.array_equal(known.source.values, known.target.values):
        return "", ""
    looks: tuple[tuple[str, _Look], ...] = (
        ("", _row_numbers),
        (OTHER_CODING, _shifted_codes),
        (OTHER_CODING, _own_codes),
    )
    if column.levels:
        spelling = (OTHER_CODING, lambda k: _other_spelling(column, k))
        looks = (spelling, ("", lambda k: _identifier(k) * told))
    elif told:
        coding = ((OTHER_CODING, _shifted_codes), (OTHER_CODING, _coding))
        looks = (("", _row_numbers), ("", _counter), *coding, ("", _units), ("", _origin))
    for kind, look in looks:
        if text := look(known):
            return (kind, text) if kind else (text, "")
    return "", ""


def _other_spelling(column: Column, known: ByDomain[_Counted]) -> str:
    """Levels that are alike but for spaces, capitals and '.0', many of them in one table only."""
    used = known.map(lambda k: {column.levels[int(code)] for code in k.values})
    plain = used.map(
        lambda levels: {one.strip().lower().removesuffix(".0"): one for one in sorted(levels)}
    )
    if min(_alone(known), _alone(ByDomain(known.target, known.source))) < LIMITS.missing:
        return ""
    for key in sorted(set(plain.source) & set(plain.target)):
        one, other = plain.source[key], plain.target[key]
        if one != other and one not in used.target:
            return f"'{one}' in the source, '{other}' in the target"
    return ""


def _alone(known: ByDomain[_Counted]) -> float:
    """Share of the source rows whose value no target row has."""
    here, there = known
    return float(here.counts[~np.isin(here.values, there.values)].sum() / here.size)


def _identifier(known: ByDomain[_Counted]) -> str:
    own = all(len(k.values) > 0.9 * k.size for k in known)
    return "an identifier: nearly every row has its own" if own else ""


def _counter(known: ByDomain[_Counted]) -> str:
    """Nearly every row has its own number, and the tables do not interleave."""
    distinct = all(len(k.values) > 0.9 * k.size for k in known)
    source, target = known.map(lambda k: k.values)
    apart = source[-1] < target[0] or target[-1] < source[0]
    whole = all(k.is_whole() for k in known)
    return "a date, a counter or an identifier" if distinct and whole and apart else ""


def _row_numbers(known: ByDomain[_Counted]) -> str:
    """A counter in one table only: each row has its own of nearly as many whole numbers as rows."""
    numbered = known.map(lambda k: len(k.values) == k.size > k.spread() / 1.1 and k.is_whole())
    if numbered.source == numbered.target:
        return ""
    return f"a counter: the rows of the {'source' if numbered.source else 'target'} are numbered"


def _shifted_codes(known: ByDomain[_Counted]) -> str:
    """0 and 1 beside 1 and 2: the same codes, counted from another number."""
    source, target = known.map(lambda k: k.values)
    if len(source) > _FEW_CODES or {float(source[0]), float(target[0])} != {0.0, 1.0}:
        return ""
    return _coding(known) if np.array_equal(source - source[0], target - target[0]) else ""


def _own_codes(known: ByDomain[_Counted]) -> str:
    """Codes of which many stand in one table only, on either side (0 and 1 beside 0 and 100)."""
    if all(_YEARS[0] <= k.values[0] and k.values[-1] <= _YEARS[1] for k in known):
        return ""
    alone = _alone(known), _alone(ByDomain(known.target, known.source))
    return _coding(known) if min(alone) >= LIMITS.missing else ""


def _coding(known: ByDomain[_Counted]) -> str:
    """Few values each, the same number of them, but other ones (0 and 1 beside 1 and 2)."""
    source, target = known.map(lambda k: k.values)
    if len(source) != len(target) or len(source) > _FEW_CODES:
        return ""
    one, other = (" and ".join(f"{x:g}" for x in values) for values in (source, target))
    return f"{one} in the source, {other} in the target"


def _units(known: ByDomain[_Counted]) -> str:
    """Alike once the source is multiplied, by the ratio of medians or of spreads that fits best."""
    medians = known.map(_Counted.median)
    spreads = known.map(lambda k: k.quantile(0.75) - k.quantile(0.25))
    found = []
    for words, size in (("median is", medians), ("spread is", spreads)):
        if size.source == 0 or size.target / size.source <= 0:
            continue
        ratio = size.target / size.source
        often = f"{_times(ratio)} times" if ratio > 1 else f"1/{_times(1 / ratio)} of"
        text = f"other units: the target's {words} {often} the source's"
        scaled = known.source.changed(known.source.values * ratio)
        found.append((_auc(ByDomain(scaled, known.target)), text))
    apart, text = min(found, default=(1.0, ""))
    return text if apart <= _ALIKE else ""


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"


def _origin(known: ByDomain[_Counted]) -> str:
    shift = known.target.median() - known.source.median()
    moved = known.source.changed(known.source.values + shift)
    if _auc(ByDomain(moved, known.target)) > _ALIKE:
        return ""
    return f"another origin: the target's values lie {shift:+,.3g} from the source's"


_Look = Callable[[ByDomain[_Counted]], str]
