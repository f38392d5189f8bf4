"""Columns that give away which table a row is from, and what each looks like."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.results.overlap import LIMITS, Separator
from whygap.tables.design import Column, Design
from whygap.tables.hints import FEW_VALUES, best_auc, places

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


def _separator(design: Design, position: int) -> Iterator[Separator]:
    """The column, where it tells the tables apart or was coded differently."""
    column = design.columns[position]
    values = design.features.map(lambda x: x[:, position])
    auc = column_auc(values, column.kind)
    mishap = _mishap(column, values, told=auc > LIMITS.tells)
    if mishap or auc > LIMITS.tells:
        yield Separator(column.name, auc, mishap or _difference(column, values), bool(mishap))


def column_auc(values: ByDomain[Array], kind: str) -> float:
    """How well one column alone tells the tables apart, missing values included; 0.5 is not at all.

    Larger or smaller numbers tell, and so do those further from the source's median; of levels and
    of few numbers, which may be codes, each does.
    """
    missing = values.map(lambda v: float(np.isnan(v).mean()))
    by_missing = (1 + abs(missing.source - missing.target)) / 2
    place = places(np.concatenate(list(values)))
    if kind != "category" and place.max() >= FEW_VALUES:
        known = values.map(lambda v: v[~np.isnan(v)])
        return max(by_missing, _auc(known)) if all(map(len, known)) else by_missing
    domain = np.repeat([0.0, 1.0], [len(v) for v in values])
    return max(best_auc(place, domain, unordered=True), by_missing)


def _auc(known: ByDomain[Array]) -> float:
    """How well numbers tell the tables apart by size, or by how far out they lie."""
    middle = float(np.median(known.source))
    domain = np.repeat([0.0, 1.0], [len(v) for v in known])
    both = np.concatenate(list(known))
    looks = (both, np.abs(both - middle))
    return max(best_auc(places(look), domain, unordered=False) for look in looks)


def _difference(column: Column, values: ByDomain[Array]) -> str:
    """What tells the tables apart, where it may well be so."""
    known = values.map(lambda v: v[~np.isnan(v)])
    for domain, rows in (("source", known.source), ("target", known.target)):
        if not len(rows):
            return f"empty in the {domain}"
        if np.ptp(rows) == 0:
            return f"constant in the {domain}"
    return "other levels" if column.levels else "other values"


def _mishap(column: Column, values: ByDomain[Array], told: bool) -> str:
    """What it looks like when the tables were recorded differently; nothing when they were not."""
    known = values.map(lambda v: v[~np.isnan(v)])
    if not all(len(v) and np.ptp(v) for v in known):
        return ""
    if np.array_equal(*known.map(np.unique)):
        return ""
    looks: tuple[Callable[[ByDomain[Array]], str], ...] = (_row_numbers, _shifted_codes, _own_codes)
    if column.levels:
        looks = (lambda v: _other_spelling(column, v), lambda v: _identifier(v) * told)
    elif told:
        looks = (_row_numbers, _counter, _shifted_codes, _coding, _units, _origin)
    return next((text for look in looks if (text := look(known))), "")


def _other_spelling(column: Column, known: ByDomain[Array]) -> str:
    """Levels that are alike but for spaces, capitals and '.0', many of them in one table only."""
    used = known.map(lambda v: {column.levels[int(code)] for code in np.unique(v)})
    plain = used.map(
        lambda levels: {one.strip().lower().removesuffix(".0"): one for one in sorted(levels)}
    )
    if min(_alone(known), _alone(ByDomain(known.target, known.source))) < LIMITS.missing:
        return ""
    for key in sorted(set(plain.source) & set(plain.target)):
        one, other = plain.source[key], plain.target[key]
        if one != other and one not in used.target:
            return f"other coding: '{one}' in the source, '{other}' in the target"
    return ""


def _alone(known: ByDomain[Array]) -> float:
    """Share of the source rows whose value no target row has."""
    return float(np.mean(~np.isin(known.source, known.target)))


def _identifier(known: ByDomain[Array]) -> str:
    own = all(len(np.unique(rows)) > 0.9 * len(rows) for rows in known)
    return "an identifier: nearly every row has its own" if own else ""


def _counter(known: ByDomain[Array]) -> str:
    """Nearly every row has its own number, and the tables do not interleave."""
    distinct = all(len(np.unique(v)) > 0.9 * len(v) for v in known)
    whole = all(np.array_equal(v, np.round(v)) for v in known)
    apart = known.source.max() < known.target.min() or known.target.max() < known.source.min()
    return "a date, a counter or an identifier" if distinct and whole and apart else ""


def _row_numbers(known: ByDomain[Array]) -> str:
    """A counter in one table only: each row has its own of nearly as many whole numbers as rows."""
    numbered = known.map(
        lambda v: len(np.unique(v)) == len(v) > np.ptp(v) / 1.1 and np.array_equal(v, np.round(v))
    )
    if numbered.source == numbered.target:
        return ""
    return f"a counter: the rows of the {'source' if numbered.source else 'target'} are numbered"


def _shifted_codes(known: ByDomain[Array]) -> str:
    """0 and 1 beside 1 and 2: the same codes, counted from another number."""
    values = known.map(np.unique)
    first = values.map(lambda v: float(v[0]))
    if len(values.source) > _FEW_CODES or {first.source, first.target} != {0.0, 1.0}:
        return ""
    shifted = values.zip(first, lambda v, start: v - start)
    return _coding(known) if np.array_equal(shifted.source, shifted.target) else ""


def _own_codes(known: ByDomain[Array]) -> str:
    """Codes of which many stand in one table only, on either side (0 and 1 beside 0 and 100)."""
    if all(np.all((v >= _YEARS[0]) & (v <= _YEARS[1])) for v in known):
        return ""
    alone = _alone(known), _alone(ByDomain(known.target, known.source))
    return _coding(known) if min(alone) >= LIMITS.missing else ""


def _coding(known: ByDomain[Array]) -> str:
    """Few values each, the same number of them, but other ones (0 and 1 beside 1 and 2)."""
    values = known.map(np.unique)
    if len(values.source) != len(values.target) or len(values.source) > _FEW_CODES:
        return ""
    texts = values.map(lambda v: " and ".join(f"{x:g}" for x in v))
    return f"other coding: {texts.source} in the source, {texts.target} in the target"


def _units(known: ByDomain[Array]) -> str:
    """Alike once the source is multiplied, by the ratio of medians or of spreads that fits best."""
    medians = known.map(lambda v: float(np.median(v)))
    spreads = known.map(lambda v: float(np.subtract(*np.quantile(v, (0.75, 0.25)))))
    found = []
    for words, size in (("median is", medians), ("spread is", spreads)):
        if size.source == 0 or size.target / size.source <= 0:
            continue
        ratio = size.target / size.source
        often = f"{_times(ratio)} times" if ratio > 1 else f"1/{_times(1 / ratio)} of"
        text = f"other units: the target's {words} {often} the source's"
        found.append((_auc(ByDomain(known.source * ratio, known.target)), text))
    apart, text = min(found, default=(1.0, ""))
    return text if apart <= _ALIKE else ""


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"


def _origin(known: ByDomain[Array]) -> str:
    shift = float(np.median(known.target) - np.median(known.source))
    if _auc(ByDomain(known.source + shift, known.target)) > _ALIKE:
        return ""
    return f"another origin: the target's values lie {shift:+,.3g} from the source's"
