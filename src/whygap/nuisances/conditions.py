"""Conditions that rules are made of: a level, a side of a cut, missing; the score has them, too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, starmap

import numpy as np
from numpy.typing import NDArray

from whygap.domains import DOMAINS, Array, ByDomain
from whygap.nuisances.cross_fit import CrossFit
from whygap.nuisances.cuts import cuts_near, in_words, shortest_between
from whygap.results import Condition
from whygap.tables.design import MODEL_LABEL, MODEL_SCORE, POOLED_LEVEL, Column, Design

Mask = NDArray[np.bool_]
_CUTS = tuple(k / 6 for k in range(1, 6))  # cuts of a number: sextiles, as its groups have them


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """Which rows fulfil a condition, a bit each: of a million rows there are hundreds of these."""

    bits: NDArray[np.uint8]
    count: int

    @classmethod
    def of(cls, mask: Mask) -> Packed:
        """The same rows."""
        return cls(np.packbits(mask), len(mask))

    def __getitem__(self, rows: slice | Mask) -> Mask:
        """Truth values of some rows."""
        if not isinstance(rows, slice):
            return self[:][rows]
        start, stop, _ = rows.indices(self.count)
        bits, skipped = self.bits[start // 8 : -(-stop // 8)], start % 8
        return np.unpackbits(bits, count=skipped + stop - start)[skipped:].view(np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class Conditions:
    """Conditions, and the rows of each."""

    conditions: list[Condition]
    masks: ByDomain[list[Packed]]

    def rows_of(self, rule: tuple[int, ...]) -> ByDomain[Mask]:
        """Rows that fulfil all conditions of a rule."""
        return self.masks.map(lambda m: np.logical_and.reduce([m[k][:] for k in rule]))


@dataclass(frozen=True, slots=True, eq=False)
class _One:
    condition: Condition
    rows: ByDomain[Mask]


def conditions_of(crossfit: CrossFit, least: float) -> Conditions:
    """Conditions on each column and on the score; this share of target rows in and out of each."""
    design = crossfit.design
    score = design.prediction
    if design.task == "multiclass":
        said = _on_column(Column(MODEL_LABEL, "category", design.classes), score)
    else:
        score_cuts = _score_cuts(np.concatenate(list(score)), design)
        said = _on_cuts(Column(MODEL_SCORE, "numeric"), score, score_cuts)
    columns = ((design.columns[j], crossfit.column(j)) for j in crossfit.all_columns())
    found = chain.from_iterable(starmap(_on_column, columns))  # one column at a time
    conditions: list[Condition] = []
    masks: ByDomain[list[Packed]] = ByDomain([], [])
    for one in chain(found, said):
        if least <= one.rows.target.mean() <= 1 - least:
            conditions.append(one.condition)
            for domain in DOMAINS:
                masks[domain].append(Packed.of(one.rows[domain]))
    return Conditions(conditions, masks)


def _on_column(column: Column, values: ByDomain[Array]) -> Iterator[_One]:
    """Levels (never the pooled one), two values, or sides of cuts; and missing."""
    yield _One(Condition(column.name, "missing"), values.map(np.isnan))
    both = np.concatenate(list(values))
    distinct = np.unique(both[~np.isnan(both)])
    if column.levels or len(distinct) == 2:
        for code in distinct:
            level = column.levels[int(code)] if column.levels else in_words(column, code)
            if not (column.levels and level.startswith(POOLED_LEVEL)):
                rows = ByDomain(*(v == code for v in values))
                yield _One(Condition(column.name, "is", level=level), rows)
        return
    yield from _on_cuts(column, values, cuts_near(both, _CUTS))


def _score_cuts(score: Array, design: Design) -> list[float]:
    """Quartiles, and the cut between the model's two labels."""
    cuts = set(cuts_near(score, (0.25, 0.5, 0.75)))
    zero, one = score[score < design.threshold], score[score >= design.threshold]
    if design.task == "binary" and len(zero) and len(one):
        between = shortest_between(zero.max(), one.min())
        same = [cut for cut in cuts if zero.max() <= cut < one.min()]
        cuts = cuts.difference(same) | {between}
    return sorted(cuts)


def _on_cuts(column: Column, values: ByDomain[Array], cuts: Iterable[float]) -> Iterator[_One]:
    for cut in cuts:
        words = in_words(column, cut) if column.meaning else ""
        above = ByDomain(*(v > cut for v in values))
        at_most = ByDomain(*(v <= cut for v in values))
        yield _One(Condition(column.name, "above", words, cut), above)
        yield _One(Condition(column.name, "at most", words, cut), at_most)
