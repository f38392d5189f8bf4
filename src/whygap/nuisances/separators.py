"""Columns that give away which table a row is from, and what each looks like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats

from whygap.domains import Array, ByDomain
from whygap.tables.design import Column, Design

_TELLS = 0.95  # an AUC from which one column alone tells the tables apart
_ALIKE = 0.75  # an AUC below which two columns look alike once units or origin are set right
_NAMED = 5  # the reason names as many columns as a reader takes in


@dataclass(frozen=True, slots=True)
class Separator:
    """A column, how well it tells the tables apart (0.5 to 1), and what it looks like."""

    name: str
    auc: float
    looks_like: str

    def __str__(self) -> str:
        return f"'{self.name}' ({self.looks_like})"


def find_separators(design: Design) -> tuple[Separator, ...]:
    """The columns that separate the tables most, surest first."""
    found = []
    for j, column in enumerate(design.columns):
        values = design.features.map(lambda x, j=j: x[:, j])  # type: ignore[misc]
        auc = _category_auc(values) if column.kind == "category" else _auc(values)
        if auc > _TELLS:
            found.append(Separator(column.name, auc, _looks_like(column, values)))
    return tuple(sorted(found, key=lambda one: -one.auc)[:_NAMED])


def _auc(values: ByDomain[Array]) -> float:
    """How well the numbers tell the tables apart, larger or smaller; missing ones tell, too."""
    known = values.map(lambda v: v[~np.isnan(v)])
    share = [np.isnan(v).mean() for v in values]
    missing = (1 + abs(float(share[0] - share[1]))) / 2
    if min(map(len, known)) == 0:
        return float(missing)
    ranks = stats.rankdata(np.concatenate(list(known)))
    n_0, n_1 = map(len, known)
    area = (ranks[n_0:].sum() - n_1 * (n_1 + 1) / 2) / (n_0 * n_1)
    return float(max(area, 1 - area, missing))


def _category_auc(values: ByDomain[Array]) -> float:
    """The same for levels: the AUC of the share of target rows among each level's rows."""
    codes = values.map(lambda v: np.nan_to_num(v, nan=-1).astype(np.int64) + 1)
    size = int(max(c.max() for c in codes)) + 1
    counts = codes.map(lambda c: np.bincount(c, minlength=size) / len(c))
    chance = counts.target / np.maximum(counts.source + counts.target, 1e-12)
    return _auc(codes.map(lambda c: chance[c]))


def _looks_like(column: Column, values: ByDomain[Array]) -> str:
    known = values.map(lambda v: v[~np.isnan(v)])
    for domain, rows in (("source", known.source), ("target", known.target)):
        if not len(rows):
            return f"empty in the {domain}"
        if np.ptp(rows) == 0:
            return f"constant in the {domain}"
    if column.levels:
        return _other_levels(column, known)
    looks: tuple[Callable[[ByDomain[Array]], str], ...] = (_counter, _coding, _units, _origin)
    return next((text for look in looks if (text := look(known))), "other values")


def _other_levels(column: Column, known: ByDomain[Array]) -> str:
    used = known.map(lambda v: {column.levels[int(code)] for code in np.unique(v)})
    plain = used.map(
        lambda levels: {one.strip().lower().removesuffix(".0"): one for one in sorted(levels)}
    )
    for key in sorted(set(plain.source) & set(plain.target)):
        one, other = plain.source[key], plain.target[key]
        if one != other and one not in used.target:
            return f"other coding: '{one}' in the source, '{other}' in the target"
    if all(len(levels) > 0.9 * len(rows) for levels, rows in zip(used, known, strict=True)):
        return "an identifier: nearly every row has its own"
    return "other levels"


def _counter(known: ByDomain[Array]) -> str:
    """Nearly every row has its own number, and the tables do not interleave."""
    distinct = all(len(np.unique(v)) > 0.9 * len(v) for v in known)
    whole = all(np.array_equal(v, np.round(v)) for v in known)
    apart = known.source.max() < known.target.min() or known.target.max() < known.source.min()
    return "a date, a counter or an identifier" if distinct and whole and apart else ""


def _coding(known: ByDomain[Array]) -> str:
    """Few values each, the same number of them, but other ones (0 and 1 beside 1 and 2)."""
    values = known.map(np.unique)
    if len(values.source) != len(values.target) or len(values.source) > 5:
        return ""
    texts = values.map(lambda v: " and ".join(f"{x:g}" for x in v))
    return f"other coding: {texts.source} in the source, {texts.target} in the target"


def _units(known: ByDomain[Array]) -> str:
    medians = known.map(lambda v: float(np.median(v)))
    if medians.source == 0 or medians.target / medians.source <= 0:
        return ""
    ratio = medians.target / medians.source
    if _auc(ByDomain(known.source * ratio, known.target)) > _ALIKE:
        return ""
    often = f"{ratio:,.3g} times" if ratio > 1 else f"1/{1 / ratio:,.3g} of"
    return f"other units: the target's median is {often} the source's"


def _origin(known: ByDomain[Array]) -> str:
    shift = float(np.median(known.target) - np.median(known.source))
    if _auc(ByDomain(known.source + shift, known.target)) > _ALIKE:
        return ""
    return f"another origin: the target's values lie {shift:+,.3g} from the source's"
